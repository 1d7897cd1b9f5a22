# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints "file:line: class name declares n functions" of each that declares more than `most`, private ones included. With code.awk.
FNR == 1 { depth = 0; statement = "" }
{
  line = code_of($0)
  n = length(line)
  for (i = 1; i <= n; ++i) {
    c = substr(line, i, 1)
    if (c == "{") {
      if (is_class[depth] && is_function(statement)) ++functions[depth]
      ++depth
      is_class[depth] = statement ~ /(^|[ >])(class|struct) +[A-Za-z_]/ && statement !~ /enum|\(|=/
      if (is_class[depth]) {
        name = statement; sub(/.*(class|struct) +/, "", name); sub(/[^A-Za-z_0-9:].*/, "", name)
        names[depth] = name; functions[depth] = 0; opened[depth] = FNR
      }
      statement = ""
    } else if (c == "}") {
      if (is_class[depth] && functions[depth] > most)
        print FILENAME ":" opened[depth] ": " names[depth] " declares " functions[depth] " functions; expected at most " most
      if (depth > 0) --depth
      statement = ""
    } else if (c == ";") {
      if (is_class[depth] && is_function(statement)) ++functions[depth]
      statement = ""
    } else statement = statement c
  }
  statement = statement " "
}
# A declaration, or what stands before the body of a definition.
function is_function(text) {
  sub(/^[ ]*(public|private|protected):/, "", text)
  if (text ~ /^[ ]*(using|friend|static_assert|typedef|enum|class|struct|union)[^A-Za-z_]/ || text ~ /= *delete *$/) return 0
  gsub(/<[^<>]*\([^()]*\)[^<>]*>/, "<>", text)  # types of functions
  return text ~ /[A-Za-z_0-9>=\])~+*&|!<-] ?\(/
}
