#!/bin/sh
# Runs in a clean root of Debian (tools/package_try.sh): installs /tmp/tlstrata.deb by apt, uses it as its reader would,
# removes it, and does the same with the tarball. Prints what it sees, ends at the first thing that does not work.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 PAGER=cat MANWIDTH=100

# expect WHAT TEXT COMMAND...: the command succeeds and prints the text.
expect() {
    what=$1
    text=$2
    shift 2
    "$@" >/tmp/said 2>&1 || {
        cat /tmp/said
        echo "FAILED: $what"
        exit 1
    }
    grep -qF -- "$text" /tmp/said || {
        cat /tmp/said
        echo "FAILED: $what: it does not say '$text'"
        exit 1
    }
    echo "ok: $what"
}

. /etc/os-release
echo "-- $PRETTY_NAME"
apt-get -q update >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
# With what it depends on, and nothing more; then what a reader of man pages and a lab need.
apt-get -q install -y --no-install-recommends /tmp/tlstrata.deb >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
dpkg-query -W -f '${Package} ${Version}\n  depends: ${Depends}\n' tlstrata
apt-get -q install -y --no-install-recommends man-db nginx >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }

expect "--version names commit, OpenSSL and provider" "commit" tlstrata --version
cat /tmp/said
expect "no library is missing" libssl.so.3 ldd /usr/bin/tlstrata
grep -F "not found" /tmp/said && exit 1
grep -E "libssl|libcrypto|libfmt" /tmp/said
expect "handshake" MLKEM1024 tlstrata handshake --handshakes 20 --runs 1
expect "handshake by the provider" X25519MLKEM512 tlstrata handshake --groups X25519MLKEM512 --handshakes 5 --runs 1
expect "man tlstrata" "EXIT STATUS" man tlstrata
expect "man tlstrata-lab" "--show-spec SPEC" man tlstrata-lab
expect "man tlstrata-serve-origin" "SYNOPSIS" man tlstrata-serve-origin

# complete LINE: what bash would offer.
complete_line() {
    bash -c '. /usr/share/bash-completion/completions/tlstrata
        COMP_LINE=$1 COMP_POINT=${#1}; read -ra COMP_WORDS <<<"$1"; _tlstrata; echo "${COMPREPLY[*]}"' bash "$1"
}
expect "bash completes a command" handshake complete_line "tlstrata ha"
expect "bash completes an option" --keep-work complete_line "tlstrata lab --ke"
expect "bash completes a group" X25519MLKEM768 complete_line "tlstrata load --groups X25519ML"

# Whether namespaces are allowed, doctor knows.
if tlstrata doctor >/tmp/said 2>&1; then
    cd /tmp
    expect "lab" complete tlstrata lab quick --scale 0.2 --out /tmp/results
    cat /tmp/said
    expect "report.html was written" report.html find /tmp/results -name report.html
else
    grep -i -A2 missing /tmp/said || cat /tmp/said
    echo "no lab: this root is not allowed what it needs"
fi

if [ -f /tmp/tlstrata-mpi.deb ]; then
    apt-get -q install -y --no-install-recommends /tmp/tlstrata-mpi.deb openmpi-bin >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
    dpkg-query -W -f '${Package} ${Version}\n  depends: ${Depends}\n' tlstrata-mpi
    expect "tlstrata-mpi --version under mpirun" /usr/lib/tlstrata/tlstrata-provider.so \
        mpirun --allow-run-as-root --oversubscribe -np 2 tlstrata-mpi --version
    expect "man tlstrata-mpi-load" "--merge-only" man tlstrata-mpi-load
    apt-get -q purge -y tlstrata-mpi >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
fi

apt-get -q purge -y tlstrata >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
apt-get -q autoremove -y >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
left=$(find /usr -name '*tlstrata*' | head)
[ -z "$left" ] || { echo "FAILED: left behind: $left"; exit 1; }
echo "ok: purged without a rest"

mkdir -p "/opt/some where"
tar -xzf /tmp/tlstrata.tar.gz -C "/opt/some where"
there=$(echo "/opt/some where"/tlstrata-*)
expect "tarball: --version" "$there/lib/tlstrata" "$there/bin/tlstrata" --version
cat /tmp/said
expect "tarball: libraries" "$there/bin/../lib/tlstrata/libssl.so.3" ldd "$there/bin/tlstrata"
grep -F "not found" /tmp/said && exit 1
expect "tarball: handshake" X25519MLKEM512 "$there/bin/tlstrata" handshake --groups X25519MLKEM512 --handshakes 5 --runs 1
expect "tarball: man page" "EXIT STATUS" man -l "$there/share/man/man1/tlstrata-lab.1"
echo "all of it works on $PRETTY_NAME"
