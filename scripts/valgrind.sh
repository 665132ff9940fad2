#!/usr/bin/env sh
# The engine's own tests under valgrind: no invalid access, no descriptor left open. Children are not followed: between
# clone and exec they borrow the parent's memory, which is the point.
set -eu
command -v valgrind >/dev/null || { echo 'There is no valgrind: sudo apt-get install valgrind' >&2; exit 0; }
cargo test --locked --package spawn_engine --no-run
binary=$(cargo test --locked --package spawn_engine --no-run --message-format=json 2>/dev/null |
  sed -n 's/.*"executable":"\([^"]*spawn_engine[^"]*\)".*/\1/p' | head -n 1)
valgrind --quiet --error-exitcode=1 --trace-children=no --leak-check=full --errors-for-leak-kinds=definite \
  --show-leak-kinds=definite "$binary" --test-threads=1
