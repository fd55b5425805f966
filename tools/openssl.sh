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

say() { echo "openssl: $*" >&2; }
die() { echo "tlstrata: $1 ($2): $3" >&2; exit 3; }

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
    echo "$OPENSSL_ROOT"
    exit 0
fi

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

# 4. Debian's own source package, by a private apt configuration whose mirror and keyring are the machine's own.
fetch_source() {
    apt_dir=$deps/apt
    mkdir -p "$apt_dir/lists/partial" "$apt_dir/cache/archives/partial" "$apt_dir/sources.list.d" "$deps/source"
    command -v apt-get >/dev/null 2>&1 ||
        die "no OpenSSL >= 3.5 and no apt to fetch its source" "$(uname -s)" "set OPENSSL_ROOT to a prefix or OPENSSL_TARBALL to a source archive"
    # deb822 and one-line sources alike: the first Debian mirror and its keyring.
    mirror=$(cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk '/^URIs:/ {for (i = 2; i <= NF; i++) if ($i ~ /\/debian\/?$/) {print $i; exit}}')
    [ -n "$mirror" ] || mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        awk '$1 == "deb" {for (i = 2; i <= NF; i++) if ($i ~ /\/debian\/?$/) {print $i; exit}}')
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -n "$mirror" ] && [ -f "$keyring" ] ||
        die "no OpenSSL >= 3.5 and no Debian mirror to fetch its source from" "apt's sources" "set OPENSSL_ROOT to a prefix or OPENSSL_TARBALL to a source archive"
    printf 'Types: deb-src\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' "$mirror" "$keyring" \
        >"$apt_dir/sources.list.d/source.sources"
    private_apt() {
        tool=$1
        shift
        "$tool" -qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$apt_dir/sources.list.d" \
            -o "Dir::State::Lists=$apt_dir/lists" -o "Dir::Cache=$apt_dir/cache" -o "APT::Sandbox::User=" \
            -o "APT::Get::List-Cleanup=false" "$@"
    }
    say "reading the list of Debian's source packages (private, under .deps/)"
    private_apt apt-get update >&2 ||
        die "the Debian mirror cannot be read" "apt-get update" "check the network, or set OPENSSL_ROOT or OPENSSL_TARBALL"
    # The newest listed version can be missing from a mirror: from new to old, the first that comes.
    versions=$(private_apt apt-cache showsrc openssl | sed -n 's/^Version: //p' | sort -rVu)
    for version in $versions; do
        at_least "$version" "$minimum" || continue
        say "fetching the source of $version"
        (cd "$deps/source" && private_apt apt-get source --download-only "openssl=$version" >&2) || continue
        upstream=${version%%-*}
        archive=$deps/source/openssl_$upstream.orig.tar.gz
        [ -f "$archive" ] && return 0
    done
    die "no OpenSSL >= 3.5 source came from the mirror" "tried: $(echo $versions)" "set OPENSSL_ROOT to a prefix or OPENSSL_TARBALL to a source archive"
}

# An archive that an earlier, interrupted run fetched is used again.
archive=${OPENSSL_TARBALL:-$(ls "$deps"/source/openssl_*.orig.tar.gz 2>/dev/null | sort -V | tail -n 1)}
[ -n "$archive" ] || fetch_source
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

say "building OpenSSL $version into $prefix, some 6 minutes on 2 cores; log: $log"
compiler=${CC:-cc}
command -v ccache >/dev/null 2>&1 && compiler="ccache $compiler"
(
    cd "$work"
    # Fixed paths, not this checkout's: every compiler call carries them, so a second checkout hits the compiler cache.
    # The openssldir is Debian's, so that "the system's roots" are the system's.
    CC=$compiler ./Configure --prefix=/usr/local --openssldir=/usr/lib/ssl --libdir=lib no-docs no-tests shared
    make -j"$(nproc)"
    make install_sw DESTDIR="$work/stage"
    rm -rf "$prefix"
    mv "$work/stage/usr/local" "$prefix"
) >"$log" 2>&1 &
builder=$!
trap 'kill $builder 2>/dev/null' INT TERM
total=1100 # compiler calls of a build without tests, for the progress line only
while kill -0 $builder 2>/dev/null; do
    done_so_far=$(grep -c -- ' -c -o ' "$log" 2>/dev/null || true)
    if [ -t 2 ]; then printf '\ropenssl: %s of about %s files compiled ' "$done_so_far" "$total" >&2; fi
    sleep 2
done
[ -t 2 ] && echo >&2
wait $builder || die "OpenSSL did not build" "$log" "read the log's last lines"
touch "$prefix/.complete"
rm -rf "$work" # the installed prefix is what is used; the source archive stays
say "OpenSSL $version is ready"
echo "$prefix"
