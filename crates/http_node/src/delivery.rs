//! One call into JavaScript per batch.

use std::ptr;

use napi::sys;

/// Calls `callback(from, words)` in a callback scope, and gives how far it has read: ticks and promises run once, behind all
/// that it has read. What it throws becomes an uncaught exception, and the rest is not read.
///
/// # Safety
/// On the environment's thread, outside of any JavaScript, with `env` alive.
pub(crate) unsafe fn deliver(
    env: sys::napi_env,
    callback: sys::napi_ref,
    from: usize,
    words: usize,
) -> usize {
    // SAFETY: every handle made here lives in the scope opened here; `callback` is a live reference of `env`.
    unsafe {
        let mut scope = ptr::null_mut();
        sys::napi_open_handle_scope(env, &mut scope);
        let mut function = ptr::null_mut();
        sys::napi_get_reference_value(env, callback, &mut function);
        let mut global = ptr::null_mut();
        sys::napi_get_global(env, &mut global);
        let mut arguments = [ptr::null_mut(); 2];
        sys::napi_create_uint32(env, from as u32, &mut arguments[0]);
        sys::napi_create_uint32(env, words as u32, &mut arguments[1]);
        let mut result = ptr::null_mut();
        let status = sys::napi_make_callback(
            env,
            ptr::null_mut(),
            global,
            function,
            arguments.len(),
            arguments.as_ptr(),
            &mut result,
        );
        if status == sys::Status::napi_pending_exception {
            let mut error = ptr::null_mut();
            sys::napi_get_and_clear_last_exception(env, &mut error);
            sys::napi_fatal_exception(env, error);
        }
        let mut read = words as u32;
        if status == sys::Status::napi_ok {
            sys::napi_get_value_uint32(env, result, &mut read);
        }
        sys::napi_close_handle_scope(env, scope);
        read as usize
    }
}
