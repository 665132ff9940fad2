//! The fields of SPAN and CHANGE, which follow one another.

use std::borrow::Cow;

use telemetry_ring::Record;
use telemetry_ring::wire::{span, value};

use crate::attributes::{any, any_value};
use crate::clock::Clock;
use crate::latin1::truncated;
use crate::protobuf::{bytes, double, fixed32, fixed64, message, number};
use crate::texts::Texts;

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
        let bytes = self.bytes(word as usize >> 1)?;
        let text = std::str::from_utf8(bytes).map(Cow::Borrowed);
        Some(text.unwrap_or_else(|_| String::from_utf8_lossy(bytes)))
    }

    /// Writes attributes as fields of a message.
    pub fn attributes(&mut self, out: &mut Vec<u8>, field: u32) -> Option<()> {
        let count = self.word()?;
        self.pairs(out, field, count, value::MAX_DEPTH)
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

    /// Writes the attributes of an event or a link, and the number of those that were dropped.
    fn limited(&mut self, out: &mut Vec<u8>, field: u32, dropped_field: u32) -> Option<()> {
        let word = self.word()?;
        let count = word & ((1 << span::DROPPED_SHIFT) - 1);
        let dropped = word >> span::DROPPED_SHIFT;
        self.pairs(out, field, count, value::MAX_DEPTH)?;
        if dropped > 0 {
            number(out, dropped_field, dropped.into());
        }
        Some(())
    }

    /// Writes messages KeyValue.
    fn pairs(&mut self, out: &mut Vec<u8>, field: u32, count: u32, depth: u32) -> Option<()> {
        (0..count).try_for_each(|_| {
            let key = self.text()?;
            any_value(out, field, &key, |out| self.value(out, depth))
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
            value::MAP if depth > 0 => {
                let count = self.word()?;
                return message(out, any::MAP, |out| self.pairs(out, 1, count, depth - 1));
            }
            value::BYTES => {
                let length = self.word()? as usize;
                bytes(out, any::BYTES, self.bytes(length)?);
            }
            value::NOTHING => {}
            _ => return None,
        }
        Some(())
    }

    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let bytes = self.record.bytes(self.at, length);
        self.at += length.div_ceil(4);
        (bytes.len() == length).then_some(bytes)
    }

    fn wide(&mut self) -> Option<u64> {
        let low = self.word()?;
        Some(u64::from(low) | u64::from(self.word()?) << 32)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use telemetry_ring::wire::{kind, ring, time};
    use telemetry_ring::{Reader, Writer};

    use super::*;
    use crate::clock::Now;
    use crate::protobuf::{Field, next_field};

    /// Reads the fields of a record with such words.
    fn with_fields<T>(words: &[u32], act: impl FnOnce(Fields<'_>) -> T) -> T {
        let mut memory = vec![0; ring::FIRST_RECORD + 1024];
        memory[ring::VERSION] = ring::LAYOUT;
        let (first, length) = (memory.as_mut_ptr(), memory.len());
        // SAFETY: the memory outlives both, which no other thread uses.
        let (writer, reader) = unsafe { (Writer::new(first, length), Reader::new(first, length)) };
        let (mut writer, mut reader) = (writer.unwrap(), reader.unwrap());
        assert!(writer.put(kind::SPAN, words, &[]));
        let texts = Texts::default();
        let mut act = Some(act);
        let mut result = None;
        reader.read_until(reader.written(), |record| {
            let act = act.take().expect("one record");
            result = Some(act(Fields::new(record, 1, &texts, u32::MAX)));
        });
        result.unwrap()
    }

    fn encoded(words: &[u32]) -> Option<Vec<u8>> {
        with_fields(words, |mut fields| {
            let mut out = Vec::new();
            fields.value(&mut out, value::MAX_DEPTH)?;
            assert_eq!(fields.word(), None, "all is read");
            Some(out)
        })
    }

    const A: [u32; 2] = [2, b'a' as u32];

    #[test]
    fn bytes_and_maps_are_values() {
        let mut expected = Vec::new();
        bytes(&mut expected, any::BYTES, &[1, 2, 3, 4, 5]);
        assert_eq!(encoded(&[value::BYTES, 5, 0x0403_0201, 5]), Some(expected));
        let mut expected = Vec::new();
        message(&mut expected, any::MAP, |out| {
            any_value(out, 1, "a", |out| {
                message(out, any::MAP, |out| any_value(out, 1, "a", |_| {}));
            });
        });
        let words = [[value::MAP, 1], A, [value::MAP, 1], A].concat();
        assert_eq!(
            encoded(&[&words[..], &[value::NOTHING]].concat()),
            Some(expected)
        );
        assert_eq!(encoded(&words), None, "a value is missing");
        assert_eq!(encoded(&[value::BYTES, 5, 0]), None, "bytes are missing");
    }

    #[test]
    fn values_have_a_max_depth() {
        let nested = |depth: u32| {
            let mut words = [value::ARRAY, 1].repeat(depth as usize);
            words.push(value::TRUE);
            encoded(&words)
        };
        assert!(nested(value::MAX_DEPTH).is_some());
        assert_eq!(nested(value::MAX_DEPTH + 1), None);
    }

    #[test]
    fn an_event_has_its_own_time_and_the_number_of_dropped_attributes() {
        let clock = Clock::new(Now {
            monotonic: Duration::from_secs(5),
            epoch: Duration::from_secs(100),
        });
        let event_at = |seconds: u32, nanos: u32| {
            let words = [
                seconds,
                nanos,
                A[0],
                A[1],
                1 | 3 << 16,
                A[0],
                A[1],
                value::TRUE,
            ];
            with_fields(&words, |mut fields| {
                let mut out = Vec::new();
                fields.event(&mut out, 11, clock).unwrap();
                let Some((11, Field::Bytes(mut event))) = next_field(&mut out.as_slice()) else {
                    panic!("no event");
                };
                let Some((event::TIME, Field::Fixed64(nanos))) = next_field(&mut event) else {
                    panic!("no time");
                };
                assert_eq!(
                    next_field(&mut event),
                    Some((event::NAME, Field::Bytes(b"a")))
                );
                assert!(matches!(
                    next_field(&mut event),
                    Some((event::ATTRIBUTES, _))
                ));
                assert_eq!(
                    next_field(&mut event),
                    Some((event::DROPPED, Field::Number(3)))
                );
                nanos
            })
        };
        assert_eq!(event_at(6, 7), 101_000_000_007);
        assert_eq!(event_at(6, 7 | time::IS_EPOCH), 6_000_000_007);
    }
}
