# shellcheck shell=sh
# Sourced by the shell scripts here: how they speak.

# say WORD...: progress, on stderr, with the script's name in front.
say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }

# die WHAT WHERE REMEDY: the one line of design.md section 3 for what cannot be had.
die() {
    printf 'tlstrata: %s (%s): %s\n' "$1" "$2" "$3" >&2
    exit 3
}
