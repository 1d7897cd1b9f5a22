# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# Prints "file:line: class name declares n functions" of each that declares more than `most`, private ones included; with
# `parameters`, instead each whose constructor has more parameters than that. With code.awk and scopes.awk.
function enters() { functions[depth] = 0; opened[depth] = FNR }
function leaves() {
  if (!parameters && functions[depth] > most)
    print FILENAME ":" opened[depth] ": " names[depth] " declares " functions[depth] " functions; expected at most " most
}
function member(text) { if (is_function(text)) declares(text) }
# Returns true for a declaration of a function, or what stands before its body.
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
