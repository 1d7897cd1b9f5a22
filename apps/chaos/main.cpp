// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Injects faults on this machine while clients send requests and check the answers.
#include <apps/chaos/show.hpp>
#include <apps/cli/command_line.hpp>
#include <apps/cli/installation.hpp>
#include <apps/cli/output.hpp>
#include <charconv>
#include <cstdio>
#include <random>
#include <troupe/base/try.hpp>

namespace {

using namespace troupe;
using apps::terminal;

constexpr double longest_s = 86'400;

const apps::grammar& arguments_of_chaos() {
  static const std::string kinds = [] {
    std::string text = "only these kinds; all by default: ";
    for (const faults::kind k : faults::all_kinds()) text.append(to_string(k)).append(", ");
    text.replace(text.size() - 2, 2,
                 ". With all kinds, clients also try to overwrite sealed memory, which must not change");
    return text;
  }();
  static const apps::option options[] = {
      {"--device", "D", "host, or a GPU, such as cuda:0, on which faults of kernels occur; host by default"},
      {"--seconds", "N", "run time in seconds: {}; unlimited with --faults", {0.5, longest_s, 10}},
      {"--faults", "N", "run until this many faults have hit: {}", {1, 1'000'000, 1'000'000}},
      {"--seed", "S", "seed that determines the order of faults and requests; by default a new one, which is printed"},
      {"--kinds", "A,B", kinds},
      {"--rate",
       "N",
       "most faults per second: {}. Each fault waits until the device has recovered from the last",
       {0.1, 10'000, 100}},
      {"--at-once", "", "does not wait for recovery: faults may arrive faster than workers recover"},
      {"--clients", "N", "clients that send requests continuously: {}", {1, 64, 4}},
      {"--train", "", "also trains a network: each training must end with the same bits as a training without faults"},
      {"--refit", "", "also replaces weights of products and measures plans: no product may mix old and new weights"},
      {"--standbys", "N", "standby workers, ready to take over: {}", {0, 8, 1}},
      {"--json", "", "prints only one JSON document, at the end"}};
  static const apps::grammar all{
      .command = "troupe chaos",
      .options = options,
      .about =
          R"(Breaks the workers of a device on this machine in every known way while clients use it: kills and stops them, makes kernels
crash and hang, exhausts memory, overwrites shared memory. Compares every answer with the expected one. Ends with a table:
faults by kind, how long until the next worker answered, and the outcome of the questions. No answer may be wrong,
unexpected, duplicate or missing, and nothing may be left over: no process, thread, descriptor, memory or temporary file.
Touches only processes that it started.
)",
      .more = R"(  troupe chaos --seconds 60
  troupe chaos --kinds kill_worker,garbage --seed 7
  troupe chaos --faults 2000 --json | jq .answers
  troupe chaos --device cuda:0 --faults 200
  troupe chaos --train --faults 1000 --rate 20
  troupe chaos --refit --device cuda:0 --faults 200

Dying workers print messages to standard error; this is expected.

Exit code: 0 all checks passed; 1 a check failed, or the device did not start; 2 usage error.
)"};
  return all;
}

struct arguments {
  chaos::settings chaos;
  bool json = false, help = false;
};

error misused(const std::string& text) { return error(reaction::caller_bug, "troupe chaos", "troupe chaos: " + text); }

result<std::vector<faults::kind>> kinds_in(std::string_view list) {
  std::vector<faults::kind> out;
  std::vector<std::string_view> names;
  for (const faults::kind k : faults::all_kinds()) names.push_back(to_string(k));
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const auto k = faults::kind_of(name);
    if (!k) {
      const std::string_view near = apps::nearest(name, names);
      return misused("there is no kind of fault \"" + std::string(name) + "\"; " +
                     (near.empty() ? "--help lists them" : "did you mean " + std::string(near) + "?"));
    }
    out.push_back(*k);
  }
  if (out.empty()) return misused("--kinds is empty; expected names separated by commas");
  return out;
}

result<std::uint64_t> seed_in(std::optional<std::string_view> text) {
  if (!text) return std::uint64_t{std::random_device()()};
  std::uint64_t seed = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), seed);
  if (bad != std::errc() || end != text->data() + text->size())
    return misused("--seed is \"" + std::string(*text) + "\"; expected a whole number");
  return seed;
}

result<arguments> parse(std::span<const char* const> given) {
  const auto c = TROUPE_TRY(apps::command_line::parse(arguments_of_chaos(), given));
  arguments a;
  a.json = c.has("--json");
  a.help = c.has("--help");
  if (a.help) return a;
  const bool counted = c.value("--faults").has_value();
  const auto faults = c.count("--faults"), clients = c.count("--clients"), standbys = c.count("--standbys");
  const auto seconds = c.number("--seconds"), rate = c.number("--rate");
  for (const auto* number : {&faults, &clients, &standbys})
    if (!*number) return number->error();
  for (const auto* number : {&seconds, &rate})
    if (!*number) return number->error();
  const auto device = TROUPE_TRY(c.device("--device"));
  const auto seed = TROUPE_TRY(seed_in(c.value("--seed")));
  a.chaos = {
      .seconds = counted && !c.has("--seconds") ? longest_s : *seconds,
      .seed = seed,
      .per_second = *rate,
      .one_at_a_time = !c.has("--at-once"),
      .clients = *clients,
      .training = c.has("--train"),
      .refitting = c.has("--refit"),
      .device = {
          .engine = device.engine, .ordinal = device.ordinal, .standbys = static_cast<std::uint32_t>(*standbys)}};
  if (counted) a.chaos.faults = static_cast<std::uint64_t>(*faults);
  if (const auto list = c.value("--kinds")) {
    const auto kinds = TROUPE_TRY(kinds_in(*list));
    a.chaos.kinds = kinds;
  }
  return a;
}

int run(arguments a) {
  const terminal t = terminal::of(stdout);
  const chaos::private_folder folder;
  a.chaos.device.runtime_folder = apps::installation::of_this_program().option;
  if (!a.json) std::printf("Seed %llu\n", static_cast<unsigned long long>(a.chaos.seed));
  apps::progress bar(t);
  const auto r = chaos::run(a.chaos, folder, [&](const chaos::standing& now) {
    if (!a.json) bar.show(now.passed_s, chaos::progress_text(now, t));
  });
  if (!r) return std::fprintf(stderr, "troupe chaos: the device did not start: %s\n", r.error().to_string().c_str()), 1;
  if (a.json) {
    std::fputs(chaos::json(*r).c_str(), stdout);
  } else {
    bar.clear();
    std::printf("\n%s  %s %s\n", chaos::table(*r, t).c_str(), (r->good() ? t.good_mark() : t.bad_mark()).c_str(),
                r->good()
                    ? "every request was answered, no answer was wrong, and nothing is left over"
                    : "FAILED: every request must be answered, no answer may be wrong, and nothing may be left over");
  }
  return r->good() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto a = parse({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (!a) return std::fprintf(stderr, "%s\n", a.error().text().c_str()), 2;
  return apps::finish(stdout, a->help ? apps::print_help(arguments_of_chaos(), a->json) : run(*a));
}
