#!/bin/sh
# Finds or builds the OpenSSL (>= 3.5, the first with ML-KEM) that tlstrata is linked to, and prints its prefix.
#
# In:   OPENSSL_ROOT     use this prefix as it is
#       OPENSSL_TARBALL  build from this source archive (openssl-X.Y.Z.tar.gz or Debian's .orig.tar.gz)
# Out:  one line on stdout: the prefix ("system" where the system's own library is new enough); progress on stderr.
# Files: only .deps/ of this checkout. The system's apt configuration is read, never written.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/.deps
minimum=3.5.0

. "$root/tools/say.sh"
. "$root/tools/mirror.sh"

# at_least A B: true when version A >= B.
at_least() { [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

# version_of PREFIX: the version that a prefix's headers state.
version_of() {
    sed -n 's/^# *define OPENSSL_VERSION_STR "\([0-9.]*\)"/\1/p' "$1/include/openssl/opensslv.h" 2>/dev/null | head -n 1
}

# 1. A prefix that the user names.
if [ -n "${OPENSSL_ROOT:-}" ]; then
    found=$(version_of "$OPENSSL_ROOT")
    [ -n "$found" ] || die "no OpenSSL headers" "OPENSSL_ROOT=$OPENSSL_ROOT" "name a prefix with include/openssl and lib"
    at_least "$found" "$minimum" || die "OpenSSL $found is too old" "OPENSSL_ROOT=$OPENSSL_ROOT" "ML-KEM needs 3.5 or newer"
    (cd "$OPENSSL_ROOT" && pwd)
    exit 0
fi

# Two at a time, of checkouts that share .deps, would build in one folder.
mkdir -p "$deps"
exec 9>"$deps/.lock"
command -v flock >/dev/null 2>&1 && flock 9

# 2. One that an earlier run built here.
for prefix in "$deps"/openssl-*; do
    [ -f "$prefix/.complete" ] || continue
    echo "$prefix"
    exit 0
done

# 3. The system's.
if [ -z "${OPENSSL_TARBALL:-}" ] && command -v pkg-config >/dev/null 2>&1 && pkg-config --atleast-version=$minimum openssl; then
    echo system
    exit 0
fi

# 4. The distribution's own source package, by a private apt configuration whose mirror and keyring are the machine's own.
way_out="set OPENSSL_ROOT to a prefix or OPENSSL_TARBALL to a source archive of openssl.org"

private_apt() {
    tool=$1
    shift
    "$tool" -qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$apt_dir/sources.list.d" \
        -o "Dir::State::Lists=$apt_dir/lists" -o "Dir::Cache=$apt_dir/cache" -o "APT::Sandbox::User=" \
        -o "APT::Get::List-Cleanup=false" "$@"
}

# fetch_source: leaves the upstream archive of the newest version that the mirror really has in .deps/source/.
fetch_source() {
    apt_dir=$deps/apt
    command -v apt-get >/dev/null 2>&1 ||
        die "no OpenSSL >= 3.5 and no apt to fetch its source" "$(uname -s)" "$way_out"
    # The first release of each distribution that has 3.5.
    case $(. /etc/os-release && echo "$ID ${ID_LIKE:-}") in
    *ubuntu*) suite=resolute distribution=ubuntu keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg ;;
    *) suite=trixie distribution=debian keyring=/usr/share/keyrings/debian-archive-keyring.gpg ;;
    esac
    mirror=$(mirror_of "$distribution")
    if [ -z "$mirror" ] || [ ! -f "$keyring" ]; then
        die "no OpenSSL >= 3.5 and no $distribution mirror to fetch its source from" "apt's sources" "$way_out"
    fi
    mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial" "$apt_dir/sources.list.d" "$deps/source/partial"
    printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "$mirror" "$suite" "$keyring" \
        >"$apt_dir/sources.list.d/source.sources"
    say "reading the list of $suite's source packages (private, under .deps/)"
    private_apt apt-get update >&2 || die "the mirror cannot be read" "apt-get update" "check the network, or $way_out"
    # The newest listed version can be missing from a mirror: from new to old, the first that comes.
    versions=$(private_apt apt-cache showsrc openssl | sed -n 's/^Version: //p' | sort -rVu)
    for version in $versions; do
        at_least "$version" "$minimum" || continue
        say "fetching the source of OpenSSL $version"
        (cd "$deps/source/partial" && private_apt apt-get source --download-only "openssl=$version") >"$apt_dir/fetch.log" 2>&1 || {
            say "the mirror lacks $version"
            continue
        }
        # Moved only when apt has checked it: an interrupted fetch must not look whole.
        mv "$deps/source/partial/openssl_${version%%-*}.orig.tar.gz" "$deps/source/" && return 0
    done
    die "no OpenSSL >= 3.5 source came from the mirror" "$apt_dir/fetch.log" "$way_out"
}

# find_archive: an archive that an earlier run fetched.
find_archive() { find "$deps/source" -maxdepth 1 -name 'openssl_*.orig.tar.gz' 2>/dev/null | sort -V | tail -n 1; }

archive=${OPENSSL_TARBALL:-$(find_archive)}
if [ -z "$archive" ]; then
    fetch_source
    archive=$(find_archive)
fi
[ -f "$archive" ] || die "no such source archive" "OPENSSL_TARBALL=$archive" "name an openssl .tar.gz"

work=$deps/build-openssl
rm -rf "$work"
mkdir -p "$work"
tar -xf "$archive" -C "$work" --strip-components=1
major=$(sed -n 's/^MAJOR=//p' "$work/VERSION.dat")
minor=$(sed -n 's/^MINOR=//p' "$work/VERSION.dat")
patch=$(sed -n 's/^PATCH=//p' "$work/VERSION.dat")
version=$major.$minor.$patch
at_least "$version" "$minimum" || die "OpenSSL $version is too old" "$archive" "ML-KEM needs 3.5 or newer"
prefix=$deps/openssl-$version
log=$deps/build-openssl.log

say "building OpenSSL $version into $prefix, some 3 minutes on 2 cores; log: $log"
compiler=${CC:-cc}
command -v ccache >/dev/null 2>&1 && compiler="ccache $compiler"

# progress: counts compiler calls on a terminal, for as long as the build below runs.
progress() {
    about=1250 # of a build without tests and archives
    while sleep 2; do
        printf '\ropenssl: %s of about %s files compiled ' "$(grep -c -- ' -c -o ' "$log")" "$about" >&2
    done
}
: >"$log"
watcher=
if [ -t 2 ]; then
    progress &
    watcher=$!
fi
stop_watching() {
    [ -z "$watcher" ] || { kill "$watcher" && echo >&2; } 2>/dev/null
    watcher=
}
trap stop_watching EXIT
trap 'exit 130' INT TERM
# The build runs in the foreground, so that Ctrl-C reaches it.
if ! (
    set -e
    cd "$work"
    # The archives are left out (LIBS=): they are every file compiled a second time, and nothing here links them.
    # Fixed paths, not this checkout's: every compiler call carries them, so a second checkout hits the compiler cache.
    # The openssldir is Debian's, so that "the system's roots" are the system's.
    CC=$compiler ./Configure --prefix=/usr/local --openssldir=/usr/lib/ssl --libdir=lib no-docs no-tests shared &&
        make -j"$(nproc)" LIBS= && make install_sw LIBS= INSTALL_LIBS= DESTDIR="$work/stage"
) >"$log" 2>&1; then
    die "OpenSSL did not build" "$log" "read the log's last lines"
fi
stop_watching
rm -rf "$prefix"
mv "$work/stage/usr/local" "$prefix"
touch "$prefix/.complete"
rm -rf "$work" # the installed prefix is what is used; the source archive stays
say "OpenSSL $version is ready"
echo "$prefix"
