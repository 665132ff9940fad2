//! Validation of `Host` values that name a host.
//!
//! node:http passes any value on. Frameworks join it with the target to a URL, and a cache by URLs would take `a/admin` with the
//! target `/reports` for another page of `a`: a value that is not plainly a host, with or without a port, gets no kept response.

/// A DNS name has at most 255 bytes (RFC 1035, section 3.1).
const MAX_LENGTH: usize = 255 + ":65535".len();

/// Returns true for a host with an optional port (RFC 9110, section 7.2), for names used in DNS and by containers: letters,
/// digits, `-`, `.`, `_` and `~`, or an address in brackets. Stricter than a registered name of RFC 3986, which may have a comma.
#[must_use]
pub fn is_authority(value: &[u8]) -> bool {
    if value.len() > MAX_LENGTH {
        return false;
    }
    let host_end = match value.first() {
        Some(b'[') => match value.iter().position(|byte| *byte == b']') {
            Some(end) if end > 1 && value[1..end].iter().all(is_address_char) => end + 1,
            _ => return false,
        },
        _ => {
            let is_end = |byte: &u8| !is_name_char(byte);
            let end = value.iter().position(is_end).unwrap_or(value.len());
            if end == 0 {
                return false;
            }
            end
        }
    };
    match &value[host_end..] {
        [] => true,
        [b':', port @ ..] => {
            let digits = std::str::from_utf8(port).ok();
            !port.is_empty()
                && port.iter().all(u8::is_ascii_digit)
                && digits.is_some_and(|digits| digits.parse::<u16>().is_ok())
        }
        _ => false,
    }
}

fn is_name_char(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(byte)
}

fn is_address_char(byte: &u8) -> bool {
    byte.is_ascii_hexdigit() || b":.".contains(byte)
}

#[cfg(test)]
mod tests {
    use super::is_authority;

    #[test]
    fn hosts_are() {
        for host in [
            "a",
            "shop.example",
            "shop.example:80",
            "127.0.0.1:65535",
            "[::1]",
            "[::ffff:1.2.3.4]:8080",
            "my_service:3000",
            "xn--a-b.example.",
            "LOCALHOST",
        ] {
            assert!(is_authority(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        for value in [
            "",
            ":80",
            "a:",
            "a:b",
            "a:65536",
            "a:+1",
            "a:00000000000000000080x",
            "shop.example/admin",
            "a,b",
            "a, b",
            "https://a",
            "a b",
            "a?b",
            "a#b",
            "a@b",
            "u:p@a",
            "[]",
            "[::1",
            "[::1]x",
            "[g]",
            "a%2fb",
            "a\\b",
            "\u{fc}",
            "a\"b",
            "a:80:80",
            "a\tb",
        ] {
            assert!(!is_authority(value.as_bytes()), "{value}");
        }
        assert!(!is_authority(&[b'a'; 262]));
        for byte in 0..=u8::MAX {
            let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            assert_eq!(is_authority(&[b'a', byte, b'a']), is_plain, "{byte}");
        }
    }
}
