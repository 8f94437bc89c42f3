#!/bin/sh
# Fuzzes every decoder for a time each: tools/fuzz.sh 60s; those of some files: tools/fuzz.sh 60s FILE…
set -eu
time=${1:-10s}
if [ $# -lt 2 ]; then
  # Two at a time: linking a test takes one core, and longer than a second of fuzzing.
  grep -rlE '^func Fuzz' --include='*_test.go' cmd shared functions command stage tools events infra | sort | xargs -P 2 -n 1 sh "$0" "$time"
  exit
fi
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for file in "$@"; do
  dir=./$(dirname "$file")
  for name in $(grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //'); do
    # Each input that covers something new is made smaller first, for up to a
    # minute (go help testflag), in which nothing is tried: ten runs will do.
    status=0
    go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x "$dir" >"$out" 2>&1 || status=$?
    echo "== $dir $name $time"
    cat "$out"
    if [ "$status" -eq 0 ]; then
      continue
    fi
    # The fuzzer calls it a failure when its time ends in the middle of an
    # input. A finding names the input that it wrote.
    if grep -q 'context deadline exceeded' "$out" && ! grep -qE 'Failing input|panic:' "$out"; then
      echo "its time was over; no finding"
      continue
    fi
    exit 1
  done
done
