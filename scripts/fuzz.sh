#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fuzzes the readers of files with libFuzzer, address and undefined-behaviour sanitizers:
#   scripts/fuzz.sh [NAME ...]      all readers of fuzz/, or these, one after the other
#   scripts/fuzz.sh --keep          what was found goes to fuzz/corpus, as few and as small inputs as cover the same
#
# SECONDS_EACH (600) and RUNS_EACH (-1: any number) end each reader's turn. Inputs that reach new code stay
# in build/fuzz/found, where the next run goes on. An input that fails is written there, too, as crash-* or
# timeout-*: mend the reader and put the input into fuzz/corpus.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/fuzz
found=$build/found
# LLVM's own memory pools: its libraries are built without the sanitizer, and poison nothing.
export ASAN_OPTIONS=allow_user_poisoning=0:allocator_may_return_null=1:${ASAN_OPTIONS:-}
[ -f $build/build.ninja ] || cmake --preset fuzz > /dev/null
readers=$(ls fuzz/corpus)
cmake --build $build --target $(for reader in $readers; do echo "fuzz_$reader"; done) > /dev/null

if [ "${1:-}" = --keep ]; then
  for reader in $readers; do
    rm -rf "$found/smallest" && mkdir -p "$found/smallest" "$found/$reader"
    $build/bin/fuzz_"$reader" -merge=1 "$found/smallest" fuzz/corpus/"$reader" "$found/$reader" 2> /dev/null
    # The forty smallest join the seeds that have names.
    ls -Sr "$found/smallest" | head -40 | while read -r input; do
      cp -n "$found/smallest/$input" fuzz/corpus/"$reader"/
    done
  done
  exit
fi

status=0
for reader in ${*:-$readers}; do
  mkdir -p "$found/$reader"
  log=$found/$reader.log
  if $build/bin/fuzz_"$reader" -max_total_time="${SECONDS_EACH:-600}" -runs="${RUNS_EACH:--1}" -timeout=10 \
      -rss_limit_mb=2048 -artifact_prefix="$found/$reader." "$found/$reader" fuzz/corpus/"$reader" 2> "$log"; then
    echo "$reader: $(grep -o 'Done .*' "$log" || tail -1 "$log")"
  else
    status=1
    echo "$reader: FAILED, see $log"
  fi
done
exit $status
