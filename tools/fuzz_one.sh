#!/bin/sh
# Runs one fuzzer of build/asan for a time. Exit 1 where it found something.
#
# In:      SECONDS NAME (of fuzz/NAME_fuzz.cpp).
# Out:     one line on stderr; build/asan/found/NAME.log, new inputs in build/asan/found/NAME/corpus, findings beside them.
set -eu
cd "$(dirname "$0")/.."
. tools/say.sh
seconds=$1
name=$2
found=build/asan/found/$name
log=$found.log
mkdir -p "$found/corpus"
# Where a change is judged, the change is to decide and not luck: the same seed, and a schedule that does not depend on how
# long inputs took. Other runs draw their own.
chance=
[ "${CI:-}" != true ] || chance='-seed=1 -entropic=0'
# shellcheck disable=SC2086
if "build/asan/${name}_fuzz" $chance -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -artifact_prefix="$found/" "$found/corpus" "fuzz/corpus/$name" >"$log" 2>&1; then
    say "fuzz $name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s, no finding"
else
    tail -n 40 "$log" >&2
    die "fuzz $name found something" "$found" "run build/asan/${name}_fuzz with the file there"
fi
