//! Measurements of a child, as the numbers that JavaScript reads.

use std::time::Duration;

use spawn_engine::wire::figure::{
    COUNT, ENDED, INVOLUNTARY, PEAK_KIB, QUEUED, STARTED, SYSTEM_MICROS, TAKEN, USER_MICROS,
    VOLUNTARY,
};
use spawn_engine::{Figures, Usage};

/// The numbers, indexed by `FIGURE`.
pub(crate) fn numbers(figures: &Figures) -> [f64; COUNT] {
    let mut numbers = [0.0; COUNT];
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let times = &figures.times;
    numbers[QUEUED] = millis(times.queued);
    numbers[TAKEN] = millis(times.taken);
    numbers[STARTED] = millis(times.started);
    numbers[ENDED] = millis(times.ended);
    numbers[USER_MICROS] = -1.0;
    if let Some(usage) = &figures.usage {
        fill(&mut numbers, usage);
    }
    numbers
}

fn fill(numbers: &mut [f64; COUNT], usage: &Usage) {
    let micros = |time: Duration| time.as_micros() as f64;
    numbers[USER_MICROS] = micros(usage.user);
    numbers[SYSTEM_MICROS] = micros(usage.system);
    numbers[PEAK_KIB] = usage.peak_kib as f64;
    numbers[VOLUNTARY] = usage.voluntary_switches as f64;
    numbers[INVOLUNTARY] = usage.involuntary_switches as f64;
}

/// The same numbers as bytes.
pub(crate) fn bytes_of(figures: &Figures) -> Vec<u8> {
    numbers(figures)
        .into_iter()
        .flat_map(f64::to_ne_bytes)
        .collect()
}
