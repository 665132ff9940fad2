//! Reads the rings of HTTP engines and of JavaScript, assembles spans and histograms, and encodes them for OTLP and Prometheus.
//!
//! An [`Engine`] has sources: the ring of an HTTP engine and that of the JavaScript beside it. [`Engine::drain`] reads them;
//! [`Engine::take_spans`] and [`Engine::take_metrics`] return requests of OTLP. The names and values of attributes are those of
//! `@opentelemetry/instrumentation-http`.

mod attributes;
mod changes;
mod clock;
mod connections;
mod engine;
mod exchange;
mod fields;
mod finish;
mod forwarded;
mod hash;
mod head;
mod head_cache;
mod histogram;
mod host;
mod latin1;
mod method;
mod metrics;
mod metrics_otlp;
mod prometheus;
mod protobuf;
mod queue;
mod sampling;
mod server_span;
mod settings;
mod shared;
mod source;
mod span;
mod texts;
mod trace_parent;
mod trace_state;
mod url;

pub use clock::Now;
pub use engine::{Counts, Engine, Sleep};
pub use settings::{Attribute, Sampler, Settings, Value};
