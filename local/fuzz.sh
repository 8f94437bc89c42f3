#!/bin/sh
# Fuzzes every decoder for a time each: local/fuzz.sh 60s
set -eu
time=${1:-10s}
grep -rlE '^func Fuzz' --include='*_test.go' shared functions local events | sort | while read -r file; do
  dir=./$(dirname "$file")
  grep -oE '^func Fuzz[A-Za-z0-9_]*' "$file" | sed 's/^func //' | while read -r name; do
    echo "== $dir $name $time"
    go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$dir"
  done
done
