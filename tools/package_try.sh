#!/bin/sh
# Installs the packages of build/package in clean roots of Debian and runs what is in them there: the program, its man page,
# its completion, a lab where namespaces are allowed, and the tarball. Needs root (chroot) and debootstrap.
#
# In:      SUITE... [bookworm trixie]; those older than the package was built for are told and left out. PACKAGE_ROOTS names
#          the folder for the roots [a temporary one, removed at the end]; bases that lie there are used again.
# Out:     what was seen, on stdout. Exit 1 where something does not work.
# Touches: the roots. Their packages come from the machine's own mirror, by the machine's own apt settings.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/say.sh"
. "$root/tools/mirror.sh"
packages=$root/build/package
[ "$(id -u)" -eq 0 ] || die "clean roots need root" "user $(id -un)" "run it as root or by sudo"
# shellcheck disable=SC2012
deb=$(ls -t "$packages"/tlstrata_*.deb 2>/dev/null | head -n 1)
# shellcheck disable=SC2012
tarball=$(ls -t "$packages"/tlstrata-*.tar.gz 2>/dev/null | head -n 1)
if [ -z "$deb" ] || [ -z "$tarball" ]; then
    die "there are no packages" "$packages" "say ./run package"
fi
mirror=$(mirror_of debian)
[ -n "$mirror" ] || die "no Debian mirror" "apt's sources" "name one in /etc/apt/sources.list.d"
[ $# -gt 0 ] || set -- bookworm trixie

roots=${PACKAGE_ROOTS:-}
if [ -z "$roots" ]; then
    roots=$(mktemp -d)
    trap 'rm -rf --one-file-system "$roots"' EXIT
fi
trap 'exit 130' INT TERM

# base SUITE: a root as debootstrap makes it, once.
base() {
    [ -f "$roots/$1-base/.complete" ] && return
    say "debootstrap makes a clean $1"
    rm -rf --one-file-system "${roots:?}/$1-base"
    debootstrap --variant=minbase "$1" "$roots/$1-base" "$mirror" >"$roots/$1.log" 2>&1 ||
        die "debootstrap failed" "$roots/$1.log" "read its last lines"
    # The machine's way to its mirror, a proxy for instance.
    apt-config dump | grep -E '^Acquire::[^:]*[Pp]roxy|^Acquire::Check' >"$roots/$1-base/etc/apt/apt.conf.d/00host" || true
    # Nothing is started in here.
    printf '#!/bin/sh\nexit 101\n' >"$roots/$1-base/usr/sbin/policy-rc.d"
    chmod 755 "$roots/$1-base/usr/sbin/policy-rc.d"
    touch "$roots/$1-base/.complete"
}

# inside FOLDER COMMAND...: with /proc, /sys and /dev, in name spaces of its own, so that nothing is left mounted or running.
inside() {
    folder=$1
    shift
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
        folder=$1
        shift
        mount -t proc proc "$folder/proc" && mount --rbind /sys "$folder/sys" && mount --rbind /dev "$folder/dev" &&
            exec chroot "$folder" "$@"' sh "$folder" "$@"
}

# The revision names the Debian that it was built on.
built_on=$(dpkg-deb -f "$deb" Version | sed -n 's/.*~deb\([0-9]*\)u.*/\1/p')
failed=
for suite in "$@"; do
    case $suite in bookworm) release=12 ;; trixie) release=13 ;; *) release=99 ;; esac
    if [ "$release" -lt "${built_on:-0}" ]; then
        say "$(basename "$deb") was built for a newer Debian than $suite: not tried there"
        continue
    fi
    base "$suite"
    rm -rf --one-file-system "${roots:?}/$suite"
    cp -a "$roots/$suite-base" "$roots/$suite"
    cp /etc/resolv.conf "$roots/$suite/etc/resolv.conf"
    cp "$deb" "$roots/$suite/tmp/tlstrata.deb"
    cp "$tarball" "$roots/$suite/tmp/tlstrata.tar.gz"
    # shellcheck disable=SC2012
    mpi=$(ls -t "$packages"/tlstrata-mpi_*.deb 2>/dev/null | head -n 1)
    [ -z "$mpi" ] || cp "$mpi" "$roots/$suite/tmp/tlstrata-mpi.deb"
    cp "$root/tools/package_try_inside.sh" "$roots/$suite/tmp/try.sh"
    echo "== $suite: $(basename "$deb"), $(basename "$tarball")"
    inside "$roots/$suite" sh /tmp/try.sh || failed="$failed $suite"
    rm -rf --one-file-system "${roots:?}/$suite"
done
[ -z "$failed" ] || die "not everything works" "clean$failed" "see the messages above"
say "the packages work in clean roots of: $*"
