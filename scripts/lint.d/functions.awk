# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints "file:line: the function has n lines" for each function longer than `most`. Expects C++ as clang-format writes
# it.
FNR == 1 { depth = 0; raw = ""; statement = ""; first = 0; comment = 0 }
{
  line = $0
  if (raw != "") { at = index(line, raw); if (at == 0) next; line = substr(line, at + length(raw)); raw = "" }
  if (comment) { at = index(line, "*/"); if (at == 0) next; line = substr(line, at + 2); comment = 0 }
  # raw strings
  while (match(line, /R"[A-Za-z_]*\(/)) {
    delim = substr(line, RSTART + 2, RLENGTH - 3); ending = ")" delim "\""
    rest = substr(line, RSTART + RLENGTH); head = substr(line, 1, RSTART - 1)
    at = index(rest, ending)
    if (at == 0) { raw = ending; line = head; break }
    line = head substr(rest, at + length(ending))
  }
  gsub(/\\\\/, "", line); gsub(/\\"/, "", line); gsub(/"[^"]*"/, "\"\"", line); gsub(/'\\?.'/, "0", line); sub(/\/\/.*/, "", line)
  if ((at = index(line, "/*")) != 0) { if (index(line, "*/") == 0) comment = 1; line = substr(line, 1, at - 1) }
  # Neither a macro nor extern "C" is a function.
  if (line ~ /^[ ]*#/ || continued) { continued = line ~ /\\$/; next }
  if (line ~ /^extern "" *\{/) { ++depth; is_function[depth] = 0; next }
  n = length(line)
  for (i = 1; i <= n; ++i) {
    c = substr(line, i, 1)
    if (c == "{") {
      ++depth; opened[depth] = first ? first : FNR
      is_function[depth] = statement ~ /\)[^=]*$/ && statement !~ /^[ ]*(\}? ?else|if|for|while|switch|do|catch|try|namespace|class|struct|enum|union|return|extern)[^A-Za-z_]/
      statement = ""; first = 0
    } else if (c == "}") {
      size = FNR - opened[depth] + 1
      if (is_function[depth] && size > most) print FILENAME ":" opened[depth] ": the function has " size " lines; expected at most " most
      if (depth > 0) --depth
      statement = ""; first = 0
    } else if (c == ";") { statement = ""; first = 0 }
    else { if (!first && c != " ") first = FNR; statement = statement c }
  }
  statement = statement " "
}
