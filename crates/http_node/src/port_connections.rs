//! Calls about one connection, identified by its slot and the generation of that slot.

use std::os::fd::IntoRawFd;

use napi_derive::napi;

use crate::js_types::{JsAddress, JsDetached, JsFileRange, JsProxyHeader};
use crate::port::Port;

/// Bytes sent by a finished file range, or `None` while it is under way.
struct FileResult(Option<u64>);

impl Default for FileResult {
    fn default() -> Self {
        Self(Some(0))
    }
}

#[napi]
impl Port {
    /// Writes at once. Returns the number of bytes the kernel has not taken, -1 if the connection is closed.
    #[napi]
    pub fn write(
        &self,
        slot: u32,
        generation: u32,
        sequence: u32,
        flags: u32,
        facts: u32,
        data: &[u8],
    ) -> f64 {
        let unsent =
            self.with(|engine| engine.write(slot, generation, sequence, flags, facts, data));
        unsent.map_or(-1.0, |unsent| unsent as f64)
    }

    /// Sends a range of a file. Returns the number of bytes sent if it finishes at once, nothing while it is under way.
    #[napi]
    pub fn send_file(
        &self,
        slot: u32,
        generation: u32,
        sequence: u32,
        range: JsFileRange,
    ) -> Option<f64> {
        // Without an engine it is finished, with nothing sent.
        let range = range.into();
        let sent =
            self.with(|engine| FileResult(engine.send_file(slot, generation, sequence, range)));
        sent.0.map(|sent| sent as f64)
    }

    /// Ends the file range under way, if any. Returns the number of bytes sent of the last one.
    #[napi]
    pub fn end_file(&self, slot: u32, generation: u32) -> f64 {
        self.with(|engine| engine.end_file(slot, generation)) as f64
    }

    /// Closes at once, and returns the number of bytes the kernel has not taken.
    #[napi]
    pub fn close(&self, slot: u32, generation: u32, reset: bool) -> f64 {
        self.with(|engine| engine.close(slot, generation, reset)) as f64
    }

    /// Stops reporting the body.
    #[napi]
    pub fn pause(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.pause(slot, generation));
    }

    /// Resumes reporting the body.
    #[napi]
    pub fn resume(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.resume(slot, generation));
    }

    /// Sets whether a connection keeps the loop alive while it is read.
    #[napi]
    pub fn set_referenced(&self, slot: u32, generation: u32, is_referenced: bool) {
        self.with(|engine| engine.set_referenced(slot, generation, is_referenced));
    }

    /// Discards the rest of the body.
    #[napi]
    pub fn discard_body(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.discard_body(slot, generation));
    }

    /// Reports the client's end to the owner before the connection is closed for it.
    #[napi]
    pub fn announce_end(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.announce_end(slot, generation));
    }

    /// Hands over a connection.
    #[napi]
    pub fn detach(&self, slot: u32, generation: u32) -> Option<JsDetached> {
        let detached = self.with(|engine| engine.detach(slot, generation))?;
        Some(JsDetached {
            fd: detached.fd.into_raw_fd(),
            head: detached.unread.into(),
        })
    }

    /// Sets the inactivity timeout of a connection.
    #[napi]
    pub fn set_timeout(&self, slot: u32, generation: u32, timeout_ms: u32) {
        self.with(|engine| engine.set_timeout(slot, generation, timeout_ms));
    }

    /// Sets TCP_NODELAY of a connection.
    #[napi]
    pub fn set_no_delay(&self, slot: u32, generation: u32, on: bool) {
        self.with(|engine| engine.set_no_delay(slot, generation, on));
    }

    /// Sets SO_KEEPALIVE of a connection.
    #[napi]
    pub fn set_keep_alive(&self, slot: u32, generation: u32, on: bool, seconds: u32) {
        self.with(|engine| engine.set_keep_alive(slot, generation, on, seconds));
    }

    /// The far end.
    #[napi]
    pub fn remote(&self, slot: u32, generation: u32) -> Option<JsAddress> {
        self.with(|engine| engine.remote(slot, generation).map(Into::into))
    }

    /// The near end.
    #[napi]
    pub fn local(&self, slot: u32, generation: u32) -> Option<JsAddress> {
        self.with(|engine| engine.local(slot, generation).map(Into::into))
    }

    /// Returns the PROXY protocol header of a connection.
    #[napi]
    pub fn proxy_header(&self, slot: u32, generation: u32) -> Option<JsProxyHeader> {
        self.with(|engine| {
            let header = engine.proxy_header(slot, generation)?;
            Some(JsProxyHeader {
                version: header.version.into(),
                has_ends: header.endpoints.is_some(),
                values: header.values.into_vec().into(),
                peer: engine.peer(slot, generation).map(Into::into),
            })
        })
    }

    /// Bytes read from a connection.
    #[napi]
    pub fn bytes_read(&self, slot: u32, generation: u32) -> f64 {
        self.with(|engine| engine.counts(slot, generation)).0 as f64
    }

    /// Bytes written to a connection.
    #[napi]
    pub fn bytes_written(&self, slot: u32, generation: u32) -> f64 {
        self.with(|engine| engine.counts(slot, generation)).1 as f64
    }
}
