#!/bin/sh
# Finds an nginx for the lab, or unpacks the distribution's package of it privately, and prints the program's path.
#
# In:      TLSTRATA_NGINX  use this program as it is
# Out:     one line on stdout: the path; progress on stderr. Exit 3 where none can be had.
# Touches: only .deps/ of this checkout. The package is unpacked, not installed: no service, no configuration, no user
#          is made, and no root is needed. The system's package lists are read; where they do not do, a private copy of
#          them is fetched.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/say.sh"
deps=$root/.deps
private=$deps/nginx/usr/sbin/nginx

# works PROGRAM: prints its path where every library that it needs is there; else says which are not.
# libssl and libcrypto do not count: the lab gives it those that tlstrata itself uses.
works() {
    lost=$(ldd "$1" 2>/dev/null | awk '/=> not found/ && $1 !~ /^lib(ssl|crypto)\./ {printf " %s", $1}')
    [ -z "$lost" ] || die "nginx misses libraries:$lost" "$1" \
        "install the packages that hold them, on Debian: sudo apt-get install libpcre2-8-0 zlib1g libcrypt1"
    echo "$1"
}

if [ -n "${TLSTRATA_NGINX:-}" ]; then
    { [ -f "$TLSTRATA_NGINX" ] && [ -x "$TLSTRATA_NGINX" ]; } ||
        die "no such program" "TLSTRATA_NGINX=$TLSTRATA_NGINX" "name an nginx with its SSL module, or unset it"
    works "$TLSTRATA_NGINX"
    exit 0
fi
if [ -x "$private" ]; then
    works "$private"
    exit 0
fi
# An ordinary user's PATH lacks /usr/sbin.
if found=$(PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v nginx); then
    works "$found"
    exit 0
fi

{ command -v apt-get && command -v dpkg-deb; } >/dev/null 2>&1 ||
    die "there is no nginx, and no apt to fetch one with" "$(uname -s)" "install nginx, or name one with TLSTRATA_NGINX"

work=$deps/nginx.tmp
rm -rf "$work"
mkdir -p "$work/package" "$work/root"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# download APT_OPTIONS...: the package into $work/package. Older releases keep the program in nginx-core.
download() {
    for package in nginx nginx-core nginx-light; do
        rm -f "$work/package"/*.deb
        (cd "$work/package" && apt-get -qq -o APT::Sandbox::User=root "$@" download "$package") >&2 || continue
        for file in "$work/package"/*.deb; do
            dpkg-deb -x "$file" "$work/root" || continue
        done
        [ -x "$work/root/usr/sbin/nginx" ] && return 0
    done
    return 1
}

say "fetching the distribution's nginx package, to unpack it into .deps/nginx (nothing is installed or started)"
if ! download; then
    say "the system's package lists do not do; reading them anew into .deps/apt (private)"
    lists=$deps/apt/binary
    mkdir -p "$lists/lists/partial" "$lists/cache/archives/partial"
    apt-get -qq -o APT::Sandbox::User=root -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists/cache" update >&2 ||
        say "some package lists could not be read; going on"
    download -o "Dir::State::Lists=$lists/lists" -o "Dir::Cache=$lists/cache" ||
        die "nginx could not be fetched" "apt-get download nginx" \
            "check the network and apt's sources, install nginx, or name one with TLSTRATA_NGINX"
fi
rm -rf "$deps/nginx"
mv "$work/root" "$deps/nginx"
works "$private"
