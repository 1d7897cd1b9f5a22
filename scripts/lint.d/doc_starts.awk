# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# awk -v percent=P -f doc_starts.awk FILE...: prints the doc comments that begin with a word that names neither an action
# nor a thing, if more than P percent of all do.
FNR == 1 { inside = 0 }
/^ *\/\/\/( |<)/ || /[^ ].*\/\/\/</ {
  if (inside && /^ *\/\/\/</) next
  if (!inside || !/^ *\/\/\//) {
    ++all
    text = $0
    sub(/^.*\/\/\/<? ?/, "", text)
    if (text ~ /^(Of|What|How|Where|Whether|Which|For|As|So|Those|That|Who|In|On|If) /) found[++bad] = FILENAME ":" FNR ": " text
  }
  inside = 1
  next
}
{ inside = 0 }
END { if (bad * 100 > all * percent) for (i = 1; i <= bad; ++i) print found[i] }
