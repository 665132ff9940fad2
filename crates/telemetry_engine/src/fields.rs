//! The fields of SPAN and CHANGE, which follow one another.

use std::borrow::Cow;

use telemetry_ring::Record;
use telemetry_ring::wire::{span, value};

use crate::attributes::{any, any_value};
use crate::clock::Clock;
use crate::latin1::truncated;
use crate::protobuf::{bytes, double, fixed32, fixed64, message, number};
use crate::texts::Texts;

/// Arrays within arrays.
const MAX_DEPTH: u32 = 8;

/// Fields of Event and Link.
mod event {
    pub const TIME: u32 = 1;
    pub const NAME: u32 = 2;
    pub const ATTRIBUTES: u32 = 3;
    pub const DROPPED: u32 = 4;
}
mod link {
    pub const TRACE_ID: u32 = 1;
    pub const SPAN_ID: u32 = 2;
    pub const TRACE_STATE: u32 = 3;
    pub const ATTRIBUTES: u32 = 4;
    pub const DROPPED: u32 = 5;
    pub const FLAGS: u32 = 6;
}

/// A place in the fields of a record. Every method returns `None` where the record is not as it should be.
pub(crate) struct Fields<'a> {
    record: Record<'a>,
    at: usize,
    texts: &'a Texts,
    /// Max UTF-16 code units of a value.
    limit: u32,
}

impl<'a> Fields<'a> {
    pub fn new(record: Record<'a>, at: usize, texts: &'a Texts, limit: u32) -> Self {
        Self {
            record,
            at,
            texts,
            limit,
        }
    }

    pub fn word(&mut self) -> Option<u32> {
        let word = self.record.words().get(self.at).copied();
        self.at += 1;
        word
    }

    pub fn text(&mut self) -> Option<Cow<'a, str>> {
        let word = self.word()?;
        if word & 1 != 0 {
            return self.texts.get(word >> 1).map(|text| Cow::Borrowed(&**text));
        }
        let length = word as usize >> 1;
        let bytes = self.record.bytes(self.at, length);
        if bytes.len() < length {
            return None;
        }
        self.at += length.div_ceil(4);
        let text = std::str::from_utf8(bytes).map(Cow::Borrowed);
        Some(text.unwrap_or_else(|_| String::from_utf8_lossy(bytes)))
    }

    /// Writes attributes as fields of a message.
    pub fn attributes(&mut self, out: &mut Vec<u8>, field: u32) -> Option<()> {
        let count = self.word()?;
        self.pairs(out, field, count, MAX_DEPTH)
    }

    /// Writes the attributes of an event or a link, and the number of those that a limit dropped.
    fn limited(&mut self, out: &mut Vec<u8>, field: u32, dropped_field: u32) -> Option<()> {
        let counts = self.word()?;
        let count = counts & ((1 << span::DROPPED_SHIFT) - 1);
        self.pairs(out, field, count, MAX_DEPTH)?;
        let dropped = counts >> span::DROPPED_SHIFT;
        if dropped > 0 {
            number(out, dropped_field, dropped.into());
        }
        Some(())
    }

    fn pairs(&mut self, out: &mut Vec<u8>, field: u32, count: u32, depth: u32) -> Option<()> {
        for _ in 0..count {
            let key = self.text()?;
            any_value(out, field, &key, |out| self.value(out, depth))?;
        }
        Some(())
    }

    /// Writes an event as a field of a message.
    pub fn event(&mut self, out: &mut Vec<u8>, field: u32, clock: Clock) -> Option<()> {
        let time = clock.time(self.record, self.at);
        self.at += 2;
        message(out, field, |out| {
            fixed64(out, event::TIME, time);
            bytes(out, event::NAME, self.text()?.as_bytes());
            self.limited(out, event::ATTRIBUTES, event::DROPPED)
        })
    }

    /// Writes a link as a field of a message.
    pub fn link(&mut self, out: &mut Vec<u8>, field: u32) -> Option<()> {
        let trace_id = [self.word()?, self.word()?, self.word()?, self.word()?];
        let span_id = [self.word()?, self.word()?];
        let flags = self.word()?;
        message(out, field, |out| {
            bytes(
                out,
                link::TRACE_ID,
                trace_id.map(u32::to_be_bytes).as_flattened(),
            );
            bytes(
                out,
                link::SPAN_ID,
                span_id.map(u32::to_be_bytes).as_flattened(),
            );
            let state = self.text()?;
            if !state.is_empty() {
                bytes(out, link::TRACE_STATE, state.as_bytes());
            }
            self.limited(out, link::ATTRIBUTES, link::DROPPED)?;
            fixed32(out, link::FLAGS, flags);
            Some(())
        })
    }

    /// Writes the content of a message AnyValue.
    fn value(&mut self, out: &mut Vec<u8>, depth: u32) -> Option<()> {
        match self.word()? {
            value::FALSE => number(out, any::FLAG, 0),
            value::TRUE => number(out, any::FLAG, 1),
            value::INTEGER => number(out, any::INTEGER, self.wide()?),
            value::DOUBLE => double(out, any::DOUBLE, f64::from_bits(self.wide()?)),
            value::TEXT => {
                let text = self.text()?;
                bytes(out, any::TEXT, truncated(&text, self.limit).as_bytes());
            }
            value::ARRAY if depth > 0 => {
                let count = self.word()?;
                return message(out, any::ARRAY, |out| {
                    (0..count).try_for_each(|_| message(out, 1, |out| self.value(out, depth - 1)))
                });
            }
            value::NOTHING => {}
            value::BYTES => {
                let length = self.word()? as usize;
                let value = self.record.bytes(self.at, length);
                if value.len() < length {
                    return None;
                }
                self.at += length.div_ceil(4);
                bytes(out, any::BYTES, value);
            }
            value::MAP if depth > 0 => {
                let count = self.word()?;
                return message(out, any::MAP, |out| self.pairs(out, 1, count, depth - 1));
            }
            _ => return None,
        }
        Some(())
    }

    fn wide(&mut self) -> Option<u64> {
        let low = self.word()?;
        Some(u64::from(low) | u64::from(self.word()?) << 32)
    }
}
