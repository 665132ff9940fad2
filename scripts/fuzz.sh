#!/usr/bin/env sh
# Fuzzes the HTTP engine, some seconds per target (default 20). Needs a nightly compiler and cargo-fuzz; the same bodies run
# from a fixed seed in `npm run test:rust`, with neither.
set -eu
cd "$(dirname "$0")/../crates/http_engine"
seconds=${1:-20}
if ! cargo +nightly --version >/dev/null 2>&1 || ! cargo fuzz --version >/dev/null 2>&1; then
  echo 'Fuzzing is skipped: it needs a nightly compiler and cargo-fuzz (cargo install cargo-fuzz).' >&2
  exit 0
fi
for target in head chunked proxy wire; do
  # New inputs stay out of the committed corpus.
  found=$(mktemp -d)
  cargo +nightly fuzz run --target-dir ../../target/fuzz "$target" "$found" "fuzz/corpus/$target" -- -max_total_time="$seconds" -max_len=4096
  rm -r "$found"
done
