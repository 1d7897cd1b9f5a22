# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints "file:line: class name declares n functions" of each that declares more than `most`, private ones included; with
# `parameters`, instead each whose constructor has more parameters than that. With code.awk.
FNR == 1 { depth = 0; statement = "" }
{
  line = code_of($0)
  n = length(line)
  for (i = 1; i <= n; ++i) {
    c = substr(line, i, 1)
    if (c == "{") {
      if (is_class[depth] && is_function(statement)) declares(statement)
      ++depth
      is_class[depth] = statement ~ /(^|[ >])(class|struct) +[A-Za-z_]/ && statement !~ /enum|\(|=/
      if (is_class[depth]) {
        name = statement; sub(/.*(class|struct) +/, "", name); sub(/[^A-Za-z_0-9:].*/, "", name)
        names[depth] = name; functions[depth] = 0; opened[depth] = FNR
      }
      statement = ""
    } else if (c == "}") {
      if (!parameters && is_class[depth] && functions[depth] > most)
        print FILENAME ":" opened[depth] ": " names[depth] " declares " functions[depth] " functions; expected at most " most
      if (depth > 0) --depth
      statement = ""
    } else if (c == ";") {
      if (is_class[depth] && is_function(statement)) declares(statement)
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
function declares(text,  count) {
  ++functions[depth]
  if (!parameters || text !~ "(^|[^A-Za-z_0-9~])" names[depth] "\\(") return
  sub(".*[^A-Za-z_0-9]" names[depth] "\\(|^" names[depth] "\\(", "", text)
  count = parameters_of(text)
  if (count > parameters) print FILENAME ":" FNR ": the constructor of " names[depth] " has " count " parameters; expected at most " parameters
}
# The number of parameters in a list without its opening parenthesis.
function parameters_of(list,  i, c, inside, count) {
  if (list ~ /^ *\)/) return 0
  for (i = 1; i <= length(list); ++i) {
    c = substr(list, i, 1)
    if (c ~ /[(<[{]/) ++inside
    else if (c ~ /[>\]}]/) --inside
    else if (c == ")" && inside-- == 0) break
    else if (c == "," && inside == 0) ++count
  }
  return count + 1
}
