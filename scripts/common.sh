# shellcheck shell=bash
# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts beside it: they run in the root of the repository, stop at the first error, and print what they
# do.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# step TEXT: prints a heading with the time since the start of the outermost script.
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

# Prints how many compilers may run at once: one for each core, as far as each has 1 GiB of memory. JOBS=n overrides it.
jobs_at_once() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  if [ "${memory:-1}" -lt "$cores" ]; then cores=$((memory > 0 ? memory : 1)); fi
  echo "${JOBS:-$cores}"
}

# run_as_owner_of PREFIX: sets as_owner to the command that runs another with permission to write below PREFIX: sudo, or
# env if sudo is not needed.
run_as_owner_of() {
  local existing=$1
  until [ -e "$existing" ]; do existing=$(dirname "$existing"); done
  as_owner=(env)
  [ ! -w "$existing" ] || return 0
  command -v sudo > /dev/null || fail "you cannot write to $existing, and sudo is not installed: give a prefix, as in make install PREFIX=..."
  as_owner=(sudo)
}

# Progress is redrawn on a terminal, and printed as lines in a log.
export NINJA_STATUS='[%f/%t, %es] '

source_folders=(runtime libraries backends apps bench examples tests comparison)
# All our C++ files, which clang-format formats.
sources() {
  find "${source_folders[@]}" -name '*.[ch]pp' | LC_ALL=C sort
}
# All our other source files: CUDA C++, headers of C and of kernels, and lists for #include. Those of tests/foreign are in
# the style of other projects.
device_sources() {
  find "${source_folders[@]}" -path tests/foreign -prune -o -type f \( -regex '.*\.\(cu\|cuh\|h\|inc\)' -o -path '*/headers/*' ! -name '*.*' \) -print |
    LC_ALL=C sort
}
