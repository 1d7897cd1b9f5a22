// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The program that `troupe bench` runs.
#include <unistd.h>
#include <algorithm>
#include <apps/cli/command_line.hpp>
#include <apps/cli/output.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/host/ping_pong.hpp>
#include <bench/measures.hpp>
#include <bench/report.hpp>
#include <bench/system/run_program.hpp>
#include <cstdio>
#include <limits>
#include <span>
#include <troupe/base/clock.hpp>
#include <troupe/base/try.hpp>
#include <vector>

namespace troupe::bench {
namespace {

constexpr apps::option options[] = {
    {"--device", "D",
     "the device to measure: host, or a GPU such as cuda:0, which has its own measures; host by default"},
    {"--list", "", "show all measures, and what each is compared with"},
    {"--json", "",
     "one JSON object per measure and line, for programs: "
     R"({"name","ours","raw","unit","ratio","goal","ok","why"};)"
     " a measure that could not run has nulls, is not ok, and says why"},
    {"--quick", "", "a third of the rounds, few cases of long lists, and few plans of those that are measured"},
    {"--check", "", "also exit with 1 if a goal was not met"}};

constexpr apps::grammar arguments_of_bench{
    .command = "troupe bench",
    .options = options,
    .words = std::numeric_limits<std::size_t>::max(),
    .usage = "[name or prefix...] [option...]",
    .about =
        R"(Measures Troupe against the bare calls it stands on, both in turn in the same run, and prints the medians.
)",
    .more = R"(  troupe bench                 everything, about two minutes
  troupe bench ask copy        the measures that start with "ask" or "copy"
  troupe bench --device cuda:0 --list

Close other programs first: a busy machine is what you measure otherwise. CXX names the compiler of compile.umbrella.

Exit code: 0 everything was measured; 1 something could not be, or computed wrong, or (with --check) missed its goal; 2
usage error.
)"};

struct choice {
  settings how;
  bool json = false, check = false, list = false, help = false;
  std::vector<const measure*> chosen;
};

result<choice> parse(std::span<const char* const> arguments) {
  const auto given = TROUPE_TRY(apps::command_line::parse(arguments_of_bench, arguments));
  choice c{.how = {},
           .json = given.has("--json"),
           .check = given.has("--check"),
           .list = given.has("--list"),
           .help = given.has("--help"),
           .chosen = {}};
  if (c.help) return c;
  const auto device = TROUPE_TRY(given.device("--device"));
  c.how.quick = given.has("--quick");
  c.how.engine = device.engine;
  c.how.ordinal = device.ordinal;
  const auto& prefixes = given.words();
  std::vector<std::string_view> names;
  for (const measure& m : measures(c.how.engine)) {
    names.push_back(
        // if names are mistyped, it is more often the prefix of several measures than a whole name
        m.name.substr(0, m.name.find('.')));
    names.push_back(m.name);
    bool wanted = prefixes.empty();
    for (const std::string_view p : prefixes) wanted |= m.name.starts_with(p);
    if (wanted) c.chosen.push_back(&m);
  }
  for (const std::string_view p : prefixes) {
    if (std::any_of(names.begin(), names.end(), [p](std::string_view name) { return name.starts_with(p); })) continue;
    std::string text = "troupe bench: no measure of " + device.text() + " starts with \"" + std::string(p) + "\"; ";
    if (const std::string_view near = apps::nearest(p, names); !near.empty())
      text += "did you mean " + std::string(near) + "?";
    else
      text += "troupe bench --device " + device.text() + " --list shows them";
    return error(reaction::caller_bug, "bench", std::move(text));
  }
  return c;
}

void list(const choice& c) {
  for (const measure* m : c.chosen) {
    if (c.json) {
      std::fputs(json_line(*m).c_str(), stdout);
      continue;
    }
    std::printf("%-19s %s\n", std::string(m->name).c_str(), std::string(m->ours).c_str());
    std::printf("%-19s   against: %s\n", "", std::string(m->raw).c_str());
    std::printf("%-19s   goal: %s\n", "", m->goal.text(m->unit).c_str());
  }
}

result<figures> run(const measure& m, const settings& how) {
  try {
    return m.run(how);
  } catch (const bad_result& none) {
    return none.error();
  } catch (const std::exception& e) {
    return error(reaction::fatal, "bench", e.what());
  }
}

int run_all(const choice& c) {
  // Prints a line that is overwritten, for a reader at a terminal.
  const bool watched = ::isatty(STDERR_FILENO) != 0;
  if (c.json)
    std::fprintf(stderr, "on %d cores\n", usable_cores());
  else
    print_head(c.how);
  summary all;
  for (const measure* m : c.chosen) {
    if (watched) std::fprintf(stderr, "%s ...\r", std::string(m->name).c_str());
    const result<figures> found = run(*m, c.how);
    if (watched) std::fprintf(stderr, "\033[K");
    if (c.json)
      std::fputs(json_line(*m, found).c_str(), stdout);
    else
      print_row(*m, found);
    if (c.json && !found)
      std::fprintf(stderr, "%s: not run: %s\n", std::string(m->name).c_str(), found.error().text().c_str());
    all.add(*m, found);
    if (std::fflush(stdout) != 0) return 1;  // nobody reads the output any longer
  }
  if (!c.json) std::printf("\n%s.\n", all.text().c_str());
  return all.exit_code(c.check);
}

int start(int argc, char** argv) {
  if (argc == 2 && argv[1] == ping_pong::peer_argument) return ping_pong::run_peer();
  if (argc == 4 && argv[1] == raw_side::fault_argument) return raw_side::fault(argv[2], argv[3]);
  auto c = parse({argv + 1, static_cast<std::size_t>(argc - 1)});
  if (!c) {
    std::fprintf(stderr, "%s\n", c.error().text().c_str());
    return 2;
  }
  c->how.runtime_folder = folder_of_this_program();
  if (c->help) return apps::print_help(arguments_of_bench, c->json);
  if (c->list) return list(*c), 0;
  return run_all(*c);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) { return troupe::apps::finish(stdout, troupe::bench::start(argc, argv)); }
