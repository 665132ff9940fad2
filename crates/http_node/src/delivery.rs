//! Delivers batches, each in one call into JavaScript.

use napi::sys;
use node_loop::{Arguments, Callback};

/// The remainder of a locked batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub from: usize,
    pub words: usize,
}

/// Max exceptions of ticks behind one call. Each tick that throws costs one.
const MAX_EXCEPTIONS: usize = 10_000;

/// Calls `callback(from, words)`, and returns the position it has read to: ticks and promises run once, after all the records it
/// has read. If one of these throws, the call fails although the records were read: `callback(0, 0)` then returns the position.
///
/// # Safety
/// As [`Callback::call`].
pub(crate) unsafe fn deliver(callback: Callback, from: usize, words: usize) -> usize {
    let read = |env, result| {
        let mut read = words as u32;
        // SAFETY: a value of the call's scope.
        unsafe { sys::napi_get_value_uint32(env, result, &mut read) };
        read as usize
    };
    let call = |from: usize, words: usize| {
        let fill = |arguments: &mut Arguments<2>| {
            arguments.push_u32(from as u32);
            arguments.push_u32(words as u32);
        };
        // SAFETY: forwarded.
        unsafe { callback.call(fill, read) }
    };
    call(from, words)
        .or_else(|| (0..MAX_EXCEPTIONS).find_map(|_| call(0, 0)))
        .unwrap_or(words)
}
