# SPDX-FileCopyrightText: The Troupe authors
# SPDX-License-Identifier: Apache-2.0
# Completes the command line of troupe in bash. tests/cli/manual compares the words below with the program's own help.

_troupe() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" = 1 ]; then
    words="doctor demo chaos bench version help"
  else
    case $before in
      --device) words="host cuda:0" ;;
      --plot | --engines) compopt -o default; return ;;
      *)
        case $command in
          doctor) words="--engines --json --help" ;;
          demo) words="--device --seconds --clients --rate --faults --plot --json --help" ;;
          chaos) words="--device --seconds --faults --seed --kinds --rate --at-once --clients --train --refit --standbys --json --help" ;;
          bench) words="--device --list --json --quick --check --help" ;;
          version) words="--json --help" ;;
          help) words="doctor demo chaos bench version" ;;
        esac
        ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _troupe troupe
