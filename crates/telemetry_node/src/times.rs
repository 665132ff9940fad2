//! The two clocks.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use telemetry_engine::Now;

/// Reads CLOCK_MONOTONIC, which all writers use, and the time of day.
pub(crate) fn now() -> Now {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time lives through the call, which fills it.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Now {
        monotonic: Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
        epoch: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default(),
    }
}
