#!/bin/sh
# Fuzzes every decoder for a time each: local/fuzz.sh 60s
set -eu
time=${1:-10s}
out=$(mktemp)
trap 'rm -f "$out"' EXIT
grep -rlE '^func Fuzz' --include='*_test.go' shared functions local events | sort | while read -r file; do
  dir=./$(dirname "$file")
  grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r name; do
    echo "== $dir $name $time"
    # Each input that covers something new is made smaller first, for up to a
    # minute (go help testflag), in which nothing is tried: ten runs will do.
    if go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x "$dir" >"$out" 2>&1; then
      cat "$out"
      continue
    fi
    cat "$out"
    # The fuzzer calls it a failure when its time ends in the middle of an
    # input. A finding names the input that it wrote.
    if grep -q 'context deadline exceeded' "$out" && ! grep -qE 'Failing input|panic:' "$out"; then
      echo "its time was over; no finding"
      continue
    fi
    exit 1
  done
done
