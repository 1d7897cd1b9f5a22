// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <apps/cli/json.hpp>
#include <apps/cli/output.hpp>
#include <cerrno>
#include <cstring>

namespace troupe::apps {

int finish(std::FILE* out, int code) {
  const bool lost_before = std::ferror(out) != 0;
  bool flushed = std::fflush(out) == 0;
  if (flushed && !lost_before) return code;
  // After an earlier failed write, the reason is unknown. Writing one more line break fails for the same reason.
  if (flushed) flushed = std::fputc('\n', out) != EOF && std::fflush(out) == 0;
  std::fprintf(stderr, "troupe: the output could not be written%s%s\n", flushed ? "" : ": ",
               flushed ? "" : std::strerror(errno));
  return code == 0 ? 1 : code;
}

int print_help(const grammar& g, bool as_json) {
  const std::string help = help_text(g);
  if (!as_json) return std::fputs(help.c_str(), stdout), 0;
  json_writer out(json_writer::layout::one_line);
  out.begin_object().member("name", g.command.substr(g.command.find(' ') + 1)).member("help", help).end_object();
  return std::fputs(out.text().c_str(), stdout), 0;
}

}  // namespace troupe::apps
