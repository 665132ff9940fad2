#!/usr/bin/env sh
# The engines' tests under AddressSanitizer and its leak check, and then the addon of child-process in a Node process whose workers
# change the environment that they share with it. Valgrind cannot run the spawning: it turns the clone that shares our memory into a
# fork.
set -eu
command -v cargo >/dev/null || { echo 'cargo is not installed: https://rustup.rs' >&2; exit 0; }
export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/sanitizer
host=$(rustc -vV | sed -n 's/^host: //p')
cargo test --locked --package spawn_engine --package http_engine --target "$host"
# Node itself is not built for it: the run-time library is preloaded, and sees the memory of everybody and the code of the addon.
library=$(gcc -print-file-name=libasan.so 2>/dev/null || true)
[ -e "$library" ] || { echo 'gcc has no libasan.so: the addon is not run under AddressSanitizer' >&2; exit 0; }
cargo build --locked --package spawn_node --target "$host"
exec node scripts/sanitize-addon.ts "target/sanitizer/$host/debug/libspawn_node.so" "$library"
