#!/bin/sh
# Finds an HAProxy for the lab, or unpacks the distribution's package of it privately, and prints the program's path.
#
# In:      TLSTRATA_HAPROXY  use this program as it is
# Out:     one line on stdout: the path; progress on stderr. Exit 3 where none can be had.
# Touches: only .deps/ of this checkout. Packages are unpacked, not installed, HAProxy's own libraries (Lua, OpenTracing)
#          too: no service, no configuration, no user is made, and no root is needed. Libraries that are unpacked lie in
#          .deps/haproxy/lib, which the lab puts behind its OpenSSL on LD_LIBRARY_PATH.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/say.sh"
deps=$root/.deps
private=$deps/haproxy/usr/sbin/haproxy

# missing PROGRAM LIB_FOLDER: names of libraries that it lacks. libssl and libcrypto do not count: the lab gives them.
missing() {
    LD_LIBRARY_PATH=$2 ldd "$1" 2>/dev/null | awk '/=> not found/ && $1 !~ /^lib(ssl|crypto)\./ {print $1}'
}

# works PROGRAM: prints its path where every library that it needs is there; else says which are not.
works() {
    lost=$(missing "$1" "$deps/haproxy/lib" | tr '\n' ' ')
    [ -z "$lost" ] || die "HAProxy misses libraries: $lost" "$1" "install the packages that hold them"
    echo "$1"
}

if [ -n "${TLSTRATA_HAPROXY:-}" ]; then
    { [ -f "$TLSTRATA_HAPROXY" ] && [ -x "$TLSTRATA_HAPROXY" ]; } ||
        die "no such program" "TLSTRATA_HAPROXY=$TLSTRATA_HAPROXY" "name an HAProxy with OpenSSL, or unset it"
    works "$TLSTRATA_HAPROXY"
    exit 0
fi
if [ -x "$private" ]; then
    works "$private"
    exit 0
fi
# An ordinary user's PATH lacks /usr/sbin.
if found=$(PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v haproxy); then
    works "$found"
    exit 0
fi

{ command -v apt-get && command -v dpkg-deb; } >/dev/null 2>&1 ||
    die "there is no HAProxy, and no apt to fetch one with" "$(uname -s)" \
        "install haproxy, or name one with TLSTRATA_HAPROXY"

work=$deps/haproxy.tmp
rm -rf "$work"
mkdir -p "$work/package" "$work/root/lib" "$work/libraries"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
lists= # options for apt; several words

# unpack PACKAGE FOLDER
unpack() {
    rm -f "$work/package"/*.deb
    # shellcheck disable=SC2086
    (cd "$work/package" && apt-get -qq -o APT::Sandbox::User=root $lists download "$1") >&2 || return 1
    for file in "$work/package"/*.deb; do
        dpkg-deb -x "$file" "$2" || return 1
    done
}

say "fetching the distribution's haproxy package, to unpack it into .deps/haproxy (nothing is installed or started)"
if ! unpack haproxy "$work/root"; then
    say "the system's package lists do not do; reading them anew into .deps/apt (private)"
    folder=$deps/apt/binary
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
    lists="-o Dir::State::Lists=$folder/lists -o Dir::Cache=$folder/cache"
    # shellcheck disable=SC2086
    apt-get -qq -o APT::Sandbox::User=root $lists update >&2 || say "some package lists could not be read; going on"
    unpack haproxy "$work/root" ||
        die "HAProxy could not be fetched" "apt-get download haproxy" \
            "check the network and apt's sources, install haproxy, or name one with TLSTRATA_HAPROXY"
fi

# The libraries that it needs and this machine lacks, from the packages that it depends on, one level after the other.
packages=$(dpkg-deb -f "$work/package"/*.deb Depends | tr ',' '\n' | sed -n 's/^ *\(lib[a-z0-9.+-]*\).*/\1/p')
for level in 1 2 3; do
    [ -n "$(missing "$work/root/usr/sbin/haproxy" "$work/root/lib")" ] || break
    say "unpacking libraries of HAProxy's own (level $level)"
    next=
    for package in $packages; do
        case $package in libc6 | libssl3*) continue ;; esac
        unpack "$package" "$work/libraries" || continue
        next="$next $(dpkg-deb -f "$work/package"/*.deb Depends | tr ',' '\n' | sed -n 's/^ *\(lib[a-z0-9.+-]*\).*/\1/p' | tr '\n' ' ')"
    done
    for library in $(missing "$work/root/usr/sbin/haproxy" "$work/root/lib"); do
        find "$work/libraries" -name "$library" -exec cp -L {} "$work/root/lib/$library" \;
    done
    packages=$next
done
rm -rf "$deps/haproxy"
mv "$work/root" "$deps/haproxy"
works "$private"
