//! Hosts: of the server, from the headers that name it, and of addresses, as a WHATWG URL has them.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Splits a `Host` header as `@opentelemetry/instrumentation-http` does.
pub(crate) fn host_and_port<'a>(
    header: &'a [u8],
    scheme: Option<&[u8]>,
) -> (&'a [u8], Option<&'a [u8]>) {
    let default: Option<&[u8]> = match scheme {
        Some(b"http") => Some(b"80"),
        Some(b"https") => Some(b"443"),
        _ => None,
    };
    let colons = memchr::memchr_iter(b':', header).count();
    let Some(last) = memchr::memrchr(b':', header) else {
        return (header, default);
    };
    let (host, port) = (&header[..last], &header[last + 1..]);
    if colons == 1 {
        return (host, Some(port));
    }
    if header.starts_with(b"[") {
        if port.ends_with(b"]") && default.is_some() {
            return (header, default);
        }
        if !port.ends_with(b"]") && host.ends_with(b"]") {
            return (host, Some(port));
        }
    }
    (header, None)
}

/// Returns the host name of `http://INPUT`; `None` if that is no URL.
pub(crate) fn hostname(input: &str) -> Option<String> {
    let end = input.find(['/', '?', '#', '\\']).unwrap_or(input.len());
    let authority = &input[..end];
    let host = authority.rsplit('@').next()?;
    if let Some(rest) = host.strip_prefix('[') {
        let (address, port) = rest.split_once(']')?;
        is_port(port.strip_prefix(':').unwrap_or(port)).then_some(())?;
        (port.is_empty() || port.starts_with(':')).then_some(())?;
        return address.parse::<Ipv6Addr>().ok().map(ipv6);
    }
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    let host = &*percent_decoded(host)?;
    if host.is_empty() || !is_port(port) || host.contains(is_forbidden) {
        return None;
    }
    let last = host.strip_suffix('.').unwrap_or(host).rsplit('.').next()?;
    let is_number = !last.is_empty()
        && (last.bytes().all(|byte| byte.is_ascii_digit()) || number(last).is_some());
    if is_number {
        return ipv4(host).map(|address| address.to_string());
    }
    Some(host.to_ascii_lowercase())
}

/// Returns `None` unless the result is UTF-8.
fn percent_decoded(host: &str) -> Option<Cow<'_, str>> {
    if !host.contains('%') {
        return Some(Cow::Borrowed(host));
    }
    let mut parts = host.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(all(digits, 16)? as u8);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// The form of the URL standard, which shows no IPv4 address inside.
fn ipv6(address: Ipv6Addr) -> String {
    let segments = address.segments();
    let (mut start, mut length) = (0, 0);
    let mut at = 0;
    while at < 8 {
        let zeros = segments[at..].iter().take_while(|part| **part == 0).count();
        if zeros > length {
            (start, length) = (at, zeros);
        }
        at += zeros.max(1);
    }
    let join = |parts: &[u16]| -> String {
        let parts: Vec<String> = parts.iter().map(|part| format!("{part:x}")).collect();
        parts.join(":")
    };
    if length < 2 {
        return join(&segments);
    }
    format!(
        "{}::{}",
        join(&segments[..start]),
        join(&segments[start + length..])
    )
}

/// An address of one to four numbers, the last of which fills what is left.
fn ipv4(host: &str) -> Option<Ipv4Addr> {
    let host = host.strip_suffix('.').unwrap_or(host);
    let numbers: Vec<u64> = host.split('.').map(number).collect::<Option<_>>()?;
    let (last, others) = numbers.split_last()?;
    let free = 4_u32.checked_sub(others.len() as u32)?;
    if free == 0 || others.iter().any(|part| *part > 255) || *last >= 256_u64.pow(free) {
        return None;
    }
    let start = others
        .iter()
        .zip([24, 16, 8])
        .fold(0, |sum, (part, shift)| sum | part << shift);
    Some(Ipv4Addr::from((start | last) as u32))
}

/// A decimal, octal or hexadecimal number, as the URL standard reads it.
fn number(part: &str) -> Option<u64> {
    let hex = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
    match (hex, part.strip_prefix('0')) {
        (Some(""), _) | (_, Some("")) => Some(0),
        (Some(digits), _) => all(digits, 16),
        (_, Some(digits)) => all(digits, 8),
        _ => all(part, 10),
    }
}

fn all(digits: &str, radix: u32) -> Option<u64> {
    let is_valid = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    is_valid.then(|| u64::from_str_radix(digits, radix).unwrap_or(u64::MAX))
}

fn is_port(port: &str) -> bool {
    port.is_empty()
        || port.bytes().all(|byte| byte.is_ascii_digit())
            && port.parse::<u32>().is_ok_and(|port| port < 65_536)
}

fn is_forbidden(character: char) -> bool {
    character.is_ascii_control()
        || matches!(
            character,
            ' ' | '#' | '/' | ':' | '<' | '>' | '?' | '@' | '[' | '\\' | ']' | '^' | '|' | '%'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_header_is_split() {
        let check = |header: &str, scheme: Option<&str>, host: &str, port: Option<&str>| {
            let split = host_and_port(header.as_bytes(), scheme.map(str::as_bytes));
            assert_eq!(
                split,
                (host.as_bytes(), port.map(str::as_bytes)),
                "{header}"
            );
        };
        check("shop.example", Some("http"), "shop.example", Some("80"));
        check("shop.example", Some("https"), "shop.example", Some("443"));
        check("shop.example", Some("ws"), "shop.example", None);
        check("shop.example", None, "shop.example", None);
        check("shop.example:8080", None, "shop.example", Some("8080"));
        check(":80", None, "", Some("80"));
        check("[::1]", Some("http"), "[::1]", Some("80"));
        check("[::1]", None, "[::1]", None);
        check("[::1]:3000", Some("http"), "[::1]", Some("3000"));
        check("2001:db8::1", Some("http"), "2001:db8::1", None);
    }

    #[test]
    fn host_names_are_those_of_urls() {
        let check = |input: &str, expected: Option<&str>| {
            assert_eq!(hostname(input).as_deref(), expected, "{input}");
        };
        check("192.0.2.1", Some("192.0.2.1"));
        check("192.0.2.1:8080", Some("192.0.2.1"));
        check("192.0.2.1/24", Some("192.0.2.1"));
        check("[2001:DB8::0:1]:443", Some("2001:db8::1"));
        check("[::ffff:192.0.2.1]", Some("::ffff:c000:201"));
        check("[1:0:0:2:0:0:0:3]", Some("1:0:0:2::3"));
        check("Unknown", Some("unknown"));
        check("_hidden", Some("_hidden"));
        check("user:pass@Host", Some("host"));
        check("1", Some("0.0.0.1"));
        check("0x7f.1", Some("127.0.0.1"));
        check("%41.%62", Some("a.b"));
        check("a%2", None);
        check("a%2f", None);
        check("2001:db8::1", None);
        check("[::1", None);
        check("[::1]x", None);
        check("", None);
        check("a b", None);
        check("1.2.3.256", None);
        check("1.2.3.4.5", None);
        check("host:70000", None);
        check("host:x", None);
    }
}
