//! The header of the PROXY protocol, versions 1 and 2, with which a proxy names the endpoints of the connection it forwards:
//! <https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt>.
//!
//! All optional variation is refused: a header is valid only if this reader would write it the same way.

use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStrExt;

use crate::address::Address;
use crate::problem::{Problem, ProblemKind};

/// Max bytes of a version 1 line, including its CRLF.
const MAX_LINE: usize = 107;
const SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
/// Bytes of signature, command, family and length.
const FIXED: usize = 16;
/// Limits the rest of a version 2 header: HAProxy itself does not read a header longer than its buffer.
const MAX_REST: usize = 16 * 1024;
const UNIX_PATH: usize = 108;
/// The type of the value that carries the header's checksum.
const CRC32C: u8 = 0x03;

/// The contents of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProxyHeader {
    /// 1 or 2.
    pub version: u8,
    /// Those of the forwarded connection. `None` for a connection of the proxy itself, and if the header does not name them.
    pub endpoints: Option<Endpoints>,
    /// The raw values after the addresses: type, length in two bytes, value.
    pub values: Box<[u8]>,
}

/// Both endpoints of a connection, as reported by its proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// The client's address.
    pub source: Address,
    /// The address it connected to.
    pub destination: Address,
}

/// Reads a header at the start of `bytes`, and returns it with its length; `None` while it is incomplete.
///
/// # Errors
/// A problem and its position.
pub fn read(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, Problem> {
    match bytes.first() {
        None => Ok(None),
        Some(b'P') => read_line(bytes),
        Some(_) => read_binary(bytes),
    }
}

fn refuse<T>(kind: ProblemKind, at: usize) -> Result<T, Problem> {
    Err(Problem::new(kind, at))
}

fn read_line(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, Problem> {
    const START: &[u8] = b"PROXY ";
    let there = bytes.len().min(START.len());
    if bytes[..there] != START[..there] {
        return refuse(ProblemKind::ProxyMissing, 0);
    }
    let seen = &bytes[..bytes.len().min(MAX_LINE)];
    let Some(end) = seen.iter().position(|byte| *byte == b'\n') else {
        let inner = seen.strip_suffix(b"\r").unwrap_or(seen);
        return match inner.iter().position(|byte| !is_line_byte(*byte)) {
            Some(at) => refuse(ProblemKind::ProxyLine, at),
            None if seen.len() == MAX_LINE => refuse(ProblemKind::ProxyLine, MAX_LINE),
            None => Ok(None),
        };
    };
    let line = &seen[..end];
    let inner = line.strip_suffix(b"\r").unwrap_or(line);
    if let Some(at) = inner.iter().position(|byte| !is_line_byte(*byte)) {
        return refuse(ProblemKind::ProxyLine, at);
    }
    if inner.len() == line.len() {
        return refuse(ProblemKind::ProxyLine, end);
    }
    let line = inner;
    let line = std::str::from_utf8(line).map_err(|_| Problem::new(ProblemKind::ProxyLine, 0))?;
    let rest = &line[START.len()..];
    let header = |endpoints| ProxyHeader {
        version: 1,
        endpoints,
        values: Box::default(),
    };
    // The text after this word must be ignored.
    if rest == "UNKNOWN" || rest.starts_with("UNKNOWN ") {
        return Ok(Some((header(None), end + 1)));
    }
    match endpoints_of_line(rest) {
        Some(endpoints) => Ok(Some((header(Some(endpoints)), end + 1))),
        None => refuse(ProblemKind::ProxyLine, START.len()),
    }
}

fn is_line_byte(byte: u8) -> bool {
    (b' '..=b'~').contains(&byte)
}

fn endpoints_of_line(rest: &str) -> Option<Endpoints> {
    let mut words = rest.split(' ');
    let family = words.next()?;
    let parse = |word: &str| -> Option<IpAddr> {
        match family {
            "TCP4" => word.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
            "TCP6" => word.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
            _ => None,
        }
    };
    let source = parse(words.next()?)?;
    let destination = parse(words.next()?)?;
    let source_port = port(words.next()?)?;
    let destination_port = port(words.next()?)?;
    words.next().is_none().then(|| Endpoints {
        source: Address::Ip(SocketAddr::new(source, source_port)),
        destination: Address::Ip(SocketAddr::new(destination, destination_port)),
    })
}

fn port(word: &str) -> Option<u16> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_digit());
    let is_shortest = word == "0" || !word.starts_with('0');
    (is_plain && is_shortest).then(|| word.parse().ok())?
}

fn read_binary(bytes: &[u8]) -> Result<Option<(ProxyHeader, usize)>, Problem> {
    let there = bytes.len().min(SIGNATURE.len());
    if bytes[..there] != SIGNATURE[..there] {
        return refuse(ProblemKind::ProxyMissing, 0);
    }
    let at = SIGNATURE.len();
    let Some(command) = bytes.get(at) else {
        return Ok(None);
    };
    let is_local = match command {
        0x20 => true,
        0x21 => false,
        _ => return refuse(ProblemKind::ProxyVersion, at),
    };
    let Some(family) = bytes.get(at + 1) else {
        return Ok(None);
    };
    let addresses = match family {
        0x00 => 0,
        0x11 => 2 * (4 + 2),
        0x21 => 2 * (16 + 2),
        0x31 => 2 * UNIX_PATH,
        // The family is ignored for a connection of the proxy itself.
        _ if is_local => 0,
        _ => return refuse(ProblemKind::ProxyFamily, at + 1),
    };
    let Some(length) = bytes.get(at + 2..FIXED) else {
        return Ok(None);
    };
    let length = usize::from(u16::from_be_bytes([length[0], length[1]]));
    let is_ignored = is_local || *family == 0;
    if length > MAX_REST || (!is_ignored && length < addresses) {
        return refuse(ProblemKind::ProxyLength, at + 2);
    }
    let end = FIXED + length;
    let Some(header) = bytes.get(..end) else {
        return Ok(None);
    };
    if is_ignored {
        let header = ProxyHeader {
            version: 2,
            endpoints: None,
            values: Box::default(),
        };
        return Ok(Some((header, end)));
    }
    let (addresses, values) = header[FIXED..].split_at(addresses);
    check_values(header, end - values.len())?;
    let header = ProxyHeader {
        version: 2,
        endpoints: Some(endpoints_of_bytes(*family, addresses)),
        values: values.into(),
    };
    Ok(Some((header, end)))
}

fn endpoints_of_bytes(family: u8, bytes: &[u8]) -> Endpoints {
    let (source, destination) = match family {
        0x31 => {
            let (source, destination) = bytes.split_at(UNIX_PATH);
            (path(source), path(destination))
        }
        _ => {
            let (ips, ports) = bytes.split_at(bytes.len() - 4);
            let (source, destination) = ips.split_at(ips.len() / 2);
            let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
            let address = |ip, port| Address::Ip(SocketAddr::new(ip_of(ip), port));
            (address(source, port(0)), address(destination, port(2)))
        }
    };
    Endpoints {
        source,
        destination,
    }
}

/// Converts four or sixteen bytes.
fn ip_of(bytes: &[u8]) -> IpAddr {
    match <[u8; 4]>::try_from(bytes) {
        Ok(bytes) => Ipv4Addr::from(bytes).into(),
        Err(_) => {
            let mut all = [0; 16];
            all.copy_from_slice(bytes);
            Ipv6Addr::from(all).into()
        }
    }
}

fn path(bytes: &[u8]) -> Address {
    let skip = usize::from(bytes[0] == 0);
    let end = bytes[skip..].iter().position(|byte| *byte == 0);
    let end = end.map_or(bytes.len(), |end| skip + end);
    let path = if end > skip { &bytes[..end] } else { &[][..] };
    Address::Unix(OsStr::from_bytes(path).into())
}

/// Checks that the values fill the header to its end, and that its checksum, if any, is right.
fn check_values(header: &[u8], start: usize) -> Result<(), Problem> {
    let mut at = start;
    let mut checksum = None;
    while at < header.len() {
        let Some(&[kind, high, low]) = header.get(at..at + 3) else {
            return refuse(ProblemKind::ProxyValue, at);
        };
        let value_at = at + 3;
        let end = value_at + usize::from(u16::from_be_bytes([high, low]));
        let Some(value) = header.get(value_at..end) else {
            return refuse(ProblemKind::ProxyValue, at);
        };
        if kind == CRC32C {
            let Ok(value) = <[u8; 4]>::try_from(value) else {
                return refuse(ProblemKind::ProxyValue, at);
            };
            if checksum
                .replace((value_at, u32::from_be_bytes(value)))
                .is_some()
            {
                return refuse(ProblemKind::ProxyValue, at);
            }
        }
        at = end;
    }
    match checksum {
        Some((at, expected)) if checksum_without(header, at) != expected => {
            refuse(ProblemKind::ProxyChecksum, at)
        }
        _ => Ok(()),
    }
}

/// Returns the checksum of a header, with the checksum's own bytes, at `at`, counted as zeros.
fn checksum_without(header: &[u8], at: usize) -> u32 {
    let bytes = header.iter().enumerate().map(|(index, byte)| {
        let is_own = (at..at + 4).contains(&index);
        if is_own { 0 } else { *byte }
    });
    crc32c(bytes)
}

/// Computes CRC-32C (Castagnoli), as in RFC 4960, appendix B. A header is short and comes once per connection, so a table does
/// not pay.
fn crc32c(bytes: impl Iterator<Item = u8>) -> u32 {
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 0 { 0 } else { POLYNOMIAL };
        }
    }
    !crc
}

#[cfg(test)]
mod tests;
