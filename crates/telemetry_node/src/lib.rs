//! The engine of `@redline/telemetry` as a Node-API addon: one engine and one thread for all environments of a process.

mod collector;
mod interface;
mod js_types;
mod process;
