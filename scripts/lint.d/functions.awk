# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints "file:line: the function has n lines" for each function longer than `most`. Expects C++ as clang-format writes
# it.
FNR == 1 { depth = 0; statement = ""; first = 0 }
{
  line = code_of($0)
  # extern "C" is no function.
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
