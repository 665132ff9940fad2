//! One call into JavaScript per batch.

use std::ptr;

use napi::sys;

/// Calls `callback(words)` in a callback scope: ticks and promises run once, behind the whole batch. What it throws
/// becomes an uncaught exception.
///
/// # Safety
/// On the environment's thread, outside of any JavaScript, with `env` alive.
pub(crate) unsafe fn deliver(env: sys::napi_env, callback: sys::napi_ref, words: usize) {
    // SAFETY: every handle made here lives in the scope opened here; `callback` is a live reference of `env`.
    unsafe {
        let mut scope = ptr::null_mut();
        sys::napi_open_handle_scope(env, &mut scope);
        let mut function = ptr::null_mut();
        sys::napi_get_reference_value(env, callback, &mut function);
        let mut global = ptr::null_mut();
        sys::napi_get_global(env, &mut global);
        let mut argument = ptr::null_mut();
        sys::napi_create_uint32(env, words as u32, &mut argument);
        let mut result = ptr::null_mut();
        let status = sys::napi_make_callback(
            env,
            ptr::null_mut(),
            global,
            function,
            1,
            &argument,
            &mut result,
        );
        if status == sys::Status::napi_pending_exception {
            let mut error = ptr::null_mut();
            sys::napi_get_and_clear_last_exception(env, &mut error);
            sys::napi_fatal_exception(env, error);
        }
        sys::napi_close_handle_scope(env, scope);
    }
}
