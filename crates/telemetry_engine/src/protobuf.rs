//! The wire format of protocol buffers.

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

/// Writes an unsigned number in groups of seven bits.
#[inline]
pub(crate) fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Size of a [`varint`] in bytes.
#[inline]
pub(crate) fn varint_size(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}

#[inline]
fn tag(out: &mut Vec<u8>, field: u32, wire_type: u32) {
    varint(out, (field << 3 | wire_type).into());
}

/// Writes a field of type uint32, uint64, enum, or int64 of a positive number.
#[inline]
pub(crate) fn number(out: &mut Vec<u8>, field: u32, value: u64) {
    tag(out, field, VARINT);
    varint(out, value);
}

/// Writes a field of type bytes or string.
#[inline]
pub(crate) fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    tag(out, field, BYTES);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// Writes a field of type fixed64 or sfixed64.
#[inline]
pub(crate) fn fixed64(out: &mut Vec<u8>, field: u32, value: u64) {
    tag(out, field, FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Writes a field of type fixed32.
#[inline]
pub(crate) fn fixed32(out: &mut Vec<u8>, field: u32, value: u32) {
    tag(out, field, FIXED32);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Writes a field of type double.
pub(crate) fn double(out: &mut Vec<u8>, field: u32, value: f64) {
    fixed64(out, field, value.to_bits());
}

/// Writes a message whose length is known when it is written.
pub(crate) fn message<T>(out: &mut Vec<u8>, field: u32, fill: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    tag(out, field, BYTES);
    let start = out.len();
    out.push(0);
    let result = fill(out);
    let length = out.len() - start - 1;
    let size = varint_size(length as u64);
    if size > 1 {
        out.resize(out.len() + size - 1, 0);
        out.copy_within(start + 1..start + 1 + length, start + size);
    }
    let mut left = length;
    for place in &mut out[start..start + size - 1] {
        *place = left as u8 | 0x80;
        left >>= 7;
    }
    out[start + size - 1] = left as u8;
    result
}

/// Writes a packed list of fixed64 or double.
pub(crate) fn packed64(out: &mut Vec<u8>, field: u32, values: impl ExactSizeIterator<Item = u64>) {
    tag(out, field, BYTES);
    varint(out, values.len() as u64 * 8);
    for value in values {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Field<'a> {
    /// Any varint.
    Number(u64),
    /// Bytes, a text or a message.
    Bytes(&'a [u8]),
    /// Eight bytes.
    Fixed64(u64),
    /// Four bytes.
    Fixed32(u32),
}

/// Reads the next field of a message; `None` at its end, or where it is not one.
pub(crate) fn next_field<'a>(message: &mut &'a [u8]) -> Option<(u32, Field<'a>)> {
    let tag = read_varint(message)? as u32;
    let value = match tag & 7 {
        VARINT => Field::Number(read_varint(message)?),
        FIXED64 => Field::Fixed64(u64::from_le_bytes(*take_array(message)?)),
        FIXED32 => Field::Fixed32(u32::from_le_bytes(*take_array(message)?)),
        BYTES => {
            let length = read_varint(message)? as usize;
            let (value, rest) = message.split_at_checked(length)?;
            *message = rest;
            Field::Bytes(value)
        }
        _ => return None,
    };
    Some((tag >> 3, value))
}

fn take_array<'a, const N: usize>(message: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (value, rest) = message.split_first_chunk()?;
    *message = rest;
    Some(value)
}

fn read_varint(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_size_that_is_computed() {
        for shift in 0..64 {
            for number in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut out = Vec::new();
                varint(&mut out, number);
                assert_eq!(out.len(), varint_size(number), "{number}");
                assert_eq!(read_varint(&mut out.as_slice()), Some(number));
            }
        }
    }

    #[test]
    fn messages_of_any_length_come_back() {
        for length in [0, 1, 127, 128, 129, 16_383, 16_384, 3_000_000] {
            let content = vec![7; length];
            let mut out = vec![9];
            message(&mut out, 2, |out| out.extend_from_slice(&content));
            number(&mut out, 3, 300);
            let mut rest = &out[1..];
            assert_eq!(next_field(&mut rest), Some((2, Field::Bytes(&content))));
            assert_eq!(next_field(&mut rest), Some((3, Field::Number(300))));
            assert_eq!(next_field(&mut rest), None);
        }
    }

    #[test]
    fn fields_are_those_of_the_format() {
        let mut out = Vec::new();
        bytes(&mut out, 1, b"ab");
        fixed32(&mut out, 16, 0x0403_0201);
        fixed64(&mut out, 7, 1);
        packed64(&mut out, 6, [2_u64].into_iter());
        assert_eq!(
            out,
            [
                0x0a, 2, b'a', b'b', 0x85, 1, 1, 2, 3, 4, 0x39, 1, 0, 0, 0, 0, 0, 0, 0, 0x32, 8, 2,
                0, 0, 0, 0, 0, 0, 0
            ]
        );
    }

    #[test]
    fn what_is_cut_off_is_no_field() {
        let mut out = Vec::new();
        bytes(&mut out, 1, b"abc");
        for length in 0..out.len() {
            assert_eq!(next_field(&mut &out[..length]), None);
        }
        assert_eq!(next_field(&mut [0xff; 11].as_slice()), None);
        assert_eq!(next_field(&mut [0x0b, 0].as_slice()), None);
    }
}
