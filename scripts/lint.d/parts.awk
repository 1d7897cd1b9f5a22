# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# awk -v most=N -f code.awk -f scopes.awk -f parts.awk HEADER...: prints each group of more than `most` parts of a device of which each
# reaches each other through what it stores. Parts are the members of device_core and of device_board. A part reaches
# what it stores by value, reference or plain pointer; an interface that another part implements is none.
function enters() {}
function leaves() {}
# Notes the type of a member that is a class, or a reference or pointer to one.
function member(text) {
  sub(/=.*/, "", text)
  gsub(/(public|private|protected):|(^|[^a-z_])(const|mutable|troupe::)/, " ", text)
  gsub(/ +/, " ", text); sub(/^ /, "", text); sub(/ $/, "", text)
  if (text !~ /^[a-z_0-9]+[&*]? [a-z_0-9, ]+$/ || text ~ /^(using|friend|struct|class|enum|return) /) return
  sub(/[&* ].*/, "", text)
  stores[names[depth], text] = 1
}
END {
  part["device_board"] = 1
  for (pair in stores) {
    split(pair, ends, SUBSEP)
    if (ends[1] == "device_core" || ends[1] == "device_board") part[ends[2]] = 1
  }
  for (a in part) for (b in part) reaches[a, b] = ((a, b) in stores)
  for (k in part) for (a in part) if (reaches[a, k]) for (b in part) if (reaches[k, b]) reaches[a, b] = 1
  for (a in part) {
    if (a in seen) continue
    size = 0; group = ""
    for (b in part) if (a == b || (reaches[a, b] && reaches[b, a])) { ++size; group = group " " b; seen[b] = 1 }
    if (size > most) print "a cycle of " size " parts:" group
  }
}
