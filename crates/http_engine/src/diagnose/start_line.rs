//! The request line: method, target, version.

use super::{Reader, Step};
use crate::head::{is_server_char, is_url_char};
use crate::method::{CONNECT, FOREIGN, METHODS};
use crate::problem::ProblemKind;

const PREFACE: &[u8] = b"\r\n\r\nSM\r\n\r\n";

impl Reader<'_> {
    pub(super) fn start_line(&mut self) -> Step {
        let method = self.method()?;
        self.expect(b' ', ProblemKind::MethodSpace)?;
        self.take_while(|byte| byte == b' ')?;
        let connect = method == METHODS[usize::from(CONNECT)];
        self.target(connect)?;
        self.skip();
        if matches!(self.peek()?, b'\t' | 0x0c) {
            return self.fail_behind(ProblemKind::UrlSpace);
        }
        self.take_while(|byte| byte == b' ')?;
        for expected in b"HTTP" {
            self.expect(*expected, ProblemKind::Protocol)?;
        }
        if FOREIGN.contains(&method) {
            return self.fail(ProblemKind::ForeignMethod);
        }
        self.expect(b'/', ProblemKind::Protocol)?;
        let major = self.digit(ProblemKind::VersionMajor)?;
        self.expect(b'.', ProblemKind::VersionDot)?;
        let minor = self.digit(ProblemKind::VersionMinor)?;
        if method == "PRI" && matches!((major, minor), (b'1', b'0' | b'1') | (b'2', b'0')) {
            return self.preface();
        }
        if major != b'1' || minor > b'1' {
            return self.fail(ProblemKind::Version);
        }
        if self.peek()? != b'\r' {
            self.at += usize::from(self.peek()? == b'\n');
            return self.fail(ProblemKind::VersionEnd);
        }
        self.skip();
        self.expect(b'\n', ProblemKind::VersionLf)
    }

    fn method(&mut self) -> Step<&'static str> {
        let all = || METHODS.into_iter().chain(FOREIGN).chain(["PRI"]);
        let start = self.at;
        loop {
            let taken = &self.bytes[start..self.at];
            let fits = |method: &&str| method.as_bytes().starts_with(taken);
            // The longest available method wins, as in a trie.
            let next = self.peek()?;
            let goes_on = all().filter(fits).any(|method| {
                method
                    .as_bytes()
                    .get(taken.len())
                    .is_some_and(|byte| *byte == next)
            });
            if goes_on {
                self.skip();
            } else if let Some(method) = all().find(|method| method.as_bytes() == taken) {
                return Ok(method);
            } else {
                return self.fail(ProblemKind::Method);
            }
        }
    }

    fn target(&mut self, connect: bool) -> Step {
        let start = self.at;
        let first = self.peek()?;
        if connect {
            return self.server(start);
        }
        match first {
            b'/' | b'*' => {}
            byte if byte.is_ascii_alphabetic() => {
                self.take_while(|byte| byte.is_ascii_alphabetic())?;
                for expected in b"://" {
                    let byte = self.peek()?;
                    if byte != *expected {
                        return match byte {
                            b' ' | b'\t' | b'\r' | b'\n' | 0x0c => {
                                self.fail_behind(ProblemKind::UrlSpace)
                            }
                            _ => self.fail(ProblemKind::UrlSchema),
                        };
                    }
                    self.skip();
                }
                return self.server(start);
            }
            b' ' | b'\t' | b'\r' | b'\n' | 0x0c => return self.fail_behind(ProblemKind::UrlSpace),
            _ => return self.fail(ProblemKind::UrlStart),
        }
        self.rest_of_target(start, ProblemKind::UrlPath)
    }

    fn server(&mut self, start: usize) -> Step {
        let first = self.at;
        let taken = self.take_while(is_server_char);
        if let Some(run) = &mut self.run {
            // A second `@` is an error.
            run.good = |byte| is_server_char(byte) && byte != b'@';
        }
        let server = &self.bytes[first..self.at];
        if let Some(place) = server.windows(2).position(|pair| pair == b"@@") {
            self.at = first + place + 2;
            return self.fail(ProblemKind::UrlDoubleAt);
        }
        taken?;
        self.check_size(self.at - start)?;
        match self.peek()? {
            b'/' | b'?' => self.rest_of_target(start, ProblemKind::UrlPath),
            b' ' => self.end_target(start),
            byte @ (b'\r' | b'\n') => self.no_version(byte),
            _ => self.fail(ProblemKind::UrlServer),
        }
    }

    /// Handles a line that ends after its target. Node takes it for HTTP/0.9, which the engine does not speak.
    fn no_version(&mut self, byte: u8) -> Step {
        let end = self.at;
        if byte == b'\r' {
            self.skip();
            self.expect(b'\n', ProblemKind::UrlCr)?;
            self.at = end;
        }
        self.fail(ProblemKind::Protocol)
    }

    fn rest_of_target(&mut self, start: usize, mut part: ProblemKind) -> Step {
        loop {
            self.take_counted(start, |byte| is_url_char(byte) && !b"?#".contains(&byte))?;
            let byte = self.peek()?;
            part = match (byte, part) {
                (b' ', _) => return self.end_target(start),
                (b'\t' | 0x0c, _) => {
                    return self.fail_behind(ProblemKind::UrlSpace);
                }
                (b'\r' | b'\n', _) => return self.no_version(byte),
                (b'?', ProblemKind::UrlPath) => ProblemKind::UrlQuery,
                (b'#', _) => ProblemKind::UrlFragment,
                (byte, part) if !is_url_char(byte) => {
                    return self.fail(part);
                }
                (_, part) => part,
            };
            self.skip();
        }
    }

    fn end_target(&mut self, start: usize) -> Step {
        self.check_size(self.at - start)?;
        self.line.counted += self.at - start;
        Ok(())
    }

    fn digit(&mut self, kind: ProblemKind) -> Step<u8> {
        let byte = self.peek()?;
        if !byte.is_ascii_digit() {
            return self.fail(kind);
        }
        self.skip();
        Ok(byte)
    }

    fn preface(&mut self) -> Step {
        for expected in PREFACE {
            self.expect(*expected, ProblemKind::NoPreface)?;
        }
        self.fail(ProblemKind::Preface)
    }
}
