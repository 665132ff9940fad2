#!/usr/bin/env sh
# The engines' tests under AddressSanitizer and its leak check. Valgrind cannot run the spawning: it turns the clone that shares
# our memory into a fork.
set -eu
command -v cargo >/dev/null || { echo 'cargo is not installed: https://rustup.rs' >&2; exit 0; }
export RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=target/sanitizer
exec cargo test --locked --package spawn_engine --package http_engine --target "$(rustc -vV | sed -n 's/^host: //p')"
