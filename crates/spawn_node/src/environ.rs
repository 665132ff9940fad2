//! This process's environment as the block a child gets.

use std::ffi::CStr;

use napi_derive::napi;

unsafe extern "C" {
    static environ: *const *const std::ffi::c_char;
}

/// `KEY=value` strings, each NUL-ended. Called on Node's main thread, whose `process.env` is what changes them.
pub(crate) fn snapshot() -> Vec<u8> {
    let mut block = Vec::with_capacity(4096);
    // SAFETY: `environ` is a null-terminated table of C strings; the thread that writes it is the one that reads it here.
    unsafe {
        let mut entry = environ;
        while !entry.is_null() && !(*entry).is_null() {
            block.extend_from_slice(CStr::from_ptr(*entry).to_bytes_with_nul());
            entry = entry.add(1);
        }
    }
    block
}

/// The value of a variable in the process's own environment, whatever `process.env` has been replaced with.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn real_environment_variable(name: String) -> Option<String> {
    std::env::var(name).ok()
}
