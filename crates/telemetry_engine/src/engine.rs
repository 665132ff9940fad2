//! The engine.

use std::time::Duration;

use telemetry_ring::{Reader, SleepWord};

use crate::clock::Now;
use crate::settings::Settings;
use crate::shared::Shared;
use crate::source::Source;

/// Counts of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Spans that were encoded.
    pub spans: u64,
    /// Spans that wait to be taken.
    pub waiting_spans: usize,
    /// Their bytes.
    pub waiting_bytes: usize,
    /// Spans that were dropped, because too many bytes waited.
    pub dropped_spans: u64,
    /// Records that did not fit in their ring, that are missing before others, or that make no sense.
    pub lost_records: u64,
    /// Requests that began.
    pub requests: u64,
}

/// Max time between two readings.
const IDLE: Duration = Duration::from_millis(100);
/// The same, if more than one engine is busy.
const BUSY: Duration = Duration::from_millis(10);
/// Words that a busy engine writes between two readings.
const MANY_WORDS: u32 = 1_024;

/// The reader's next sleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// Not at all: a ring is a quarter full.
    No,
    /// On the word of a ring, at most some time.
    On(SleepWord, Duration),
    /// Until a source is added.
    UntilSource,
}

/// Reads rings, and has what was made of them until it is taken.
pub struct Engine {
    sources: Vec<(u32, Source)>,
    last_source: u32,
    /// Start of the process's counts, in nanoseconds since 1970.
    start: u64,
    shared: Shared,
}

impl Engine {
    /// Makes an engine without sources.
    #[must_use]
    pub fn new(settings: Settings, now: Now) -> Self {
        let shared = Shared::new(settings, now);
        Self {
            sources: Vec::new(),
            last_source: 0,
            start: shared.metrics.start,
            shared,
        }
    }

    /// Adds the ring of an HTTP engine, if there is one, and that of the JavaScript beside it. Returns the source's number.
    pub fn add_source(&mut self, engine: Option<Reader>, own: Reader) -> u32 {
        self.last_source += 1;
        let source = Source::new(engine, own);
        self.sources.push((self.last_source, source));
        self.last_source
    }

    /// Reads what is left in the rings of a source, and drops them.
    pub fn remove_source(&mut self, number: u32) {
        let Some(index) = self.sources.iter().position(|(each, _)| *each == number) else {
            return;
        };
        let (_, mut source) = self.sources.swap_remove(index);
        // The second time gets what the engine wrote during the first.
        source.read(&mut self.shared);
        source.read(&mut self.shared);
        source.abandon(&mut self.shared);
    }

    /// Reads all rings.
    pub fn drain(&mut self, now: Now) {
        self.shared.clock.update(now);
        for (_, source) in &mut self.sources {
            source.read(&mut self.shared);
        }
    }

    /// Tells all writers that the rings are being read.
    pub fn stay_awake(&self) {
        for ring in self.sources.iter().flat_map(|(_, source)| source.rings()) {
            ring.stay_awake();
        }
    }

    /// Asks all writers to wake the reader, and returns its sleep.
    #[must_use]
    pub fn fall_asleep(&self) -> Sleep {
        let mut sleep = Sleep::UntilSource;
        let mut busiest = None;
        let mut other_words = 0;
        for (_, source) in &self.sources {
            for ring in source.rings() {
                let Some(word) = ring.fall_asleep() else {
                    return Sleep::No;
                };
                if matches!(sleep, Sleep::UntilSource) {
                    sleep = Sleep::On(word, IDLE);
                }
                let is_engine = source
                    .engine()
                    .is_some_and(|engine| std::ptr::eq(engine, ring));
                if !is_engine {
                    continue;
                }
                // An engine wakes those who sleep on its own ring. The sleep ends early where several are busy.
                match busiest {
                    Some(words) if source.engine_words <= words => {
                        other_words = source.engine_words.max(other_words);
                    }
                    _ => {
                        other_words = busiest.unwrap_or(0).max(other_words);
                        busiest = Some(source.engine_words);
                        sleep = Sleep::On(word, IDLE);
                    }
                }
            }
        }
        match sleep {
            Sleep::On(word, _) if other_words > MANY_WORDS => Sleep::On(word, BUSY),
            sleep => sleep,
        }
    }

    /// Takes about `max_bytes` and at most `max_spans` of the spans as an ExportTraceServiceRequest.
    pub fn take_spans(&mut self, max_bytes: usize, max_spans: usize) -> Option<Vec<u8>> {
        let Shared {
            queue, resource, ..
        } = &mut self.shared;
        queue.take(resource, max_bytes, max_spans)
    }

    /// Returns the counts of requests as an ExportMetricsServiceRequest; `None` if nothing was counted.
    pub fn take_metrics(&mut self, now: Now) -> Option<Vec<u8>> {
        self.shared.clock.update(now);
        let now = self.shared.clock.epoch(now.monotonic);
        let Shared {
            metrics, resource, ..
        } = &mut self.shared;
        metrics.take(resource, self.start, now)
    }

    /// Returns the counts of requests in Prometheus' text format.
    #[must_use]
    pub fn prometheus(&self) -> String {
        let Shared {
            metrics, settings, ..
        } = &self.shared;
        metrics.prometheus(&settings.resource)
    }

    /// Returns what was counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let Shared {
            queue,
            metrics,
            lost,
            ..
        } = &self.shared;
        Counts {
            spans: queue.added,
            waiting_spans: queue.waiting_spans(),
            waiting_bytes: queue.waiting_bytes(),
            dropped_spans: queue.dropped,
            lost_records: *lost,
            requests: metrics.requests,
        }
    }
}
