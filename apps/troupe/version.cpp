// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <apps/cli/command_line.hpp>
#include <apps/cli/installation.hpp>
#include <apps/cli/json.hpp>
#include <apps/cli/output.hpp>
#include <apps/troupe/version.hpp>
#include <cstdio>
#include <troupe/base/version.hpp>

namespace troupe::apps {
namespace {

constexpr option options_of_version[] = {{"--json", "", "one JSON document, for programs"}};

constexpr grammar arguments_of_version{
    .command = "troupe version",
    .options = options_of_version,
    .about =
        R"(Prints the version of Troupe, the path of its worker, and the engines beside it. Loads none of them: troupe doctor does.
)",
    .more = R"(Exit code: 0 success, 1 the output could not be written, 2 usage error.
)"};

}  // namespace

int version_command(std::span<const char* const> arguments) {
  const auto c = command_line::parse(arguments_of_version, arguments);
  if (!c) return std::fprintf(stderr, "%s\n", c.error().text().c_str()), 2;
  if (c->has("--help")) return print_help(arguments_of_version, c->has("--json"));
  const installation here = installation::of_this_program();
  const bool runnable = ::access(here.worker.c_str(), X_OK) == 0;
  std::vector<std::string> engines;
  for (const engine_file& e : engine_files({here.engines})) engines.push_back(e.library + "." + e.backend);
  if (c->has("--json")) {
    json_writer out;
    out.begin_object();
    out.member("troupe", troupe::version()).member("folder", here.folder).member("worker", here.worker);
    out.member("worker_is_runnable", runnable).member("engines", engines);
    out.end_object();
    return std::fputs(out.text().c_str(), stdout), 0;
  }
  std::string names;
  for (const std::string& e : engines) names += (names.empty() ? "" : ", ") + e;
  std::printf("troupe %s\nworker   %s%s\nengines  %s\n", troupe::version(), here.worker.c_str(),
              runnable ? "" : " (missing)", names.empty() ? "none" : names.c_str());
  return 0;
}

}  // namespace troupe::apps
