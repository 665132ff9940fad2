//! Log lines of a server's own responses: JavaScript sets their format and takes them.

use std::time::Duration;

use http_engine::wire::{owners_line, owners_news, pair};
use http_engine::{LoggedResponse, News, ResponseTime};
use napi::bindgen_prelude::{BufferSlice, Uint32ArraySlice};
use napi_derive::napi;

use crate::js_types::JsLinePlan;
use crate::port::Port;

#[napi]
impl Port {
    /// Sets the format of the log lines of a server's own responses. Without a plan none are written. Returns the max target
    /// length, in bytes, for which JavaScript may request a line.
    #[napi]
    pub fn log_lines(&self, server: u32, plan: Option<JsLinePlan>) -> u32 {
        self.with(|engine| {
            let header = plan.as_ref().and_then(|plan| plan.id_header.as_deref());
            engine.set_id_header(server, header.unwrap_or("").as_bytes());
            engine.log_lines(server, plan.map(Into::into));
            engine.owners_limits(server).max_url as u32
        })
    }

    /// Moves the oldest lines, only whole ones, into `into` at `offset`. Returns the number of bytes.
    #[napi]
    pub fn take_lines(&self, server: u32, mut into: BufferSlice<'_>, offset: u32) -> u32 {
        let Some(into) = into.get_mut(offset as usize..) else {
            return 0;
        };
        self.with(|engine| engine.take_lines(server, into)) as u32
    }

    /// Writes the lines of responses made by JavaScript. `records` has an `OWNERS_LINE` for each, `texts` their targets and ids,
    /// already checked by JavaScript. Returns flags of `OWNERS_NEWS`.
    #[napi]
    pub fn write_owners_lines(
        &self,
        server: u32,
        records: Uint32ArraySlice<'_>,
        count: u32,
        texts: BufferSlice<'_>,
    ) -> u32 {
        let (lines, _) = records.as_chunks::<{ owners_line::WORDS }>();
        let mut texts: &[u8] = &texts;
        self.with(|engine| {
            let mut are_due = false;
            for line in lines.iter().take(count as usize) {
                let Some(url) = cut(&mut texts, line[owners_line::URL_LENGTH]) else {
                    break;
                };
                let Some(id) = cut(&mut texts, line[owners_line::ID_LENGTH]) else {
                    break;
                };
                let what = line[owners_line::IS_HEAD_AND_STATUS];
                let response = LoggedResponse {
                    is_head: what & pair::FIRST_MASK != 0,
                    url,
                    status: (what >> pair::SECOND_SHIFT) as u16,
                    id: (!id.is_empty()).then_some(id),
                    took: ResponseTime::Exactly(Duration::from_micros(
                        line[owners_line::TOOK].into(),
                    )),
                };
                are_due |= engine.write_owners_line(server, &response) == News::Due;
            }
            let is_full = engine.owners_limits(server).is_full;
            let due = if are_due { owners_news::DUE } else { 0 };
            let full = if is_full { owners_news::FULL } else { 0 };
            due | full
        })
    }

    /// Reports every later request that is due a line, instead of responding to it in the engine.
    #[napi]
    pub fn hold_answers(&self, server: u32) {
        self.with(|engine| engine.close_log(server));
    }
}

/// Returns the next bytes of `texts`; `None` if fewer remain.
fn cut<'a>(texts: &mut &'a [u8], length: u32) -> Option<&'a [u8]> {
    let (text, rest) = texts.split_at_checked(length as usize)?;
    *texts = rest;
    Some(text)
}
