//! State that all sources of an engine share.

use crate::clock::{Clock, Now};
use crate::head_cache::HeadCache;
use crate::metrics::Metrics;
use crate::protobuf::message;
use crate::queue::Queue;
use crate::sampling::Sampling;
use crate::settings::Settings;

/// The instrumentation scope of requests and of their counts.
pub(crate) const SCOPE: &str = "@redline/telemetry";

pub(crate) struct Shared {
    pub settings: Settings,
    /// The resource, as a field of ResourceSpans and ResourceMetrics.
    pub resource: Vec<u8>,
    pub clock: Clock,
    pub sampling: Sampling,
    pub heads: HeadCache,
    pub queue: Queue,
    pub metrics: Metrics,
    /// The number of [`SCOPE`] in the queue.
    pub scope: usize,
    /// Room for a span that is being encoded.
    pub scratch: Vec<u8>,
    /// Number of records that were lost or made no sense.
    pub lost: u64,
}

impl Shared {
    pub fn new(mut settings: Settings, now: Now) -> Self {
        if settings.attribute_value_length_limit == 0 {
            settings.attribute_value_length_limit = u32::MAX;
        }
        let clock = Clock::new(now);
        let boundaries = settings.boundaries.clone();
        let mut queue = Queue::new(settings.max_bytes);
        Self {
            resource: encoded_resource(&settings),
            sampling: Sampling::new(&settings),
            heads: HeadCache::new(settings.attribute_value_length_limit),
            metrics: Metrics::new(boundaries, settings.is_delta, clock.epoch(now.monotonic)),
            scope: queue.scope(SCOPE).unwrap_or_default(),
            queue,
            scratch: Vec::new(),
            lost: 0,
            clock,
            settings,
        }
    }
}

fn encoded_resource(settings: &Settings) -> Vec<u8> {
    let mut out = Vec::new();
    message(&mut out, 1, |out| {
        for attribute in &settings.resource {
            crate::attributes::value(out, 1, &attribute.key, &attribute.value);
        }
    });
    out
}
