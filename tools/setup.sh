#!/bin/sh
# Installs the packages of the named groups of tools/packages that are missing. Silent where nothing is.
#
# In:      GROUP... ; OPENSSL_ROOT and OPENSSL_TARBALL as tools/openssl.sh takes them.
# Out:     on stderr the list of what will be installed, before it is. Exit 3 where it cannot be had.
# Touches: the package database, by apt-get. No configuration, no service, no upgrade of the system.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/say.sh"

# system_openssl_is_new: the system's own OpenSSL has ML-KEM. Asked of the package database: there may be no headers yet.
system_openssl_is_new() {
    for package in libssl3t64 libssl3; do
        version=$(dpkg-query -W -f '${Version}' "$package" 2>/dev/null) || continue
        [ -n "$version" ] && dpkg --compare-versions "$version" ge 3.5 && return 0
    done
    return 1
}

groups=" $* "
if [ -n "${OPENSSL_ROOT:-}" ] || ls -d "$root"/.deps/openssl-*/.complete >/dev/null 2>&1; then
    : # there is one
elif ! command -v dpkg-query >/dev/null 2>&1; then
    : # tools/openssl.sh will say what it lacks
elif [ -z "${OPENSSL_TARBALL:-}" ] && system_openssl_is_new; then
    groups="$groups system-openssl "
else
    groups="$groups source-openssl "
fi

# "package command" of the lines whose group is asked for, each package once.
wanted=$(awk -v groups="$groups" '!/^#/ && index(groups, " " $1 " ") && !seen[$2]++ {print $2, $3}' \
    "$root/tools/packages")

if ! command -v dpkg-query >/dev/null 2>&1; then
    say "this is no Debian or Ubuntu; expecting what these packages hold: $(echo "$wanted" | cut -d' ' -f1 | tr '\n' ' ')"
    exit 0
fi

# One question for all packages: a set-up with nothing to do must cost nothing. Unknown names make it exit 1.
# shellcheck disable=SC2046
installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $(echo "$wanted" | cut -d' ' -f1) 2>/dev/null |
    awk '$2 == "installed" {printf " %s ", $1}') || true
missing=$(echo "$wanted" | while read -r package command; do
    case "$installed" in *" $package "*) continue ;; esac
    [ "$command" != - ] && command -v "$command" >/dev/null 2>&1 && continue
    printf ' %s' "$package"
done)
[ -n "$missing" ] || exit 0

say "these Debian packages are missing and will be installed (with what they depend on):$missing"
by_hand="apt-get install --no-install-recommends$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 ||
        die "packages are missing, and there is neither root nor sudo to install them" "user $(id -un)" "have an administrator run: $by_hand"
    as_root=sudo
    say "asking sudo for apt-get"
fi

# needrestart (Ubuntu) would restart services after an install: it is told to stay out.
quiet_apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 apt-get -q -o Dpkg::Use-Pty=0 "$@" >&2
}
# A failed update (one foreign source out of order) is no reason to stop: the install tells.
quiet_apt update || say "apt-get update failed; going on with the package lists that are there"
# shellcheck disable=SC2086
quiet_apt install -y --no-install-recommends $missing ||
    die "apt-get could not install what is missing" "see its messages above" \
        "check the network and apt's sources, then run: $by_hand"
