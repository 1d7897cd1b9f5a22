# shellcheck shell=bash
# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts beside it: they run from the root of the repository, stop at the first error, and say what they do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# step TEXT: a heading with the time since the start of the outermost script.
export TROUPE_STARTED=${TROUPE_STARTED:-$(date +%s)}
step() {
  local seconds=$(($(date +%s) - TROUPE_STARTED)) bold='' plain=''
  if [ -t 1 ]; then bold=$'\e[1m' plain=$'\e[0m'; fi
  printf '%s==> [%d:%02d] %s%s\n' "$bold" $((seconds / 60)) $((seconds % 60)) "$*" "$plain"
}

fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# As many at a time as there are cores, and memory for: a compiler takes up to 1 GiB. JOBS=n overrides.
jobs_at_once() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  if [ "${memory:-1}" -lt "$cores" ]; then cores=$((memory > 0 ? memory : 1)); fi
  echo "${JOBS:-$cores}"
}

# run_as_owner_of PREFIX: sets as_owner to what runs a command that may write below it.
run_as_owner_of() {
  local existing=$1
  until [ -e "$existing" ]; do existing=$(dirname "$existing"); done
  as_owner=(env)
  [ ! -w "$existing" ] || return 0
  command -v sudo > /dev/null || fail "$existing is not yours to write to, and there is no sudo here: give a prefix, as in make install PREFIX=..."
  as_owner=(sudo)
}

# What may be shown as it goes on a terminal, and is one line each in a log.
export NINJA_STATUS='[%f/%t, %es] '

# All our C++ files.
sources() {
  find runtime libraries backends apps bench examples tests -name '*.[ch]pp' | LC_ALL=C sort
}
