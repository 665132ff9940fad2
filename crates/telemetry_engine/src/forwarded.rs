//! The header `Forwarded`, read as the package forwarded-parse reads it: one error, and no part of it counts.

/// The parameters of a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Forwarded {
    pub for_: Vec<u8>,
    pub host: Vec<u8>,
    pub proto: Option<Vec<u8>>,
}

impl Forwarded {
    fn set(&mut self, parameter: &[u8], value: Vec<u8>) {
        if parameter.eq_ignore_ascii_case(b"for") {
            self.for_ = value;
        } else if parameter.eq_ignore_ascii_case(b"host") {
            self.host = value;
        } else if parameter.eq_ignore_ascii_case(b"proto") {
            self.proto = Some(value);
        }
    }
}

/// Returns the proxies, the client's first; `None` if the value is invalid.
pub(crate) fn parse(header: &[u8]) -> Option<Vec<Forwarded>> {
    let mut output = Vec::new();
    let mut current = Forwarded::default();
    let mut rest = header;
    loop {
        // White space before a parameter is skipped, but not at the start of the header.
        if rest.len() < header.len() {
            rest = rest.trim_ascii_start_of_line();
        }
        let name = rest.iter().take_while(|byte| is_token(**byte)).count();
        if name == 0 || rest.get(name) != Some(&b'=') {
            return None;
        }
        let (parameter, after) = (&rest[..name], &rest[name + 1..]);
        let (value, after) = match after {
            [b'"', quoted @ ..] => quoted_string(quoted)?,
            _ => {
                let length = after.iter().take_while(|byte| is_token(**byte)).count();
                (after[..length].to_vec(), &after[length..])
            }
        };
        let is_empty = value.is_empty() && !matches!(rest.get(name + 1), Some(b'"'));
        if is_empty {
            return None;
        }
        current.set(parameter, value);
        let spaces = after.len() - after.trim_ascii_start_of_line().len();
        match &after[spaces..] {
            [] if spaces == 0 => {
                output.push(current);
                return Some(output);
            }
            [b';', more @ ..] => rest = more,
            [b',', more @ ..] => {
                output.push(std::mem::take(&mut current));
                rest = more;
            }
            _ => return None,
        }
    }
}

/// Returns the content of a quoted string whose first quote was read, and what follows it.
fn quoted_string(bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    let mut rest = bytes;
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((value, rest)),
            b'\\' => {
                let (escaped, after) = rest.split_first()?;
                if !is_text(*escaped) {
                    return None;
                }
                value.push(*escaped);
                rest = after;
            }
            byte if is_text(*byte) => value.push(*byte),
            _ => return None,
        }
    }
}

trait Spaces {
    fn trim_ascii_start_of_line(&self) -> &Self;
}

impl Spaces for [u8] {
    /// Removes spaces and tabs from the start.
    fn trim_ascii_start_of_line(&self) -> &Self {
        let count = self
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        &self[count..]
    }
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7e | 0x80..)
}

fn is_token(byte: u8) -> bool {
    matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'^'..=b'z' | b'|' | b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(header: &str) -> Option<Vec<(String, String, Option<String>)>> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let entry = |entry: &Forwarded| {
            (
                text(&entry.for_),
                text(&entry.host),
                entry.proto.as_deref().map(text),
            )
        };
        parse(header.as_bytes()).map(|entries| entries.iter().map(entry).collect())
    }

    #[test]
    fn parameters_are_read() {
        let one = |for_: &str, host: &str, proto: Option<&str>| {
            (for_.to_owned(), host.to_owned(), proto.map(str::to_owned))
        };
        assert_eq!(
            parsed("for=192.0.2.60;proto=http;by=203.0.113.43"),
            Some(vec![one("192.0.2.60", "", Some("http"))])
        );
        assert_eq!(
            parsed("For=\"[2001:db8:cafe::17]:4711\""),
            Some(vec![one("[2001:db8:cafe::17]:4711", "", None)])
        );
        assert_eq!(
            parsed("for=192.0.2.43, for=198.51.100.17;HOST=\"example.com:8080\" ; proto=https"),
            Some(vec![
                one("192.0.2.43", "", None),
                one("198.51.100.17", "example.com:8080", Some("https"))
            ])
        );
        assert_eq!(
            parsed("for=\"_a\\\"b\""),
            Some(vec![one("_a\"b", "", None)])
        );
        assert_eq!(parsed("for=\"\""), Some(vec![one("", "", None)]));
    }

    #[test]
    fn one_error_is_enough() {
        for header in [
            "",
            "for",
            "for=",
            "=1",
            " for=1",
            "for=1 ",
            "for=1,",
            "for=1;",
            "for=a b",
            "for=\"a",
            "for=\"a\"b",
            "for=a\"b\"",
            "for =1",
            "for= 1",
            "for=[::1]",
            "for=1;,host=2",
        ] {
            assert_eq!(parsed(header), None, "{header}");
        }
    }
}
