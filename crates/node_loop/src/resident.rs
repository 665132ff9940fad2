//! What an addon has in an environment, and its end.

use std::ffi::c_void;
use std::ptr;

use napi::sys;

use crate::handle::{self, Handle};

/// What an addon keeps in an environment from its making to the environment's end.
pub trait Resident {
    /// The environment ends, and waits until libuv is done with the handles that this gives. No other thread uses them from now
    /// on.
    fn leave(&mut self) -> Vec<Handle>;

    /// Their callbacks are not called any more: what they used is freed.
    fn end(&mut self);
}

/// The handles that libuv still has, of an environment that ends.
struct Closing {
    hook: sys::napi_async_cleanup_hook_handle,
    left: usize,
}

/// Tells `resident` of the end of `env`, once.
///
/// # Safety
/// `env` is the current environment. `resident` is never freed, because JavaScript's wrapper may outlive the environment's
/// end and points at it too: some bytes for each environment. No reference into it is held while JavaScript runs.
pub unsafe fn settle<T: Resident>(env: sys::napi_env, resident: *mut T) {
    // SAFETY: forwarded; the hook's own handle comes with its call.
    unsafe {
        sys::napi_add_async_cleanup_hook(env, Some(on_end::<T>), resident.cast(), ptr::null_mut());
    }
}

/// Ends a resident whose making has failed: [`settle`] has not heard of it, and nothing else knows it.
///
/// # Safety
/// On the environment's thread. `resident` is what `Box::into_raw` gave, and is not used any more.
pub unsafe fn discard<T: Resident>(resident: *mut T) {
    // SAFETY: forwarded. The handles are closed as they are dropped, and call nobody back.
    let mut resident = unsafe { Box::from_raw(resident) };
    drop(resident.leave());
    resident.end();
}

unsafe extern "C" fn on_end<T: Resident>(
    hook: sys::napi_async_cleanup_hook_handle,
    resident: *mut c_void,
) {
    let resident: *mut T = resident.cast();
    // SAFETY: runs once, on the environment's thread, with what `settle` was given.
    let handles = unsafe { (*resident).leave() };
    let left = handles.len();
    let closing = Box::into_raw(Box::new(Closing { hook, left }));
    for handle in handles {
        // SAFETY: this is the loop's thread; the last of the callbacks, which come later, frees `closing`.
        unsafe { handle.close(closing, on_closed) };
    }
    // SAFETY: as above; if there was no handle nobody else has `closing`, and this is the hook that has run.
    unsafe {
        (*resident).end();
        if left == 0 {
            drop(Box::from_raw(closing));
            sys::napi_remove_async_cleanup_hook(hook);
        }
    }
}

unsafe extern "C" fn on_closed(handle: *mut c_void) {
    // SAFETY: libuv is done with the handle, whose data is the `Closing` of its environment.
    unsafe {
        let closing: *mut Closing = handle::data_of(handle);
        handle::free(handle);
        (*closing).left -= 1;
        if (*closing).left == 0 {
            let closing = Box::from_raw(closing);
            sys::napi_remove_async_cleanup_hook(closing.hook);
        }
    }
}
