#!/bin/sh
# Makes the page of report.html from web/, with the packages of web/package-lock.json.
#
# In:      FILE: where the page goes, as C++; without it only the packages are fetched.
# Out:     FILE, and beside it report_page.html. Exit 3 where npm or its packages cannot be had.
# Touches: web/node_modules, FILE.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/tools/say.sh"
cd "$root/web"

for program in node npm; do
    command -v "$program" >/dev/null 2>&1 ||
        die "$program is missing: it makes the page of report.html" "web/" "say ./run setup, or install Node.js 18 or newer"
done

# Two builds at a time share what npm brings.
exec 9>.lock
command -v flock >/dev/null 2>&1 && flock 9
if ! cmp -s package-lock.json node_modules/.made-from; then
    say "fetching the packages of web/package-lock.json from npm"
    rm -rf node_modules
    npm ci --no-audit --no-fund --ignore-scripts --no-progress --loglevel=error >&2 ||
        die "npm could not fetch the packages of the report's page" "web/package-lock.json" \
            "check that npm reaches its registry (npm ping), then build again"
    cp package-lock.json node_modules/.made-from
fi
exec 9>&-

[ $# -eq 0 ] || node build.mjs "$1"
