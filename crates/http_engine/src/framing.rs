//! The chunked framing of response bodies (RFC 9112, section 7.1).

/// The framing of a write.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wrap {
    pub chunk: bool,
    pub end: bool,
    /// The bytes are trailer lines after the last chunk.
    pub trailers: bool,
}

pub(crate) struct SizeLine {
    bytes: [u8; 18],
    start: usize,
}

impl SizeLine {
    pub fn new(size: usize) -> Self {
        let mut bytes = *b"0000000000000000\r\n";
        let mut start = 16;
        let mut rest = size;
        loop {
            start -= 1;
            bytes[start] = b"0123456789abcdef"[rest & 15];
            rest >>= 4;
            if rest == 0 {
                return Self { bytes, start };
            }
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// Returns the framing of a write: the size line, the text before the bytes and the text after them.
pub(crate) fn wrapping(
    length: usize,
    wrap: Wrap,
) -> (Option<SizeLine>, &'static [u8], &'static [u8]) {
    if wrap.trailers {
        return (None, b"0\r\n", b"\r\n");
    }
    match (wrap.chunk && length > 0, wrap.chunk && wrap.end) {
        (true, true) => (Some(SizeLine::new(length)), b"", b"\r\n0\r\n\r\n"),
        (true, false) => (Some(SizeLine::new(length)), b"", b"\r\n"),
        (false, true) => (None, b"", b"0\r\n\r\n"),
        (false, false) => (None, b"", b""),
    }
}

pub(crate) fn append(to: &mut Vec<u8>, bytes: &[u8], wrap: Wrap) {
    let (size, before, behind) = wrapping(bytes.len(), wrap);
    if let Some(size) = size {
        to.extend_from_slice(size.bytes());
    }
    to.extend_from_slice(before);
    to.extend_from_slice(bytes);
    to.extend_from_slice(behind);
}
