# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Walks through the classes of each file. Calls functions of the script that follows it: `enters()` and `leaves()` at the
# ends of a class, and `member(text)` for each declaration in it and for what stands before each body. `names[depth]` is
# the name of the class, empty outside of one. With code.awk.
FNR == 1 { depth = 0; statement = ""; names[0] = "" }
{
  line = code_of($0)
  n = length(line)
  for (i = 1; i <= n; ++i) {
    c = substr(line, i, 1)
    if (c == "{") {
      if (names[depth] != "") member(statement)
      names[++depth] = ""
      if (statement ~ /(^|[ >])(class|struct) +[A-Za-z_]/ && statement !~ /enum|\(|=/) {
        name = statement; sub(/.*(class|struct) +/, "", name); sub(/[^A-Za-z_0-9:].*/, "", name)
        names[depth] = name
        enters()
      }
      statement = ""
    } else if (c == "}") {
      if (names[depth] != "") leaves()
      if (depth > 0) --depth
      statement = ""
    } else if (c == ";") {
      if (names[depth] != "") member(statement)
      statement = ""
    } else statement = statement c
  }
  statement = statement " "
}
