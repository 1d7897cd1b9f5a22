// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The command line. Larger commands are programs in the worker's folder.
#include <unistd.h>
#include <algorithm>
#include <apps/cli/command_line.hpp>
#include <apps/cli/installation.hpp>
#include <apps/cli/json.hpp>
#include <apps/cli/output.hpp>
#include <apps/cli/terminal.hpp>
#include <apps/troupe/doctor.hpp>
#include <apps/troupe/version.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <troupe/base/version.hpp>

namespace troupe::apps {
namespace {

using arguments = std::span<const char* const>;

struct command {
  std::string_view name, summary;
  int (*run)(arguments);  ///< null if the command is a program of its own
  const char* program = nullptr;
  const char* comes_with = nullptr;
};

int help_command(arguments rest);

constexpr command commands[] = {
    {"doctor", "what works on this machine, what is missing, and how to install it", &doctor_command},
    {"demo", "a small service under load, with its throughput and latencies", nullptr, "troupe-demo", "TROUPE_DEMO"},
    {"chaos", "break workers in every known way, and check that no answer is wrong", nullptr, "troupe-chaos",
     "TROUPE_DEMO"},
    {"bench", "measure Troupe against the bare calls below it", nullptr, "troupe-bench", "TROUPE_BENCH"},
    {"version", "the version of Troupe, and its engines", &version_command},
    {"help", "this text, or that of a command: troupe help doctor", &help_command},
};

constexpr const char* help_begin = R"(troupe: a GPU, or the host engine, behind supervised actors

usage: troupe <command> [argument...]

)";
constexpr const char* help_end = R"(
troupe <command> --help says more, with examples and exit codes. All commands take --json: one JSON document for programs
(bench: one object on each line). Colour and symbols are for terminals; NO_COLOR=1 turns them off.

Programs use the library: #include <troupe/troupe.hpp>, and in CMake find_package(troupe) and
target_link_libraries(program PRIVATE troupe::troupe). A first program:

  troupe::runtime rt;
  troupe::device gpu = rt.open_device();    // the first GPU; without one, the host engine
  auto x = gpu.alloc<float>(1000);
  gpu.fill(x, 1.5f);                        // queued, in order
  auto values = gpu.download(x).get();      // waits; an error anywhere above arrives here

Exit codes of all commands: 0 success, 1 failure (reported; also when the output could not be written), 2 usage error.
)";

void print_help(std::FILE* to) {
  const terminal t = terminal::of(to);
  std::fputs(help_begin, to);
  for (const command& c : commands)
    std::fprintf(to, "  %s%*s%s\n", t.bold(c.name).c_str(), static_cast<int>(11 - c.name.size()), "",
                 std::string(c.summary).c_str());
  std::fputs(help_end, to);
}

void print_help_as_json() {
  json_writer out;
  out.begin_object().member("troupe", troupe::version()).key("commands").begin_array();
  for (const command& c : commands) out.begin_object().member("name", c.name).member("summary", c.summary).end_object();
  out.end_array().end_object();
  std::fputs(out.text().c_str(), stdout);
}

// Replaces this process by the program that a command runs.
int become(const command& c, arguments rest) {
  const std::string path = installation::of_this_program().programs + "/" + c.program;
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const char* a : rest) argv.push_back(const_cast<char*>(a));
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  std::fprintf(stderr, "troupe %s: cannot run %s: %s", std::string(c.name).c_str(), path.c_str(), std::strerror(errno));
  std::fprintf(stderr, errno == ENOENT ? "; it is built with %s=ON\n" : "\n", c.comes_with);
  return 1;
}

const command* find(std::string_view name) {
  const auto found =
      std::find_if(std::begin(commands), std::end(commands), [&](const command& c) { return c.name == name; });
  return found == std::end(commands) ? nullptr : &*found;
}

int unknown_command(std::string_view name) {
  std::vector<std::string_view> names;
  for (const command& c : commands) names.push_back(c.name);
  std::string text = "troupe: there is no command \"" + std::string(name) + "\"; ";
  if (const std::string_view near = nearest(name, names); !near.empty())
    text += "did you mean " + std::string(near) + "?";
  else
    text += "troupe --help lists them";
  return std::fprintf(stderr, "%s\n", text.c_str()), 2;
}

int run(const command& c, arguments rest) { return c.run != nullptr ? c.run(rest) : become(c, rest); }

int help_command(arguments rest) {
  static constexpr option options[] = {{"--json"}};
  const auto c = command_line::parse({.command = "troupe help", .options = options, .words = 1}, rest);
  if (!c) return std::fprintf(stderr, "%s\n", c.error().text().c_str()), 2;
  if (!c->words().empty() && c->words().front() != "help") {
    const command* about = find(c->words().front());
    const char* const help[] = {"--help", "--json"};
    return about == nullptr ? unknown_command(c->words().front()) : run(*about, {help, c->has("--json") ? 2u : 1u});
  }
  c->has("--json") ? print_help_as_json() : print_help(stdout);
  return 0;
}

int start(arguments all) {
  if (all.empty()) return print_help(stderr), 2;
  const std::string_view first = all.front();
  const arguments rest = all.subspan(1);
  if (first == "--help" || first == "-h") return help_command(rest);
  if (first == "--version") return version_command(rest);
  if (first.starts_with("-")) {
    static constexpr option options[] = {{"--version"}};
    const auto c = command_line::parse({.command = "troupe", .options = options}, all.first(1));
    return std::fprintf(stderr, "%s\n", c.error().text().c_str()), 2;
  }
  const command* c = find(first);
  return c == nullptr ? unknown_command(first) : run(*c, rest);
}

}  // namespace
}  // namespace troupe::apps

int main(int argc, char** argv) {
  const int code = troupe::apps::start({argv + std::min(argc, 1), static_cast<std::size_t>(std::max(argc - 1, 0))});
  return troupe::apps::finish(stdout, code);
}
