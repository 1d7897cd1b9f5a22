// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The program behind `troupe bench`.
#include <unistd.h>
#include <bench/measures.hpp>
#include <bench/ping_pong.hpp>
#include <bench/report.hpp>
#include <climits>
#include <cstdio>
#include <cstring>
#include <troupe/base/clock.hpp>
#include <vector>

namespace troupe::bench {
namespace {

constexpr const char* help = R"(troupe bench [name or prefix...] [option...]
Measures Troupe against the bare calls it stands on, both in turn in the same run, and prints the medians.

  --list     what there is, and what is compared with what
  --json     one JSON object per measure and line, for programs:
             {"name","ours","raw","unit","ratio","goal","ok"}; what could not be measured has nulls and is not ok
  --quick    a third of the rounds
  --check    exit with 1 unless everything was measured and met its goal
  --help     this text

  troupe bench                 everything, about two minutes
  troupe bench ask copy        what starts with "ask" or "copy"

Close other programs first: a busy machine is what you measure otherwise. CXX names the compiler of compile.umbrella.
)";

struct command_line {
  settings how;
  bool json = false, check = false, list = false, help = false;
  std::vector<const measure*> chosen;
};

result<command_line> parse(int argc, char** argv) {
  command_line c;
  std::vector<std::string_view> prefixes;
  for (int i = 1; i < argc; ++i) {
    const std::string_view a = argv[i];
    if (a == "--json")
      c.json = true;
    else if (a == "--quick")
      c.how.quick = true;
    else if (a == "--check")
      c.check = true;
    else if (a == "--list")
      c.list = true;
    else if (a == "--help" || a == "-h")
      c.help = true;
    else if (a.starts_with("-"))
      return error(reaction::caller_bug, "bench", "unknown option " + std::string(a) + "; see troupe bench --help");
    else
      prefixes.push_back(a);
  }
  for (const measure& m : measures()) {
    bool wanted = prefixes.empty();
    for (const std::string_view p : prefixes) wanted |= m.name.starts_with(p);
    if (wanted) c.chosen.push_back(&m);
  }
  for (const std::string_view p : prefixes) {
    bool known = false;
    for (const measure& m : measures()) known |= m.name.starts_with(p);
    if (!known)
      return error(reaction::caller_bug, "bench",
                   "no measure starts with \"" + std::string(p) + "\"; see troupe bench --list");
  }
  return c;
}

std::string folder_of_this_program() {
  char path[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string whole(path, n > 0 ? static_cast<std::size_t>(n) : 0);
  return whole.substr(0, whole.rfind('/'));
}

void list(const command_line& c) {
  for (const measure* m : c.chosen) {
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

int run_all(const command_line& c) {
  // A line that goes away again, for whoever watches.
  const bool watched = ::isatty(STDERR_FILENO) != 0;
  if (c.json)
    std::fprintf(stderr, "on %d cores\n", usable_cores());
  else
    print_head();
  int met = 0;
  for (const measure* m : c.chosen) {
    if (watched) std::fprintf(stderr, "%s ...\r", std::string(m->name).c_str());
    const result<figures> found = run(*m, c.how);
    if (watched) std::fprintf(stderr, "\033[K");
    if (c.json)
      print_json(*m, found);
    else
      print_row(*m, found);
    if (c.json && !found)
      std::fprintf(stderr, "%s: not run: %s\n", std::string(m->name).c_str(), found.error().text().c_str());
    met += found && m->goal.met(*found);
  }
  const int all = static_cast<int>(c.chosen.size());
  if (!c.json) std::printf("\n%d of %d goals met.\n", met, all);
  return c.check && met != all ? 1 : 0;
}

int start(int argc, char** argv) {
  if (argc == 2 && argv[1] == ping_pong::peer_argument) return ping_pong::be_peer();
  auto c = parse(argc, argv);
  if (!c) {
    std::fprintf(stderr, "%s\n", c.error().text().c_str());
    return 2;
  }
  c->how.runtime_folder = folder_of_this_program();
  if (c->help) return std::fputs(help, stdout), 0;
  if (c->list) return list(*c), 0;
  return run_all(*c);
}

}  // namespace
}  // namespace troupe::bench

int main(int argc, char** argv) { return troupe::bench::start(argc, argv); }
