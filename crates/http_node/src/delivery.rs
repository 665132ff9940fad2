//! One call into JavaScript per batch.

use napi::sys;
use node_loop::{Arguments, Callback};

/// What is left of a locked batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub from: usize,
    pub words: usize,
}

/// Calls `callback(from, words)`, and gives how far it has read: ticks and promises run once, behind all that it has read. When
/// it throws the rest is not read.
///
/// # Safety
/// As [`Callback::call`].
pub(crate) unsafe fn deliver(callback: Callback, from: usize, words: usize) -> usize {
    let fill = |arguments: &mut Arguments<2>| {
        arguments.push_u32(from as u32);
        arguments.push_u32(words as u32);
    };
    let read = |env, result| {
        let mut read = words as u32;
        // SAFETY: a value of the call's scope.
        unsafe { sys::napi_get_value_uint32(env, result, &mut read) };
        read as usize
    };
    // SAFETY: forwarded.
    unsafe { callback.call(fill, read) }.unwrap_or(words)
}
