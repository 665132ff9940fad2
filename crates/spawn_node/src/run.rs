//! The Sync functions: one process, awaited on the environment's thread.

use std::time::Duration;

use napi::bindgen_prelude::{BufferSlice, Uint8Array};
use napi::{Env, Result};
use napi_derive::napi;
use spawn_engine::{Figures, Limits};

use crate::figures::numbers;
use crate::request::request;

/// The outcome of a process run to its end.
#[napi(object)]
pub struct Ran<'env> {
    /// 0, or the error number, negated.
    pub error: i32,
    /// Its id; 0 when it could not be started.
    pub pid: i32,
    /// The exit code; -1 if a signal ended it or the code is unknown.
    pub code: i32,
    /// The signal that ended it, or 0.
    pub signal: i32,
    /// Output of each pipe except stdin, by descriptor. `None` if the process could not be started.
    pub outputs: Option<Vec<Option<BufferSlice<'env>>>>,
    /// Resource usage, indexed by `FIGURE`, if requested and known.
    pub figures: Option<Vec<f64>>,
}

/// Runs a process to its end. `timeout_ms` and `max_buffer` are 0 for no limit. `grace_ms` is as in `Port.end_tree`. The other
/// parameters are as in `Port.spawn`.
#[napi]
#[cfg_attr(test, allow(dead_code))]
#[allow(clippy::too_many_arguments)]
pub fn run(
    env: &Env,
    file: String,
    args: String,
    pairs: Option<String>,
    cwd: Option<String>,
    detached: bool,
    uid: Option<i32>,
    gid: Option<i32>,
    stdio: Vec<i32>,
    input: Option<Uint8Array>,
    timeout_ms: f64,
    max_buffer: f64,
    kill_signal: i32,
    extras: u32,
    grace_ms: f64,
) -> Result<Ran<'_>> {
    let request = request(
        file, args, pairs, cwd, detached, uid, gid, stdio, 0.0, extras,
    );
    let limits = Limits {
        timeout: (timeout_ms > 0.0).then(|| Duration::from_millis(timeout_ms as u64)),
        output: (max_buffer > 0.0).then_some(max_buffer as usize),
        signal: kill_signal,
        grace: Duration::from_secs_f64(grace_ms / 1e3),
    };
    let outcome = match spawn_engine::run(request, input.as_deref().unwrap_or_default(), limits) {
        Ok(outcome) => outcome,
        Err(error) => {
            return Ok(Ran {
                error: -error,
                pid: 0,
                code: -1,
                signal: 0,
                outputs: None,
                figures: None,
            });
        }
    };
    let (code, signal) = outcome.status.unwrap_or((-1, 0));
    let outputs: Result<_> = outcome
        .outputs
        .into_iter()
        // Copied: memory that is handed over is freed on a turn of the loop, and a program that only runs Sync functions never
        // takes one.
        .map(|bytes| {
            bytes
                .map(|bytes| BufferSlice::copy_from(env, bytes))
                .transpose()
        })
        .collect();
    Ok(Ran {
        error: -outcome.error,
        pid: outcome.pid,
        code: if signal == 0 { code } else { -1 },
        signal,
        outputs: Some(outputs?),
        figures: outcome.usage.map(|usage| {
            let usage = Some(usage);
            numbers(&Figures {
                usage,
                ..Figures::default()
            })
            .to_vec()
        }),
    })
}
