//! The memory through which facts of requests and spans reach the telemetry engine: a ring with one writer and one reader, which
//! may be threads of different addons. [`wire`] describes its records.
//!
//! [`ids`] derives the trace and span ids of a request from its place on its connection, so that the writer of its facts, the
//! code that handles it and the reader agree on them without a word between them.

pub mod ids;
mod memory;
mod reader;
mod wake;
pub mod wire;
mod writer;

pub use reader::{Reader, Record};
pub use wake::SleepWord;
pub use writer::Writer;
