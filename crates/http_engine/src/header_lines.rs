//! The lines of a header block.
//!
//! Nearly all blocks have few lines and no tabs: these are read in one pass that examines many bytes at a time. All others are
//! left to httparse.

mod marks;

use httparse::{EMPTY_HEADER, Header};

use marks::{Marks, PART};

/// Max lines of a block that is read in one pass. Browsers send fewer.
const MAX_PLAIN_LINES: usize = 32;
/// Initial room for headers in httparse.
const INITIAL_HEADERS: usize = 64;

/// The place of a header in its block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Start of the name.
    pub name: u32,
    pub colon: u32,
    /// Start of the value; of an empty one, the end of its line.
    pub value: u32,
    pub value_end: u32,
    /// End of the value with its trailing white space.
    pub end: u32,
}

impl Place {
    pub fn name_length(self) -> usize {
        (self.colon - self.name) as usize
    }

    /// Returns its size as llhttp's owner counts it.
    pub fn counted(self) -> usize {
        (self.colon - self.name + self.end - self.value) as usize
    }

    pub fn name_of(self, block: &[u8]) -> &[u8] {
        &block[self.name as usize..self.colon as usize]
    }

    pub fn value_of(self, block: &[u8]) -> &[u8] {
        &block[self.value as usize..self.value_end as usize]
    }
}

/// Room for the headers of a plain block.
#[derive(Default)]
pub(crate) struct PlainHeaders([Place; MAX_PLAIN_LINES]);

impl PlainHeaders {
    /// Reads the headers of a valid plain block; `None` for any other, valid or not.
    pub fn read(&mut self, block: &[u8]) -> Option<&[Place]> {
        let count = read_plain(block, &mut self.0)?;
        Some(&self.0[..count])
    }
}

/// Passes the headers of a block that ends in its empty line to `each`. `None` if its text is malformed: then `each` was not
/// called.
pub(crate) fn read<E>(
    block: &[u8],
    mut each: impl FnMut(Place) -> Result<(), E>,
) -> Option<Result<(), E>> {
    let mut few = PlainHeaders::default();
    if let Some(places) = few.read(block) {
        return Some(places.iter().try_for_each(|place| each(*place)));
    }
    let mut few = [EMPTY_HEADER; INITIAL_HEADERS];
    let mut many = Vec::new();
    let parsed = match httparse::parse_headers(block, &mut few) {
        Err(httparse::Error::TooManyHeaders) => {
            many.resize(memchr::memchr_iter(b'\n', block).count(), EMPTY_HEADER);
            httparse::parse_headers(block, &mut many)
        }
        parsed => parsed,
    };
    let Ok(httparse::Status::Complete((length, headers))) = parsed else {
        return None;
    };
    if length != block.len() || headers.iter().any(|header| place(block, header).is_none()) {
        return None;
    }
    let mut places = headers.iter().filter_map(|header| place(block, header));
    Some(places.try_for_each(each))
}

/// Counts the headers of a valid plain block: no tab, no white space around a name, not too many lines.
fn read_plain(block: &[u8], into: &mut [Place; MAX_PLAIN_LINES]) -> Option<usize> {
    let mut count = 0;
    // Start and first colon of the line being read.
    let (mut start, mut colon) = (0, None);
    let (parts, rest) = block.as_chunks::<PART>();
    // The last part is padded with blanks, which are neither newlines nor colons.
    let mut last = [b' '; PART];
    last[..rest.len()].copy_from_slice(rest);
    for (index, part) in parts.iter().chain([&last]).enumerate() {
        let at = index * PART;
        let Marks {
            mut newlines,
            mut colons,
        } = marks::find(part);
        loop {
            if colon.is_none() && colons != 0 {
                colon = Some(at + colons.trailing_zeros() as usize);
            }
            if newlines == 0 {
                break;
            }
            let bit = newlines.trailing_zeros();
            let end = (at + bit as usize).checked_sub(1)?;
            if block[end] != b'\r' {
                return None;
            }
            if end == start {
                let is_whole = start + 2 == block.len();
                // Each line has two control characters, and no other byte of the block may be one.
                return (is_whole && controls(block) == 2 * (count + 1)).then_some(count);
            }
            *into.get_mut(count)? = line(block, start, colon?, end)?;
            count += 1;
            start = end + 2;
            colon = None;
            newlines &= newlines - 1;
            colons &= u64::MAX << bit;
        }
    }
    None
}

/// Parses the line from `start` to `end`, whose first colon may be after it.
fn line(block: &[u8], start: usize, colon: usize, end: usize) -> Option<Place> {
    if colon == start || colon >= end || !is_name(&block[start..], colon - start) {
        return None;
    }
    let mut value = colon + 1;
    // The end of the line is not a blank, so the loop stops there.
    while block[value] == b' ' {
        value += 1;
    }
    let mut value_end = end;
    while value_end > value && block[value_end - 1] == b' ' {
        value_end -= 1;
    }
    Some(Place {
        name: start as u32,
        colon: colon as u32,
        value: value as u32,
        value_end: value_end as u32,
        end: end as u32,
    })
}

/// Returns true if the first bytes are those of a name.
fn is_name(bytes: &[u8], length: usize) -> bool {
    let (mut rest, mut left) = (bytes, length);
    while let Some((part, behind)) = rest.split_first_chunk()
        && marks::are_usual(part, left)
    {
        if left <= part.len() {
            return true;
        }
        left -= part.len();
        rest = behind;
    }
    // Checks all of them, without a branch for each.
    bytes[..length]
        .iter()
        .fold(true, |so_far, byte| so_far & IS_TOKEN[*byte as usize])
}

fn controls(bytes: &[u8]) -> usize {
    // Summed in a byte, so that a compiler adds sixteen at a time; this many fit.
    const PART: usize = 128;
    let count = |part: &[u8]| {
        let is_control = |byte: &u8| u8::from(*byte < 0x20 || *byte == 0x7f);
        usize::from(part.iter().map(is_control).sum::<u8>())
    };
    let (parts, rest) = bytes.as_chunks::<PART>();
    parts.iter().map(|part| count(part)).sum::<usize>() + count(rest)
}

/// Returns the place of a header found by httparse; `None` if its line does not end in CRLF, which httparse accepts.
fn place(block: &[u8], header: &Header<'_>) -> Option<Place> {
    let start = block.as_ptr().addr();
    let name = header.name.as_ptr().addr() - start;
    let colon = name + header.name.len();
    let value = if header.value.is_empty() {
        let blanks = block[colon + 1..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'));
        colon + 1 + blanks.count()
    } else {
        header.value.as_ptr().addr() - start
    };
    let value_end = value + header.value.len();
    let mut end = value_end;
    while matches!(block.get(end), Some(b' ' | b'\t')) {
        end += 1;
    }
    (block.get(end..end + 2) == Some(b"\r\n")).then_some(Place {
        name: name as u32,
        colon: colon as u32,
        value: value as u32,
        value_end: value_end as u32,
        end: end as u32,
    })
}

/// The characters of a name (RFC 9110, section 5.6.2).
const IS_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"!#$%&'*+-.^_`|~";
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(block: &[u8]) -> Option<Vec<Place>> {
        let mut places = [Place::default(); MAX_PLAIN_LINES];
        read_plain(block, &mut places).map(|count| places[..count].to_vec())
    }

    /// The places that httparse finds.
    fn parsed(block: &[u8]) -> Option<Vec<Place>> {
        let mut headers = [EMPTY_HEADER; INITIAL_HEADERS];
        let Ok(httparse::Status::Complete((length, headers))) =
            httparse::parse_headers(block, &mut headers)
        else {
            return None;
        };
        let places = headers.iter().map(|header| place(block, header));
        places
            .collect::<Option<_>>()
            .filter(|_| length == block.len())
    }

    const BLOCK: &[u8] = b"Host: a\r\nX-Empty:\r\nX-Blank:   \r\nX-Wide:   b c  \r\nA:d\r\n\r\n";

    #[test]
    fn plain_blocks_are_read_as_httparse_reads_them() {
        assert_eq!(plain(BLOCK), parsed(BLOCK));
        assert_eq!(plain(BLOCK).map(|places| places.len()), Some(5));
        assert_eq!(plain(b"\r\n"), Some(Vec::new()));
    }

    #[test]
    fn whatever_byte_stands_anywhere_nothing_is_taken_that_httparse_refuses() {
        for at in 0..BLOCK.len() {
            for byte in 0..=255 {
                let mut block = BLOCK.to_vec();
                block[at] = byte;
                let found = plain(&block);
                if found.is_some() {
                    assert_eq!(found, parsed(&block), "byte {byte} at {at}");
                } else if byte > b' ' && byte != 0x7f && parsed(&block).is_some() {
                    panic!("byte {byte} at {at} is not plain");
                }
            }
        }
    }

    #[test]
    fn a_block_without_its_end_is_not_plain() {
        for length in 0..BLOCK.len() {
            assert_eq!(plain(&BLOCK[..length]), None, "{length} bytes");
        }
        assert_eq!(plain(b"A: b\r\n\r\nC: d\r\n\r\n"), None);
    }

    #[test]
    fn lines_are_found_wherever_parts_of_a_block_begin() {
        for length in 0..200 {
            let filler = "y".repeat(length);
            let lines = format!("X-Filler: {filler}\r\nHost: a:1\r\n{filler}: b\r\n\r\n");
            let lines = lines.replace("\r\n: b", "");
            assert_eq!(
                plain(lines.as_bytes()),
                parsed(lines.as_bytes()),
                "{length}"
            );
            assert!(plain(lines.as_bytes()).is_some(), "{length}");
        }
    }

    #[test]
    fn a_name_may_have_any_length_and_all_its_characters() {
        for length in 1..70 {
            for byte in 0..=255 {
                let mut block = vec![b'A'; length];
                block[length - 1] = byte;
                block.extend_from_slice(b": b\r\n\r\n");
                let is_good = IS_TOKEN[usize::from(byte)] || byte == b':';
                let expected = parsed(&block).filter(|_| is_good);
                assert_eq!(plain(&block), expected, "byte {byte} of {length}");
            }
        }
    }

    #[test]
    fn controls_are_counted_in_blocks_of_any_length() {
        for length in 0..600 {
            let text = vec![b'\n'; length];
            assert_eq!(controls(&text), length);
            assert_eq!(controls(&vec![b'~'; length]), 0);
        }
    }

    #[test]
    fn many_lines_are_read_too() {
        let block = format!("{}\r\n", "A: b\r\n".repeat(100));
        assert_eq!(plain(block.as_bytes()), None);
        let mut count = 0;
        let read = read(block.as_bytes(), |place| {
            assert_eq!(place.value_of(block.as_bytes()), b"b");
            count += 1;
            Ok::<(), ()>(())
        });
        assert_eq!((read, count), (Some(Ok(())), 100));
    }
}
