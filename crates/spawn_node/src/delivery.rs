//! Delivers events, each in a callback scope of its own: `onEvent(kind, id, a, b, bytes)`.

use std::ffi::c_void;
use std::ptr;

use napi::sys;
use node_loop::{Arguments, Callback};
use spawn_engine::wire::event::{
    DATA, DRAINED, ENDED, EXITED, FAILED, LOST, MEASURED, OVERFLOWED, STARTED, TREE_ENDED,
};
use spawn_engine::{Event, recycle};

use crate::figures;

/// Below this size, in bytes, a copy into V8's own memory is cheaper than an external buffer with its finalizer, and never
/// retains a mostly empty block of the engine.
const MIN_EXTERNAL: usize = 64 * 1024;

/// Calls `callback` with an event: ticks and promises run between two events, as they do between two of Node's own.
///
/// # Safety
/// As [`Callback::call`].
pub(crate) unsafe fn deliver(callback: Callback, event: Event) {
    let (kind, id, a, b, bytes) = match event {
        Event::Started { id } => (STARTED, id, 0, 0.0, None),
        Event::Failed { id, error } => (FAILED, id, error, 0.0, None),
        // The exit code, or the signal as a negative number.
        Event::Exited {
            id,
            pid,
            code,
            signal,
        } => (
            EXITED,
            id,
            pid,
            f64::from(if signal == 0 { code } else { -signal }),
            None,
        ),
        Event::Lost { id, pid, error } => (LOST, id, pid, error.into(), None),
        Event::Measured { id, figures } => {
            (MEASURED, id, 0, 0.0, Some(figures::bytes_of(&figures)))
        }
        Event::TreeEnded { id } => (TREE_ENDED, id, 0, 0.0, None),
        Event::Data { id, stream, bytes } => (DATA, id, stream.into(), 0.0, Some(bytes)),
        Event::Ended {
            id,
            stream,
            bytes,
            error,
        } => (ENDED, id, stream.into(), error.into(), Some(bytes)),
        Event::Drained { id, stream, bytes } => (DRAINED, id, stream.into(), bytes as f64, None),
        Event::Overflowed { id, stream, bytes } => {
            (OVERFLOWED, id, stream.into(), 0.0, Some(bytes))
        }
    };
    let fill = |arguments: &mut Arguments<5>| {
        arguments.push_i32(kind);
        arguments.push_f64(id as f64);
        arguments.push_i32(a);
        arguments.push_f64(b);
        if let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) {
            // SAFETY: inside the handle scope of the call.
            arguments.push(unsafe { buffer(arguments.env(), bytes) });
        }
    };
    // SAFETY: forwarded.
    unsafe { callback.call(fill, |_, _| ()) };
}

/// Creates a Node Buffer with these bytes.
///
/// # Safety
/// On the environment's thread, inside a handle scope.
pub(crate) unsafe fn buffer(env: sys::napi_env, bytes: Vec<u8>) -> sys::napi_value {
    let mut value = ptr::null_mut();
    // SAFETY: the copy is made before the call returns; an external buffer owns the boxed vector until its finalizer.
    unsafe {
        if bytes.len() >= MIN_EXTERNAL {
            let owner = Box::into_raw(Box::new(bytes));
            let status = sys::napi_create_external_buffer(
                env,
                (*owner).len(),
                (*owner).as_mut_ptr().cast(),
                Some(free),
                owner.cast(),
                &mut value,
            );
            if status == sys::Status::napi_ok {
                return value;
            }
            // Embedders with a memory cage (Electron) do not allow external buffers.
            copy(env, *Box::from_raw(owner), &mut value);
        } else {
            copy(env, bytes, &mut value);
        }
    }
    value
}

/// # Safety
/// As [`buffer`].
unsafe fn copy(env: sys::napi_env, bytes: Vec<u8>, value: &mut sys::napi_value) {
    // SAFETY: the bytes are copied before the call returns.
    unsafe {
        sys::napi_create_buffer_copy(
            env,
            bytes.len(),
            bytes.as_ptr().cast(),
            ptr::null_mut(),
            value,
        );
    }
    recycle(bytes);
}

unsafe extern "C" fn free(_env: sys::napi_env, _data: *mut c_void, owner: *mut c_void) {
    // SAFETY: created by `Box::into_raw` in `buffer`, finalized once.
    recycle(*unsafe { Box::from_raw(owner.cast::<Vec<u8>>()) });
}
