#!/bin/sh
# Unpacks Debian packages privately, for programs that tests and measurements compare with: nothing is installed, no
# service is made, no root is needed. Prints the folder they lie in.
#
# In:      NAME PACKAGE...   the folder's name under .deps/, and what is unpacked into it
# Out:     one line on stdout: the folder; progress on stderr. Exit 3 where a package cannot be had.
# Touches: only .deps/ of this checkout.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/say.sh"
[ $# -ge 2 ] || die "usage: tools/unpack.sh NAME PACKAGE..." "" "name a folder and packages"
name=$1
shift
folder=$root/.deps/$name
if [ -d "$folder" ]; then
    echo "$folder"
    exit 0
fi
{ command -v apt-get && command -v dpkg-deb; } >/dev/null 2>&1 ||
    die "no apt to fetch packages with" "$(uname -s)" "put the programs into $folder as their package does"

work=$root/.deps/$name.tmp
rm -rf "$work"
mkdir -p "$work/package" "$work/root"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "fetching $* to unpack into .deps/$name (nothing is installed)"
(cd "$work/package" && apt-get -qq -o APT::Sandbox::User=root download "$@") >&2 ||
    die "packages could not be fetched" "apt-get download $*" "check the network and apt's sources"
for file in "$work/package"/*.deb; do
    dpkg-deb -x "$file" "$work/root"
done
mv "$work/root" "$folder"
echo "$folder"
