//! The engine as a JavaScript class.

use napi::bindgen_prelude::{Buffer, JsValue, Unknown};
use napi::{Env, Error, Result, sys};
use napi_derive::napi;
use node_loop::{EnvironmentData, Handle, HeldArray, register_teardown};
use telemetry_ring::Reader;

use crate::js_types::{JsCounts, JsSettings};
use crate::process::{self, now};

/// The sources of a collector.
struct Environment {
    env: sys::napi_env,
    sources: Vec<(u32, Vec<HeldArray>)>,
}

impl Environment {
    /// Removes a source from the engine, and then releases its memory.
    fn remove(&mut self, number: u32) {
        let Some(index) = self.sources.iter().position(|(each, _)| *each == number) else {
            return;
        };
        let (_, rings) = self.sources.swap_remove(index);
        process::with(|engine| engine.remove_source(number));
        for ring in rings {
            // SAFETY: this is the environment's thread, and the engine has dropped the readers under its lock.
            unsafe { ring.release(self.env) };
        }
    }
}

impl EnvironmentData for Environment {
    fn release_handles(&mut self) -> Vec<Handle> {
        Vec::new()
    }

    fn destroy(&mut self) {
        while let Some((number, _)) = self.sources.last() {
            self.remove(*number);
        }
    }
}

/// This environment's part in the engine of the process.
#[napi]
pub struct Collector {
    environment: *mut Environment,
}

#[napi]
impl Collector {
    /// Joins the engine of the process. The first call starts it, and decides the settings.
    #[napi(constructor)]
    pub fn new(env: Env, settings: JsSettings) -> Result<Self> {
        process::join(settings.try_into()?)
            .map_err(|error| Error::from_reason(format!("the thread does not start: {error}")))?;
        let environment = Box::into_raw(Box::new(Environment {
            env: env.raw(),
            sources: Vec::new(),
        }));
        // SAFETY: the current environment, and memory that is never freed.
        unsafe { register_teardown(env.raw(), environment) };
        Ok(Self { environment })
    }

    /// Adds the ring of an engine, if there is one, and that of the JavaScript beside it. Both are held until `removeSource` or
    /// the end of the environment. Returns the source's number.
    #[napi(ts_args_type = "engine: Uint32Array | undefined | null, own: Uint32Array")]
    pub fn add_source(&self, engine: Option<Unknown<'_>>, own: Unknown<'_>) -> Result<u32> {
        let environment = self.environment();
        let env = environment.env;
        // SAFETY: a call from JavaScript: this is the environment's thread.
        let (own_ring, own) = unsafe { take_ring(env, &own, "own")? };
        let mut rings = vec![own_ring];
        let mut engine_reader = None;
        if let Some(array) = engine {
            // SAFETY: as above.
            match unsafe { take_ring(env, &array, "engine") } {
                Ok((ring, reader)) => {
                    rings.push(ring);
                    engine_reader = Some(reader);
                }
                Err(error) => {
                    for ring in rings {
                        // SAFETY: as above; its reader is not used again.
                        unsafe { ring.release(env) };
                    }
                    return Err(error);
                }
            }
        }
        let number = process::add_source(engine_reader, own);
        environment.sources.push((number, rings));
        Ok(number)
    }

    /// Reads what is left in the rings of a source, and releases them.
    #[napi]
    pub fn remove_source(&self, source: u32) {
        self.environment().remove(source);
    }

    /// Wakes the thread: a ring that JavaScript writes is a quarter full.
    #[napi]
    pub fn wake(&self) {
        process::wake();
    }

    /// Reads all rings on this thread.
    #[napi]
    pub fn drain(&self) {
        process::with(|engine| engine.drain(now()));
    }

    /// Takes about `maxBytes` and at most `maxSpans` of the spans that wait, as an ExportTraceServiceRequest.
    #[napi]
    pub fn take_spans(&self, max_bytes: f64, max_spans: f64) -> Option<Buffer> {
        // `as` saturates: any number is a limit.
        process::with(|engine| engine.take_spans(max_bytes as usize, max_spans as usize))
            .map(Buffer::from)
    }

    /// Returns the counts of requests as an ExportMetricsServiceRequest; `null` if nothing was counted.
    #[napi]
    pub fn take_metrics(&self) -> Option<Buffer> {
        process::with(|engine| engine.take_metrics(now())).map(Buffer::from)
    }

    /// Returns the counts of requests in Prometheus' text format.
    #[napi]
    pub fn prometheus(&self) -> String {
        process::with(|engine| engine.prometheus())
    }

    /// Returns what the engine has counted.
    #[napi]
    pub fn counts(&self) -> JsCounts {
        process::with(|engine| engine.counts()).into()
    }

    #[allow(clippy::mut_from_ref)]
    fn environment(&self) -> &mut Environment {
        // SAFETY: never freed, and used on the environment's thread alone, by one call at a time: none of them runs JavaScript.
        unsafe { &mut *self.environment }
    }
}

/// Holds the memory of a ring that JavaScript has made. `name` is that of the argument.
///
/// # Safety
/// On the thread of the environment, which is current. The reader is dropped before the array is released.
unsafe fn take_ring(
    env: sys::napi_env,
    array: &Unknown<'_>,
    name: &str,
) -> Result<(HeldArray, Reader)> {
    // SAFETY: forwarded; the package never detaches the memory.
    let Some((held, first, length)) = (unsafe { HeldArray::take(env, array.raw()) }) else {
        return Err(Error::from_reason(format!(
            "`{name}` must be a Uint32Array"
        )));
    };
    // SAFETY: the memory is held, and this is its one reader.
    if let Some(reader) = unsafe { Reader::new(first, length) } {
        return Ok((held, reader));
    }
    // SAFETY: nothing uses it.
    unsafe { held.release(env) };
    Err(Error::from_reason(format!(
        "`{name}` is not a ring of this version: it has {length} words"
    )))
}
