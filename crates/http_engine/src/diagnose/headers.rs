//! The header block, and its facts about the body's framing.

use super::{Reader, Step};
use crate::head::is_chunked;
use crate::problem::ProblemKind;

/// Names that llhttp recognises, and treats differently from others if a space follows.
const FRAMING: [&[u8]; 5] = [
    b"connection",
    b"content-length",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

impl Reader<'_> {
    pub(super) fn headers(&mut self) -> Step {
        loop {
            self.begin_line();
            match self.peek()? {
                b' ' if self.line.has_start_line && self.line.headers == 0 => {
                    return self.fail_behind(ProblemKind::SpaceAfterStart);
                }
                b'\r' => {
                    self.skip();
                    return if self.peek()? == b'\n' {
                        self.end()
                    } else {
                        self.fail(ProblemKind::HeadersLf)
                    };
                }
                b'\n' => {
                    self.skip();
                    return self.fail(ProblemKind::HeaderField);
                }
                _ => self.header()?,
            }
        }
    }

    fn end(&mut self) -> Step {
        self.skip();
        if self.line.framing.encoding && !self.line.framing.chunked {
            return self.fail(ProblemKind::Encoding);
        }
        Ok(())
    }

    fn header(&mut self) -> Step {
        let start = self.at;
        let name = self.take_counted(start, is_token)?;
        if self.peek()? == b' ' && FRAMING.iter().any(|known| name.eq_ignore_ascii_case(known)) {
            return self.fail_behind(ProblemKind::HeaderField);
        }
        if name.is_empty() || self.peek()? != b':' {
            return self.fail(ProblemKind::HeaderToken);
        }
        self.check_size(name.len())?;
        self.line.counted += name.len();
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        let is_encoding = name.eq_ignore_ascii_case(b"transfer-encoding");
        if is_length && self.line.framing.encoding {
            return self.fail_behind(ProblemKind::LengthWithEncoding);
        }
        if is_encoding && self.line.framing.length {
            return self.fail_behind(ProblemKind::EncodingWithLength);
        }
        self.skip();
        self.line.headers += 1;
        if self.line.headers > self.line.limits.headers {
            return self.fail(ProblemKind::HeaderOverflow);
        }
        self.take_while(|byte| matches!(byte, b' ' | b'\t'))?;
        match self.peek()? {
            b'\r' => return self.empty_value(is_length, is_encoding),
            b'\n' => {
                self.skip();
                return self.fail(ProblemKind::HeaderValue);
            }
            _ => {}
        }
        if is_length {
            self.length()?;
        } else if is_encoding {
            self.encoding()?;
        }
        self.value()
    }

    fn empty_value(&mut self, is_length: bool, is_encoding: bool) -> Step {
        self.skip();
        self.expect(b'\n', ProblemKind::EmptyValueLf)?;
        if matches!(self.peek()?, b' ' | b'\t') {
            self.skip();
            return self.fail(ProblemKind::HeaderValue);
        }
        if is_length {
            return self.fail(ProblemKind::LengthEmpty);
        }
        if is_encoding {
            return self.fail(ProblemKind::EncodingEmpty);
        }
        Ok(())
    }

    /// Checks the value, and leaves the reader at its start.
    fn length(&mut self) -> Step {
        if self.line.framing.length {
            return self.fail(ProblemKind::LengthTwice);
        }
        self.line.framing.length = true;
        let start = self.at;
        self.take_while(|byte| byte == b'0')?;
        let mut length = 0_u64;
        while self.peek()?.is_ascii_digit() {
            let digit = u64::from(self.peek()? - b'0');
            let Some(longer) = length
                .checked_mul(10)
                .and_then(|length| length.checked_add(digit))
            else {
                return self.fail_behind(ProblemKind::LengthOverflow);
            };
            length = longer;
            self.skip();
        }
        self.take_while(|byte| matches!(byte, b' ' | b'\t'))?;
        if !matches!(self.peek()?, b'\r' | b'\n') {
            return self.fail(ProblemKind::LengthChar);
        }
        self.at = start;
        Ok(())
    }

    /// Checks the encoding like [`Reader::length`].
    fn encoding(&mut self) -> Step {
        let start = self.at;
        self.line.framing.encoding = true;
        if self.line.framing.chunked {
            return self.fail_behind(ProblemKind::EncodingValue);
        }
        loop {
            if self.line.framing.chunked {
                return self.fail(ProblemKind::EncodingValue);
            }
            let token = self.take_while(|byte| byte != b',' && is_value(byte))?;
            self.line.framing.chunked = is_chunked(token);
            if self.peek()? != b',' {
                break;
            }
            self.skip();
        }
        self.at = start;
        Ok(())
    }

    fn value(&mut self) -> Step {
        let start = self.at;
        self.take_counted(start, is_value)?;
        if self.line.counted + self.at - start >= self.line.limits.size {
            return self.fail_behind(ProblemKind::HeaderOverflow);
        }
        self.line.counted += self.at - start;
        match self.peek()? {
            b'\r' => {
                self.skip();
                if self.peek()? != b'\n' {
                    return self.fail(ProblemKind::HeaderLf);
                }
                self.skip();
                if matches!(self.peek()?, b' ' | b'\t') {
                    return self.fail(ProblemKind::HeaderFold);
                }
                Ok(())
            }
            b'\n' => self.fail(ProblemKind::HeaderCr),
            _ => self.fail(ProblemKind::HeaderValue),
        }
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_value(byte: u8) -> bool {
    byte == b'\t' || (byte >= 0x20 && byte != 0x7f)
}
