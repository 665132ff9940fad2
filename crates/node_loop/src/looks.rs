//! How far the loop of an environment is.

use std::ffi::c_int;
use std::ptr::null_mut;

use napi::sys;

/// libuv's `uv_metrics_t`, since libuv 1.45.
#[repr(C)]
#[derive(Default)]
struct Metrics {
    loop_count: u64,
    events: u64,
    events_waiting: u64,
    reserved: [usize; 13],
}

unsafe extern "C" {
    fn uv_metrics_info(uv_loop: *mut sys::uv_loop_s, metrics: *mut Metrics) -> c_int;
}

/// How often the loop has looked at its descriptors. It counts a look before it looks.
///
/// # Safety
/// `env` is the current environment, and this is its thread.
#[must_use]
pub unsafe fn looks(env: sys::napi_env) -> u64 {
    let mut uv_loop = null_mut();
    let mut metrics = Metrics::default();
    // SAFETY: the loop is that of `env`; `metrics` has the layout that libuv writes, and outlives the call.
    unsafe {
        if sys::napi_get_uv_event_loop(env, &mut uv_loop) == sys::Status::napi_ok {
            uv_metrics_info(uv_loop, &mut metrics);
        }
    }
    metrics.loop_count
}
