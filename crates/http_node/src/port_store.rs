//! Calls about the responses that a server sends by itself, from its store.

use http_engine::wire::outcome;
use napi_derive::napi;

use crate::fill::{JsFill, latin1};
use crate::port::Port;

#[napi]
impl Port {
    /// Makes a server respond by itself, from a store of the given size in bytes; with `isShared` from the store that the process
    /// has for its address.
    #[napi]
    pub fn open_answers(&self, server: u32, max_bytes: f64, is_shared: bool) {
        self.with(|engine| engine.open_store(server, max_bytes as usize, is_shared));
    }

    /// Leaves all responses to JavaScript again.
    #[napi]
    pub fn close_answers(&self, server: u32) {
        self.with(|engine| engine.close_store(server));
    }

    /// The time of the last drop: to be taken before the data of a response is read.
    #[napi]
    pub fn ticket(&self) -> f64 {
        http_engine::ticket() as f64
    }

    /// Keeps a response, and returns the outcome.
    #[napi]
    pub fn keep(&self, server: u32, fill: JsFill) -> u32 {
        let fill = fill.into();
        // Zero would mean that it is kept.
        let Some(mut engine) = self.engine() else {
            return outcome::NOT_SERVED;
        };
        engine.keep(server, fill)
    }

    /// Counts a response that was not worth the call into the engine.
    #[napi]
    pub fn count_outcome(&self, server: u32, outcome: u32) {
        self.with(|engine| engine.count_outcome(server, outcome));
    }

    /// Drops the responses to a target.
    #[napi]
    pub fn drop_target(&self, server: u32, target: String) {
        self.with(|engine| engine.drop_target(server, &latin1(&target)));
    }

    /// Drops the responses with one of the tags.
    #[napi]
    pub fn drop_tags(&self, server: u32, tags: Vec<String>) {
        self.with(|engine| engine.drop_tags(server, tags.iter().map(String::as_str)));
    }

    /// Drops all responses.
    #[napi]
    pub fn clear_answers(&self, server: u32) {
        self.with(|engine| engine.clear_store(server));
    }

    /// Counts responses and requests by their outcome; empty if the server does not respond by itself.
    #[napi]
    pub fn answer_counts(&self, server: u32) -> Vec<f64> {
        let counts = self.with(|engine| engine.store_counts(server));
        counts.into_iter().map(|count| count as f64).collect()
    }
}
