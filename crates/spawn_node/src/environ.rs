//! This process's environment, as the block that a child gets.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::sync::Arc;

use napi_derive::napi;
use spawn_engine::Environment;

unsafe extern "C" {
    static environ: *const *const c_char;
}

thread_local! {
    static LAST: RefCell<Arc<Environment>> = RefCell::default();
}

/// `KEY=value` strings, each NUL-ended. Called on Node's main thread, whose `process.env` is what changes them. The
/// block is made again only when a string has changed.
pub(crate) fn snapshot() -> Arc<Environment> {
    LAST.with_borrow_mut(|last| {
        if !is_current(last.block()) {
            let block = strings().flatten().copied().collect();
            *last = Arc::new(Environment::new(block));
        }
        Arc::clone(last)
    })
}

fn is_current(block: &[u8]) -> bool {
    let mut rest = block;
    for string in strings() {
        let Some(after) = rest.strip_prefix(string) else {
            return false;
        };
        rest = after;
    }
    rest.is_empty()
}

fn strings<'a>() -> impl Iterator<Item = &'a [u8]> {
    // SAFETY: `environ` is null or a null-terminated table of C strings, and the thread that writes it is the one that
    // reads it here, for no longer than this module's functions run.
    let mut entry = unsafe { environ };
    std::iter::from_fn(move || {
        // SAFETY: as above; the iteration ends at the terminator.
        unsafe {
            if entry.is_null() || (*entry).is_null() {
                return None;
            }
            let string = CStr::from_ptr(*entry).to_bytes_with_nul();
            entry = entry.add(1);
            Some(string)
        }
    })
}

/// The value of a variable in the process's own environment, whatever `process.env` has been replaced with.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn real_environment_variable(name: String) -> Option<String> {
    std::env::var(name).ok()
}
