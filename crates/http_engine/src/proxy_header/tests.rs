use super::*;

fn ip(text: &str) -> Address {
    Address::Ip(text.parse().expect("an address"))
}

fn whole(bytes: &[u8]) -> ProxyHeader {
    let (header, length) = read(bytes).expect("valid").expect("complete");
    assert_eq!(length, bytes.len());
    header
}

fn wrong(bytes: &[u8]) -> ProblemKind {
    read(bytes).expect_err("refused").kind
}

fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
    let mut bytes = SIGNATURE.to_vec();
    bytes.extend([command, family]);
    bytes.extend((rest.len() as u16).to_be_bytes());
    bytes.extend(rest);
    bytes
}

const V4: [u8; 12] = [203, 0, 113, 7, 192, 0, 2, 1, 0x30, 0x39, 0, 80];

fn with_values(values: &[u8]) -> Vec<u8> {
    binary(0x21, 0x11, &[&V4[..], values].concat())
}

/// Like [`with_values`], with a valid checksum after them.
fn with_checksum(values: &[u8]) -> Vec<u8> {
    let mut bytes = with_values(&[values, &[CRC32C, 0, 4, 0, 0, 0, 0]].concat());
    let checksum = crc32c(bytes.iter().copied());
    let at = bytes.len() - 4;
    bytes[at..].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

#[test]
fn a_line_says_both_ends() {
    let endpoints = whole(b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 80\r\n").endpoints;
    let endpoints = endpoints.expect("endpoints");
    assert_eq!(endpoints.source, ip("203.0.113.7:12345"));
    assert_eq!(endpoints.destination, ip("192.0.2.1:80"));
    let endpoints = whole(b"PROXY TCP6 2001:db8::1 ::1 0 65535\r\n").endpoints;
    let endpoints = endpoints.expect("endpoints");
    assert_eq!(endpoints.source, ip("[2001:db8::1]:0"));
    assert_eq!(endpoints.destination, ip("[::1]:65535"));
}

#[test]
fn an_unknown_line_says_nothing() {
    for line in [
        "PROXY UNKNOWN\r\n",
        "PROXY UNKNOWN ffff::1 ffff::2 65535 65535\r\n",
    ] {
        assert_eq!(whole(line.as_bytes()).endpoints, None);
    }
}

#[test]
fn other_lines_are_refused() {
    for rest in [
        "",
        "TCP4",
        "TCP4 1.2.3.4 1.2.3.4 1",
        "TCP4 1.2.3.4 1.2.3.4 1 2 3",
        "TCP4  1.2.3.4 1.2.3.4 1 2",
        "TCP4 1.2.3.4 1.2.3.4 1 2 ",
        "TCP4 01.2.3.4 1.2.3.4 1 2",
        "TCP4 1.2.3 1.2.3.4 1 2",
        "TCP4 ::1 ::1 1 2",
        "TCP6 1.2.3.4 1.2.3.4 1 2",
        "TCP6 [::1] ::1 1 2",
        "TCP6 fe80::1%1 ::1 1 2",
        "TCP4 1.2.3.4 1.2.3.4 01 2",
        "TCP4 1.2.3.4 1.2.3.4 +1 2",
        "TCP4 1.2.3.4 1.2.3.4 65536 2",
        "TCP4 1.2.3.4 1.2.3.4  2",
        "tcp4 1.2.3.4 1.2.3.4 1 2",
        "UDP4 1.2.3.4 1.2.3.4 1 2",
        "UNKNOWN1",
        "TCP4\t1.2.3.4 1.2.3.4 1 2",
    ] {
        let line = format!("PROXY {rest}\r\n");
        assert_eq!(wrong(line.as_bytes()), ProblemKind::ProxyLine, "{rest}");
    }
    assert_eq!(wrong(b"PROXY UNKNOWN\n"), ProblemKind::ProxyLine);
    assert_eq!(wrong(b"PROXY UNKNOWN \r0\r\n"), ProblemKind::ProxyLine);
    assert_eq!(wrong(b"PROXY \0"), ProblemKind::ProxyLine);
    let long = |length: usize| format!("PROXY UNKNOWN {}\r\n", "x".repeat(length - 16));
    whole(long(MAX_LINE).as_bytes());
    assert_eq!(wrong(long(MAX_LINE + 1).as_bytes()), ProblemKind::ProxyLine);
}

#[test]
fn what_is_no_header_is_refused_with_its_first_byte() {
    for start in [
        "G",
        "POST / HTTP/1.1",
        "PRO ",
        "\r\nG",
        "\n",
        "\0",
        "proxy ",
    ] {
        assert_eq!(
            wrong(start.as_bytes()),
            ProblemKind::ProxyMissing,
            "{start}"
        );
    }
}

#[test]
fn bytes_say_both_ends() {
    let header = whole(&binary(0x21, 0x11, &V4));
    let endpoints = header.endpoints.expect("endpoints");
    assert_eq!(endpoints.source, ip("203.0.113.7:12345"));
    assert_eq!(endpoints.destination, ip("192.0.2.1:80"));
    let mut v6 = [0; 36];
    v6[..4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    v6[15] = 1;
    v6[31] = 2;
    v6[33] = 7;
    v6[35] = 8;
    let endpoints = whole(&binary(0x21, 0x21, &v6))
        .endpoints
        .expect("endpoints");
    assert_eq!(endpoints.source, ip("[2001:db8::1]:7"));
    assert_eq!(endpoints.destination, ip("[::2]:8"));
    let mut unix = [0; 216];
    unix[..2].copy_from_slice(b"/a");
    unix[109..111].copy_from_slice(b"bc");
    let endpoints = whole(&binary(0x21, 0x31, &unix))
        .endpoints
        .expect("endpoints");
    assert_eq!(endpoints.source, Address::Unix("/a".into()));
    assert_eq!(endpoints.destination, Address::Unix("\0bc".into()));
}

#[test]
fn a_connection_of_the_proxy_itself_says_nothing() {
    for family in [0x00, 0x11, 0x21, 0x12, 0xff] {
        for rest in [&b""[..], &[7; 20]] {
            assert_eq!(whole(&binary(0x20, family, rest)).endpoints, None);
        }
    }
    assert_eq!(whole(&binary(0x21, 0x00, b"what it likes")).endpoints, None);
}

#[test]
fn other_bytes_are_refused() {
    assert_eq!(wrong(&binary(0x22, 0x11, &V4)), ProblemKind::ProxyVersion);
    assert_eq!(wrong(&binary(0x11, 0x11, &V4)), ProblemKind::ProxyVersion);
    assert_eq!(wrong(&binary(0x31, 0x11, &V4)), ProblemKind::ProxyVersion);
    for family in [0x01, 0x10, 0x12, 0x13, 0x22, 0x32, 0x41, 0xff] {
        assert_eq!(wrong(&binary(0x21, family, &V4)), ProblemKind::ProxyFamily);
    }
    assert_eq!(
        wrong(&binary(0x21, 0x11, &V4[..11])),
        ProblemKind::ProxyLength
    );
    assert_eq!(
        wrong(&binary(0x21, 0x21, &[0; 35])),
        ProblemKind::ProxyLength
    );
    assert_eq!(
        wrong(&binary(0x21, 0x31, &[0; 215])),
        ProblemKind::ProxyLength
    );
    // Refused before the rest has arrived.
    let mut long = SIGNATURE.to_vec();
    long.extend([0x20, 0x00, 0x40, 0x01]);
    assert_eq!(wrong(&long), ProblemKind::ProxyLength);
    long[15] = 0;
    assert_eq!(read(&long), Ok(None));
}

#[test]
fn values_fill_the_header() {
    let header = whole(&with_values(&[0x02, 0, 1, b'a', 0x04, 0, 0]));
    assert_eq!(*header.values, [0x02, 0, 1, b'a', 0x04, 0, 0]);
    for values in [
        &[0x02][..],
        &[0x02, 0],
        &[0x02, 0, 1],
        &[2, 0, 0, 2],
        &[2, 0xff, 0xff, 1],
    ] {
        assert_eq!(
            wrong(&with_values(values)),
            ProblemKind::ProxyValue,
            "{values:?}"
        );
    }
}

#[test]
fn a_checksum_is_checked() {
    // RFC 3720, appendix B.4.
    assert_eq!(crc32c([0; 32].into_iter()), 0x8a91_36aa);
    assert_eq!(crc32c(0..32), 0x46dd_794e);
    let good = with_checksum(&[0x02, 0, 1, b'a']);
    whole(&good);
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            // A flipped bit may change the type of the value, or a length that then needs more bytes. Both make another header.
            let is_checked = (18..28).contains(&at) || at >= good.len() - 4 || at == 31;
            if is_checked {
                assert_eq!(wrong(&bytes), ProblemKind::ProxyChecksum, "{at} {bit}");
            }
        }
    }
    let twice = [0x03, 0, 4, 0, 0, 0, 0, 0x03, 0, 4, 0, 0, 0, 0];
    assert_eq!(wrong(&with_values(&twice)), ProblemKind::ProxyValue);
    assert_eq!(
        wrong(&with_values(&[0x03, 0, 3, 0, 0, 0])),
        ProblemKind::ProxyValue
    );
}

#[test]
fn a_header_cut_anywhere_is_awaited_and_what_follows_is_left() {
    let mut unix = [0; 216];
    unix[0] = b'/';
    for header in [
        b"PROXY TCP4 203.0.113.7 192.0.2.1 12345 80\r\n".to_vec(),
        b"PROXY TCP6 2001:db8::1 ::1 0 65535\r\n".to_vec(),
        b"PROXY UNKNOWN\r\n".to_vec(),
        binary(0x20, 0x00, b""),
        binary(0x20, 0x00, b"ignored"),
        binary(0x21, 0x11, &V4),
        binary(0x21, 0x21, &[9; 36]),
        binary(0x21, 0x31, &unix),
        with_checksum(&[0x02, 0, 1, b'a', 0x04, 0, 0]),
    ] {
        for end in 0..header.len() {
            assert_eq!(read(&header[..end]), Ok(None), "{end} of {header:?}");
        }
        let expected = whole(&header);
        for behind in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"\r\n",
            b"PROXY UNKNOWN\r\n",
            b"\0",
        ] {
            let bytes = [&header[..], behind].concat();
            assert_eq!(read(&bytes), Ok(Some((expected.clone(), header.len()))));
        }
    }
}
