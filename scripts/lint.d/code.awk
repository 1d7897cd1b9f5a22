# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# code_of(line): what is left of a line of C++ without comments, preprocessor lines and the content of strings. For the scripts beside it, which
# call it for each line. Knows C++ as clang-format leaves it.
FNR == 1 { raw = ""; comment = 0; continued = 0 }
function code_of(line,  at, ending, rest, head) {
  if (raw != "") { at = index(line, raw); if (at == 0) return ""; line = substr(line, at + length(raw)); raw = "" }
  if (comment) { at = index(line, "*/"); if (at == 0) return ""; line = substr(line, at + 2); comment = 0 }
  while (match(line, /R"[A-Za-z_]*\(/)) {
    ending = ")" substr(line, RSTART + 2, RLENGTH - 3) "\""
    rest = substr(line, RSTART + RLENGTH); head = substr(line, 1, RSTART - 1)
    at = index(rest, ending)
    if (at == 0) { raw = ending; line = head; break }
    line = head substr(rest, at + length(ending))
  }
  gsub(/\\\\/, "", line); gsub(/\\"/, "", line); gsub(/"[^"]*"/, "\"\"", line); gsub(/'\\?.'/, "0", line); sub(/\/\/.*/, "", line)
  if ((at = index(line, "/*")) != 0) { if (index(line, "*/") == 0) comment = 1; line = substr(line, 1, at - 1) }
  if (line ~ /^[ ]*#/ || continued) { continued = line ~ /\\$/; return "" }
  return line
}
