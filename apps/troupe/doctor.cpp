// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <algorithm>
#include <apps/cli/command_line.hpp>
#include <apps/cli/output.hpp>
#include <apps/troupe/doctor.hpp>
#include <chrono>
#include <cstdio>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/runtime/runtime.hpp>

namespace troupe::apps {
namespace {

using namespace std::chrono_literals;

constexpr option options[] = {
    {"library", "", "check only this library, and list its operations; the exit code then says whether it can be used"},
    {"--engines", "FOLDER", "search this folder before the installation's own, as device_options::engine_folders does"},
    {"--json", "", "one JSON document, for programs"}};

constexpr grammar arguments_of_doctor{
    .command = "troupe doctor",
    .options = options,
    .words = 1,
    .usage = "[library] [option...]",
    .about =
        R"(Reports what Troupe can do on this machine, what is missing, and how to get it. Opens a device and sends it a request,
examines the machine, and has a child process load each engine, so that no vendor library can prevent this report. If blas
is usable, measures a matrix product and its share of the processor's peak.
)",
    .more = R"(  troupe doctor                    can I use Troupe here?
  troupe doctor blas               which operations does blas have, and for which element types?
  troupe doctor --json | jq .engines

TROUPE_RUNTIME names another folder with the worker and its engines, as it does for programs.

Exit code: 0 the host engine (or the library) serves; 1 it does not, or something installed is broken, as the last line
says; 2 usage error.
)"};

constexpr time_span time_limit = 10s;

double seconds_since(std::int64_t start_ns) { return static_cast<double>(now_ns() - start_ns) / 1e9; }

service_report try_device(const doctor_settings& settings, const installation& here) {
  service_report s;
  runtime rt;
  const std::int64_t opened = now_ns();
  const device gpu = rt.open_device({.engine = "host",
                                     .compile = false,  // because a diagnosis must not fill the cache
                                     .start_timeout = time_limit,
                                     .close_timeout = time_limit,
                                     .runtime_folder = here.option,
                                     .engine_folders = settings.engine_folders});
  const auto fail = [&](const error& e) {
    s.why = e.text();
    return s;
  };
  if (auto ready = gpu.started().get(); !ready) return fail(ready.error());
  s.ready_s = seconds_since(opened);
  s.memory_bytes = gpu.statistics().memory.total_bytes;
  // In the first round trip, nothing is cached; the median of several is typical for a program.
  std::vector<double> round_trips;
  for (std::uint64_t i = 0; i < 101; ++i) {
    const std::int64_t asked = now_ns();
    auto answer = gpu.ping(i).get();
    if (!answer) return fail(answer.error());
    if (*answer != i) return s.why = cat("the worker answered ", *answer, " to a ping with ", i), s;
    round_trips.push_back(seconds_since(asked));
  }
  std::nth_element(round_trips.begin(), round_trips.begin() + 50, round_trips.end());
  s.round_trip_s = round_trips[50];
  const std::int64_t closing = now_ns();
  if (auto closed = gpu.close().get(); !closed) return fail(closed.error());
  s.close_s = seconds_since(closing);
  s.serves = true;
  return s;
}

gpu_report examine_gpus(const installation& here) {
  gpu_report g{.machine = look_at_gpus(), .driver = {}, .built = false, .findings = {}};
  g.driver = read_driver(ask_worker(here.worker, {{"--describe-driver"}}, time_limit).front());
  g.built = ::access((here.engines + "/platform.cuda.so").c_str(), F_OK) == 0;
  g.findings = findings_of(g);
  return g;
}

// Returns the engine that runtime::open_device chooses, from what the report already contains.
engine_choice default_engine(const gpu_report& g) {
  return choose_engine(0, {.environment = engine_of_environment(),
                           .has_gpu_engines = g.built,
                           .driver_is_loaded = true,
                           .ask_driver = [&]() -> result<protocol::driver_description> {
                             if (!g.driver.died.empty()) return error(reaction::fatal, "doctor", g.driver.died);
                             return g.driver;
                           }});
}

std::string why_not(const engine_report& e) {
  switch (e.is) {
    case engine_report::condition::needs_library:
    case engine_report::condition::outdated_library:
      return e.package.empty() ? e.why : e.why + ". To get it: " + install_command(e.package);
    default:
      return e.why;
  }
}

std::string no_such_library(const doctor_report& r, const std::vector<engine_report>& all) {
  std::vector<std::string_view> names;
  for (const engine_report& e : all)
    if (std::find(names.begin(), names.end(), e.file.library) == names.end()) names.push_back(e.file.library);
  for (const optional_engine& o : r.left_out)
    if (r.library == o.library) return std::string(o.name) + " is " + o.text();
  std::string text = "there is no engine of a library \"" + r.library + "\" here; ";
  if (const std::string_view near = nearest(r.library, names); !near.empty())
    return text + "did you mean " + std::string(near) + "?";
  text += "there are:";
  for (const std::string_view name : names) text += " " + std::string(name);
  return text + (names.empty() ? " none" : "");
}

std::string reason_of(const doctor_report& r, const std::vector<engine_report>& all) {
  if (!r.service.serves) return "the host engine does not serve: " + r.service.why;
  if (!r.library.empty()) {
    if (r.engines.empty()) return no_such_library(r, all);
    for (const engine_report& e : r.engines)
      if (e.is == engine_report::condition::serves) return {};
    return r.library + " does not serve: " + why_not(r.engines.front());
  }
  for (const engine_report& e : r.engines)
    if (e.is == engine_report::condition::broken) return e.file.path + " is broken: " + e.why;
  return {};
}

}  // namespace

std::string install_command(const std::string& package) {
  // If the text has several words, it is not a package of a distribution.
  if (package.find(' ') != package.npos) return "install " + package;
  if (::access("/usr/bin/apt-get", X_OK) != 0) return "install what Debian calls " + package;
  return (::geteuid() == 0 ? "apt-get install " : "sudo apt-get install ") + package;
}

std::string optional_engine::text() const {
  return "left out of this build, because its vendor library was missing. To get it: " + install_command(package) +
         ", then build Troupe again";
}

std::vector<optional_engine> left_out(const std::vector<engine_report>& engines) {
  // The optional engines, as the libraries declare them in their CMakeLists.txt: see troupe_add_library_actor.
  static constexpr optional_engine optional[] = {
#include "optional_engines.inc"
  };
  const bool with_cuda =
      std::any_of(engines.begin(), engines.end(), [](const engine_report& e) { return e.file.backend == "cuda"; });
  std::vector<optional_engine> out;
  for (const optional_engine& o : optional) {
    if (!with_cuda && std::string_view(o.name).ends_with(".cuda")) continue;
    const auto is_it = [&](const engine_report& e) { return e.file.library + "." + e.file.backend == o.name; };
    if (!engines.empty() && std::none_of(engines.begin(), engines.end(), is_it)) out.push_back(o);
  }
  return out;
}

doctor_report examine(const doctor_settings& settings) {
  const std::int64_t start = now_ns();
  doctor_report r;
  r.here = installation::of_this_program();
  r.library = settings.library;
  r.machine = look_at_machine();
  r.confinement = confinement_support::of_this_system();
  r.gpu = examine_gpus(r.here);
  r.opens = default_engine(r.gpu);
  r.service = try_device(settings, r.here);
  std::vector<std::string> folders = settings.engine_folders;
  folders.push_back(r.here.engines);
  std::vector<engine_report> all = examine(r.here.worker, engine_files(folders), time_limit);
  for (const engine_report& e : all)
    if (r.library.empty() || e.file.library == r.library) r.engines.push_back(e);
  r.left_out = left_out(all);
  for (const engine_report& e : r.engines)
    if (r.service.serves && e.file.library == "blas" && e.file.backend == "host" &&
        e.is == engine_report::condition::serves)
      r.speed = measure_speed(r.here, settings.engine_folders, e);
  r.reason = reason_of(r, all);
  r.seconds = seconds_since(start);
  return r;
}

int doctor_command(std::span<const char* const> arguments) {
  const auto c = command_line::parse(arguments_of_doctor, arguments);
  if (!c) return std::fprintf(stderr, "%s\n", c.error().text().c_str()), 2;
  if (c->has("--help")) return print_help(arguments_of_doctor, c->has("--json"));
  doctor_settings settings{.library = c->words().empty() ? std::string() : std::string(c->words().front()),
                           .engine_folders = c->values("--engines")};
  for (const std::string& folder : settings.engine_folders)
    if (::access(folder.c_str(), R_OK | X_OK) != 0)
      return std::fprintf(stderr, "troupe doctor: --engines %s: there is no such folder, or it cannot be read\n",
                          folder.c_str()),
             2;
  const doctor_report r = examine(settings);
  std::fputs((c->has("--json") ? doctor_json(r) : doctor_text(r, terminal::of(stdout))).c_str(), stdout);
  return r.reason.empty() ? 0 : 1;
}

}  // namespace troupe::apps
