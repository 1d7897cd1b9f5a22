// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Runs a small service under load, and breaks it meanwhile.
#include <algorithm>
#include <apps/cli/command_line.hpp>
#include <apps/cli/installation.hpp>
#include <apps/cli/output.hpp>
#include <apps/demo/faults.hpp>
#include <apps/demo/picture/plot.hpp>
#include <apps/demo/show.hpp>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>

namespace {

using namespace troupe;
using apps::terminal;

constexpr apps::option options[] = {
    {"--device", "D",
     "where the service computes: host, or a GPU, such as cuda:0; by default a GPU if there is one, otherwise host"},
    {"--seconds", "N", "how long clients ask: {}", {0.5, 600, 10}},
    {"--clients",
     "N",
     "clients that wait for each answer before they ask again: {}. A quarter are blocking threads, the others "
     "coroutines",
     {1, 1000, 32}},
    {"--rate",
     "N",
     "questions per second from an additional client that does not wait for answers: {}",
     {0, 100'000, 1000}},
    {"--faults",
     "N",
     "number of times that the worker is broken meanwhile, each time in another way: {}",
     {0, 1000, 4}},
    {"--plot", "FILE", "file for the picture: troupe-demo.svg by default, none with --json"},
    {"--json", "", "prints only one JSON document, at the end"}};

constexpr apps::grammar arguments_of_demo{
    .command = "troupe demo",
    .options = options,
    .about =
        R"(Runs a small service on the host engine or on a GPU. An actor collects the questions of many clients into batches, which a
neural network answers: matrix products by blas, and kernels in CUDA C++ compiled for this processor or GPU. Clients block,
await, or send at random moments regardless of answers. Meanwhile the worker is killed, crashes and hangs. Every answer is
compared with a plain computation in double precision. Ends with a table, a picture (SVG), and two more demonstrations of
failure. The host engine needs OpenBLAS and a C++ compiler; a GPU needs its engines, which troupe doctor lists.
)",
    .more = R"(  troupe demo --seconds 30 --clients 200 --plot busy.svg
  troupe demo --seconds 3 --json | jq .all
  troupe demo --device cuda:0

Rates count the answers that arrived while clients asked. If the service is overloaded, the rest arrives later, which is
reported.

Exit code: 0 all answers were right and all faults were handled; 1 otherwise, or the device did not start; 2 usage error.
)"};

struct settings {
  demo::load load;
  apps::named_device device;
  std::string plot;  // empty: no picture
  bool json = false, help = false;
};

result<settings> parse(std::span<const char* const> arguments) {
  const auto c = TROUPE_TRY(apps::command_line::parse(arguments_of_demo, arguments));
  settings s;
  s.json = c.has("--json");
  s.help = c.has("--help");
  if (s.help) return s;
  const auto seconds = c.number("--seconds"), rate = c.number("--rate");
  for (const auto* given : {&seconds, &rate})
    if (!*given) return given->error();
  const auto number = c.count("--clients"), faults = c.count("--faults");
  for (const auto* given : {&number, &faults})
    if (!*given) return given->error();
  const int all = *number;
  s.load = {.seconds = *seconds,
            .blocking = (all + 3) / 4,
            .coroutines = all - (all + 3) / 4,
            .open_loop_per_s = *rate,
            .faults = *faults};
  s.device = c.has("--device") ? TROUPE_TRY(c.device("--device")) : apps::named_device{.engine = "auto"};
  s.plot = c.value("--plot").value_or(s.json ? "" : "troupe-demo.svg");
  return s;
}

void say_what_is_missing(const error& why, const device_statistics& on) {
  std::fprintf(stderr, "troupe demo: the device did not start: %s\n", why.text().c_str());
  if (on.engine == "host")
    std::fprintf(stderr,
                 "It needs the engines of blas and jit. If Troupe was built without OpenBLAS, on Debian or Ubuntu:\n"
                 "  sudo apt-get install libopenblas-pthread-dev, and build Troupe again\n");
  else
    std::fprintf(stderr, "On %s it needs the driver, and the engines of blas and jit for it.\n", on.name.c_str());
  std::fprintf(stderr, "troupe doctor says what else is missing.\n");
}

void say_what_did_not_compile(const error& why, const device_statistics& on) {
  std::fprintf(stderr, "troupe demo: the kernels could not be compiled: %s\n", why.text().c_str());
  if (why.reaction() == reaction::unsupported && on.engine == "host")
    std::fprintf(stderr,
                 "They are CUDA C++, which the host engine compiles with the system's compiler. On Debian or Ubuntu:\n"
                 "  sudo apt-get install g++\n");
}

std::string compiled_text(const kernel::build_summary& s, const device_statistics& on, const terminal& t) {
  const bool cached = s.source == kernel::image_source::disk;
  return cat(s.kernels, " kernels of CUDA C++ for this ", on.engine == "host" ? "processor" : "GPU", ", ",
             cached ? "from the cache on disk in " : "compiled in ",
             apps::time_text(t, static_cast<double>(s.duration_ns) / 1e9));
}

result<void> write_plot(const std::string& file, const demo::run_record& run) {
  std::ofstream out(file);
  out << demo::plot(run);
  out.close();
  if (out) return {};
  return error(reaction::fatal, "demo", "cannot write the picture to " + file + ": " + std::strerror(errno));
}

std::string whole_path(const std::string& file) {
  char path[PATH_MAX];
  return ::realpath(file.c_str(), path) == nullptr ? file : path;
}

// Writes text for a person, or nothing if the output is JSON.
class speaker {
 public:
  explicit speaker(bool silent) noexcept : t_(terminal::of(stdout)), silent_(silent) {}
  const terminal& how() const noexcept { return t_; }
  bool silent() const noexcept { return silent_; }
  void headline(const std::string& text) {
    if (!silent_) std::printf("%s%s\n", number_ > 0 ? "\n" : "", t_.bold(cat(number_ + 1, ". ", text)).c_str());
    ++number_;
  }
  void line(const std::string& text) {
    if (!silent_)
      std::printf("  %s\n", apps::wrapped(text, static_cast<std::size_t>(t_.can().columns) - 4, "    ").c_str());
  }
  void verdict(bool good, const std::string& text) {
    if (!silent_)
      std::printf("  %s %s\n", (good ? t_.good_mark() : t_.bad_mark()).c_str(),
                  ((good ? "" : "FAILED: ") + text).c_str());
  }

 private:
  terminal t_;
  bool silent_;
  int number_ = 0;
};

void introduce(speaker& say, const device_statistics& now) {
  say.line(cat(now.name, " is ready (", now.engine_reason, "); its worker is process ", now.worker_pid.value_or(0),
               ", with"));
  for (const engine_info& e : now.engines)
    if (e.library != "memory") say.line(cat(e.library, " ", e.backend, " ", e.version));
}

bool all_right(const demo::run_record& run, const demo::load& l) {
  std::uint64_t bad = 0;
  for (const demo::kind_record& k : run.by_kind) bad += k.wrong + k.failed;
  const bool somebody_missed =
      run.by_kind[0].right.total() == 0 || (l.coroutines > 0 && run.by_kind[1].right.total() == 0);
  const auto hit = std::count_if(run.events.begin(), run.events.end(), [](const demo::event& e) { return e.ours; });
  return bad == 0 && !somebody_missed && hit == l.faults;
}

int run(const settings& s) {
  speaker say(s.json);
  say.headline("Open a device");
  runtime rt;
  const device gpu = rt.open_device({.engine = s.device.engine,
                                     .ordinal = s.device.ordinal,
                                     .mailbox_capacity = 4096,
                                     .libraries = {"blas", "jit", "faults"},
                                     .restarts = 10'000,  // because the demo ends workers on purpose
                                     .runtime_folder = apps::installation::of_this_program().option});
  if (auto ready = gpu.started().get(); !ready) return say_what_is_missing(ready.error(), gpu.statistics()), 1;
  const device_statistics opened = gpu.statistics();
  introduce(say, opened);

  say.headline("Compile the kernels of a neural network");
  const demo::model numbers(7);
  const auto net = std::make_shared<demo::network>(gpu, numbers);
  const auto compiled = net->compiled().get();
  if (!compiled) return say_what_did_not_compile(compiled.error(), opened), 1;
  say.line(compiled_text(*compiled, opened, say.how()));

  say.headline("Clients ask, in three ways at once");
  apps::progress bar(say.how());
  const auto run = demo::serve(gpu, net, numbers, s.load, [&](const demo::standing& now) {
    if (!say.silent()) bar.show(now.now.at_s, demo::progress_text(now, say.how()));
  });
  if (!run) return std::fprintf(stderr, "troupe demo: no answers: %s\n", run.error().to_string().c_str()), 1;
  bool good = all_right(*run, s.load);
  if (!say.silent()) {
    bar.clear();
    std::printf("\n%s", demo::table(*run, say.how()).c_str());
  }
  if (!run->first_failure.empty()) say.line("the first failure: " + run->first_failure);
  say.verdict(good, run->events.empty() ? "every answer was right" : "every answer was right despite the faults");
  if (!s.plot.empty()) {
    if (auto written = write_plot(s.plot, *run); !written)
      std::fprintf(stderr, "troupe demo: %s\n", written.error().text().c_str()), good = false;
    else
      say.line(say.how().arrow() + " " + whole_path(s.plot));
  }

  std::vector<demo::act> acts;
  for (const auto show : {&demo::show_an_error_travelling, &demo::show_a_worker_dying}) {
    acts.push_back(show(gpu));
    const demo::act& a = acts.back();
    say.headline(a.title);
    for (const std::string& line : a.lines) say.line(line);
    say.verdict(a.good, a.verdict);
    good &= a.good;
  }
  if (s.json) std::fputs(demo::json(*run, acts, s.plot.empty() ? "" : whole_path(s.plot), good).c_str(), stdout);
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto s = parse({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (!s) return std::fprintf(stderr, "%s\n", s.error().text().c_str()), 2;
  return apps::finish(stdout, s->help ? apps::print_help(arguments_of_demo, s->json) : run(*s));
}
