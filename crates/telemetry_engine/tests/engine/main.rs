//! Rings that are written by hand, and the bytes that come of them.

mod counts;
mod requests;
mod support;
