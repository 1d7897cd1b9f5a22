# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
#
# awk -f dependencies.awk docs/dependencies.md FILE...: compares the page's tables with lists for CMake and with sources. Each
# engine is in a row with what it links, its packages and its compiler of kernels, and in no other row. What CMake looks for
# is in the first column, and what a source loads in that of the first table.
function plain(text) { sub(/^[a-zA-Z]+::/, "", text); gsub(/["()`-]/, "", text); sub(/^lib/, "", text); return tolower(text) }
function need(engine, word, table,  i) {
  words[engine] = words[engine] " " plain(word)
  for (i = 1; i <= rows; ++i) if (index(engine == "" ? name[i] : row[i], plain(word)) && index(row[i], engine) && (!table || table_of[i] == table)) return
  print FILENAME ":" FNR ": no row has " (engine == "" ? "" : engine " and ") word
}
FNR == NR { if (/^## /) ++tables; if (/^\|/) { row[++rows] = plain($0); split(row[rows], column, "|"); name[rows] = column[2]; table_of[rows] = tables }; next }
{ library = FILENAME; sub(/^libraries\/troupe\//, "", library); sub(/\/.*/, "", library) }
FILENAME ~ /\.[ch]pp$/ {
  if (match($0, /"lib[A-Za-z_]+\.so/)) { word = substr($0, RSTART + 1, RLENGTH - 4); loaded[library] = loaded[library] " " plain(word); need("", word, 1) }
  next
}
{ sub(/#.*/, "") }
{
  for (i = 1; i <= NF; ++i) {
    engine = library "." ($i ~ /^CUDA/ ? "cuda" : "host")
    if ($i ~ /^(HOST|CUDA)_LINK$/) for (j = i + 1; j <= NF && $j !~ /^[A-Z_]+$/; ++j) need(engine, $j)
    if ($i ~ /^(HOST|CUDA)_(BUILD_)?PACKAGE$/) need(engine, $(i + 1))
    if ($i ~ /^troupe_jit_nvrtc/) need(library ".cuda", "NVRTC")
    if ($i == "troupe_jit_host") need(library ".host", "g++")
    if (sub(/^find_(package|path|program)\((TROUPE_)?/, "", $i)) { sub(/_INCLUDE$/, "", $i); need("", $i) }
  }
}
END {
  for (i = 1; i <= rows; ++i) for (text = row[i]; match(text, /[a-z_]+\.(host|cuda)/); text = substr(text, RSTART + RLENGTH)) {
    engine = library = substr(text, RSTART, RLENGTH); sub(/\..*/, "", library); found = 0
    for (j = split(words[engine] loaded[library], word_of, " "); j > 0; --j) if (index(row[i], word_of[j])) found = 1
    if (!found) print ARGV[1] ": " engine " needs nothing of this row: " row[i]
  }
}
