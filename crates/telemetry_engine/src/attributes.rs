//! Attributes: messages of type KeyValue.

use crate::protobuf::{self, Field, bytes, next_field, varint, varint_size};
use crate::settings::Value;

/// Fields of KeyValue.
const KEY: u32 = 1;
const VALUE: u32 = 2;

/// Fields of AnyValue.
pub(crate) mod any {
    pub const TEXT: u32 = 1;
    pub const FLAG: u32 = 2;
    pub const INTEGER: u32 = 3;
    pub const DOUBLE: u32 = 4;
    pub const ARRAY: u32 = 5;
    pub const MAP: u32 = 6;
    pub const BYTES: u32 = 7;
}

/// Writes an attribute whose value is a text.
#[inline]
pub(crate) fn text(out: &mut Vec<u8>, field: u32, key: &str, value: &[u8]) {
    let any = 1 + varint_size(value.len() as u64) + value.len();
    begin(out, field, key, any);
    bytes(out, any::TEXT, value);
}

/// Writes an attribute whose value is a positive integer.
#[inline]
pub(crate) fn integer(out: &mut Vec<u8>, field: u32, key: &str, value: u64) {
    begin(out, field, key, 1 + varint_size(value));
    protobuf::number(out, any::INTEGER, value);
}

/// Writes an attribute that is true.
pub(crate) fn flag(out: &mut Vec<u8>, field: u32, key: &str) {
    begin(out, field, key, 2);
    protobuf::number(out, any::FLAG, 1);
}

/// Writes an attribute whose value is a number of JavaScript: an integer if it is one.
pub(crate) fn number(out: &mut Vec<u8>, field: u32, key: &str, value: f64) {
    let is_integer = value.fract() == 0.0 && value.abs() < 2_f64.powi(63);
    if is_integer {
        integer(out, field, key, value as i64 as u64);
    } else {
        begin(out, field, key, 9);
        protobuf::double(out, any::DOUBLE, value);
    }
}

/// Writes an attribute of a resource.
pub(crate) fn value(out: &mut Vec<u8>, field: u32, key: &str, value: &Value) {
    match value {
        Value::Text(value) => text(out, field, key, value.as_bytes()),
        Value::Number(value) => number(out, field, key, *value),
        Value::Flag(value) => protobuf::message(out, field, |out| {
            bytes(out, KEY, key.as_bytes());
            protobuf::message(out, VALUE, |out| {
                protobuf::number(out, any::FLAG, (*value).into());
            });
        }),
        Value::Texts(values) => protobuf::message(out, field, |out| {
            bytes(out, KEY, key.as_bytes());
            protobuf::message(out, VALUE, |out| {
                protobuf::message(out, any::ARRAY, |out| {
                    for value in values {
                        protobuf::message(out, 1, |out| bytes(out, any::TEXT, value.as_bytes()));
                    }
                });
            });
        }),
    }
}

/// Writes an attribute whose value is written by `fill`.
pub(crate) fn any_value<T>(
    out: &mut Vec<u8>,
    field: u32,
    key: &str,
    fill: impl FnOnce(&mut Vec<u8>) -> T,
) -> T {
    protobuf::message(out, field, |out| {
        bytes(out, KEY, key.as_bytes());
        protobuf::message(out, VALUE, fill)
    })
}

/// Writes all of an attribute before the content of its value, which has `size` bytes.
#[inline]
fn begin(out: &mut Vec<u8>, field: u32, key: &str, size: usize) {
    let pair = 2 + varint_size(key.len() as u64) + key.len() + varint_size(size as u64) + size;
    varint(out, (field << 3 | 2).into());
    varint(out, pair as u64);
    bytes(out, KEY, key.as_bytes());
    varint(out, (VALUE << 3 | 2).into());
    varint(out, size as u64);
}

/// The attributes of a span that were changed: the last value of a key counts, and a limit holds.
pub(crate) struct AttributeSet {
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    limit: usize,
    /// Number of attributes beyond the limit.
    pub dropped: u32,
}

impl AttributeSet {
    pub fn new(limit: u32) -> Self {
        Self {
            entries: Vec::new(),
            limit: limit as usize,
            dropped: 0,
        }
    }

    /// Sets attributes that were written one after another, as fields of any number.
    pub fn set_all(&mut self, mut written: &[u8]) {
        while let Some((_, Field::Bytes(pair))) = next_field(&mut written) {
            self.set(pair);
        }
    }

    /// Sets an attribute: the content of its KeyValue.
    pub fn set(&mut self, pair: &[u8]) {
        let Some((KEY, Field::Bytes(key))) = next_field(&mut &*pair) else {
            return;
        };
        if let Some((_, value)) = self.entries.iter_mut().find(|(known, _)| known == key) {
            *value = pair.to_vec();
        } else if self.entries.len() >= self.limit {
            self.dropped += 1;
        } else {
            self.entries.push((key.to_vec(), pair.to_vec()));
        }
    }

    pub fn write(&self, out: &mut Vec<u8>, field: u32) {
        for (_, pair) in &self.entries {
            bytes(out, field, pair);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_that_are_computed_are_those_of_the_content() {
        for length in [0, 1, 100, 127, 128, 200, 20_000] {
            let content = vec![b'x'; length];
            let mut computed = Vec::new();
            text(&mut computed, 9, "user_agent.original", &content);
            let mut nested = Vec::new();
            any_value(&mut nested, 9, "user_agent.original", |out| {
                bytes(out, any::TEXT, &content);
            });
            assert_eq!(computed, nested, "{length}");
        }
    }

    #[test]
    fn numbers_are_integers_where_they_can_be() {
        let value_of = |number: f64| {
            let mut out = Vec::new();
            self::number(&mut out, 1, "k", number);
            let Some((1, Field::Bytes(mut pair))) = next_field(&mut out.as_slice()) else {
                panic!("no attribute");
            };
            assert_eq!(next_field(&mut pair), Some((KEY, Field::Bytes(b"k"))));
            let Some((VALUE, Field::Bytes(mut any))) = next_field(&mut pair) else {
                panic!("no value");
            };
            match next_field(&mut any) {
                Some((any::INTEGER, Field::Number(number))) => format!("{}", number as i64),
                Some((any::DOUBLE, Field::Fixed64(bits))) => format!("{:?}", f64::from_bits(bits)),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(value_of(8080.0), "8080");
        assert_eq!(value_of(-3.0), "-3");
        assert_eq!(value_of(0.5), "0.5");
        assert_eq!(value_of(f64::NAN), "NaN");
        assert_eq!(value_of(1e300), "1e300");
    }

    #[test]
    fn the_last_value_of_a_key_counts_and_a_limit_holds() {
        let mut written = Vec::new();
        text(&mut written, 9, "a", b"1");
        text(&mut written, 9, "b", b"2");
        text(&mut written, 9, "c", b"3");
        text(&mut written, 9, "a", b"4");
        let mut set = AttributeSet::new(2);
        set.set_all(&written);
        let mut out = Vec::new();
        set.write(&mut out, 9);
        let mut expected = Vec::new();
        text(&mut expected, 9, "a", b"4");
        text(&mut expected, 9, "b", b"2");
        assert_eq!((out, set.dropped), (expected, 1));
    }
}
