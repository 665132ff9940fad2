//! Clients send the same header lines again and again: what was read of them is kept, by the lines that matter.

use std::sync::Arc;

use crate::hash::hash_bytes;
use crate::head::{Connected, Head, Name};
use crate::trace_parent::{self, TraceParent};

/// Number of places; the bytes choose one, and the last comer has it.
const PLACES: usize = 512;
/// Longer lines are read each time.
const MAX_BYTES: usize = 4096;

struct Kept {
    hash: u64,
    how: Connected,
    lines: Box<[u8]>,
    head: Arc<Head>,
}

/// Heads that were read.
pub(crate) struct HeadCache {
    kept: Vec<Option<Kept>>,
    /// The lines of a request that matter.
    lines: Vec<u8>,
    limit: u32,
}

impl HeadCache {
    pub fn new(limit: u32) -> Self {
        Self {
            kept: std::iter::repeat_with(|| None).take(PLACES).collect(),
            lines: Vec::new(),
            limit,
        }
    }

    /// Reads the header lines of a request, each with its line end.
    pub fn read(&mut self, block: &[u8], how: Connected) -> (Arc<Head>, Option<TraceParent>) {
        self.lines.clear();
        let mut parents = 0;
        let mut parent = None;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            let line = &block[start..=end];
            start = end + 1;
            match Name::of(&line[..line.len() - 1]) {
                // Each request has one of its own.
                Some((Name::TraceParent, value)) => {
                    parents += 1;
                    parent = trace_parent::parse(value);
                }
                Some(_) => self.lines.extend_from_slice(line),
                None => {}
            }
        }
        // Node joins two lines, and no parser reads the result.
        (self.head(how), parent.filter(|_| parents == 1))
    }

    fn head(&mut self, how: Connected) -> Arc<Head> {
        let lines = &self.lines[..];
        let hash = hash_bytes(0, lines);
        let place = &mut self.kept[hash as usize % PLACES];
        if let Some(kept) = place
            && kept.hash == hash
            && kept.how == how
            && *kept.lines == *lines
        {
            return Arc::clone(&kept.head);
        }
        let each = lines.split(|byte| *byte == b'\n');
        let head = Arc::new(Head::read(each, how, self.limit));
        if lines.len() <= MAX_BYTES {
            *place = Some(Kept {
                hash,
                how,
                lines: lines.into(),
                head: Arc::clone(&head),
            });
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::{Field, next_field};

    const PLAIN: Connected = Connected {
        is_tls: false,
        is_http_10: false,
    };
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    /// Returns attributes as `key=value`, in their order.
    fn attributes(mut encoded: &[u8]) -> Vec<String> {
        let mut out = Vec::new();
        while let Some((9, Field::Bytes(mut pair))) = next_field(&mut encoded) {
            let (Some((1, Field::Bytes(key))), Some((2, Field::Bytes(mut value)))) =
                (next_field(&mut pair), next_field(&mut pair))
            else {
                panic!("no attribute");
            };
            let value = match next_field(&mut value) {
                Some((1, Field::Bytes(text))) => String::from_utf8_lossy(text).into_owned(),
                Some((3, Field::Number(number))) => number.to_string(),
                Some((4, Field::Fixed64(bits))) => f64::from_bits(bits).to_string(),
                other => panic!("{other:?}"),
            };
            out.push(format!("{}={value}", String::from_utf8_lossy(key)));
        }
        out
    }

    fn read(block: &str, how: Connected) -> (Vec<String>, Option<TraceParent>, Option<String>) {
        let mut cache = HeadCache::new(u32::MAX);
        let (head, parent) = cache.read(block.as_bytes(), how);
        let (again, same_parent) = cache.read(block.as_bytes(), how);
        assert!(Arc::ptr_eq(&head, &again));
        assert_eq!(parent, same_parent);
        let state = head.trace_state.as_deref().map(str::to_owned);
        (attributes(&head.attributes), parent, state)
    }

    #[test]
    fn lines_become_attributes() {
        let block = "Host: shop.example:8080\r\nUser-Agent:  probe/1\r\nAccept: */*\r\n";
        assert_eq!(
            read(block, PLAIN).0,
            [
                "url.scheme=http",
                "network.protocol.version=1.1",
                "user_agent.original=probe/1",
                "server.address=shop.example",
                "server.port=8080"
            ]
        );
    }

    #[test]
    fn proxies_name_client_and_server() {
        let how = Connected {
            is_tls: true,
            is_http_10: true,
        };
        let block = "host: in\r\nx-forwarded-for: 192.0.2.1:99, 10.0.0.1\r\nX-Forwarded-Host: out\r\n\
                     x-forwarded-proto: https\r\n";
        assert_eq!(
            read(block, how).0[2..],
            [
                "client.address=192.0.2.1",
                "server.address=out",
                "server.port=443"
            ]
        );
        let block = "x-forwarded-for: 192.0.2.1\r\nforwarded: for=\"[2001:db8::1]:5\";host=first\r\n\
                     forwarded: host=second\r\n";
        assert_eq!(
            read(block, how).0[2..],
            ["client.address=2001:db8::1", "server.address=first"]
        );
        let block = "x-forwarded-for: 192.0.2.1\r\nforwarded: broken\r\nhost: in\r\n";
        assert_eq!(
            read(block, how).0[2..],
            [
                "client.address=192.0.2.1",
                "server.address=in",
                "server.port=443"
            ]
        );
    }

    #[test]
    fn ports_are_numbers_of_javascript() {
        assert_eq!(read("host: a:\r\n", PLAIN).0[3], "server.port=0");
        assert_eq!(read("host: a:b\r\n", PLAIN).0[3], "server.port=NaN");
        assert_eq!(read("host: a:1.5\r\n", PLAIN).0[3], "server.port=1.5");
        assert_eq!(read("host: a:0x50\r\n", PLAIN).0[3], "server.port=80");
    }

    #[test]
    fn the_trace_of_the_caller_is_found_in_any_place_and_case() {
        for block in [
            format!("traceparent: {PARENT}\r\ntracestate: a=1\r\nhost: x\r\n"),
            format!("host: x\r\ntracestate: a=1\r\ntraceparent: {PARENT}\r\n"),
            format!("host: x\r\nTraceparent:{PARENT}\r\nTraceState: a=1\r\n"),
        ] {
            let (attributes, parent, state) = read(&block, PLAIN);
            assert_eq!(attributes.len(), 4, "{block}");
            assert_eq!(parent, trace_parent::parse(PARENT.as_bytes()));
            assert_eq!(state.as_deref(), Some("a=1"));
        }
    }

    #[test]
    fn two_parents_are_none() {
        for second in ["traceparent", "Traceparent"] {
            let block = format!("traceparent: {PARENT}\r\n{second}: {PARENT}\r\n");
            assert_eq!(read(&block, PLAIN).1, None);
        }
    }

    #[test]
    fn requests_that_differ_elsewhere_share_a_head() {
        let mut cache = HeadCache::new(u32::MAX);
        let other = PARENT.replace("b7ad", "ffff");
        let mut read = |parent: &str, id: &str| {
            let block = format!("host: x\r\ntraceparent: {parent}\r\nx-id: {id}\r\n");
            cache.read(block.as_bytes(), PLAIN)
        };
        let (first, one) = read(PARENT, "1");
        let (second, two) = read(&other, "2");
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(two.map(|two| two.span_id[0]), Some(0xff));
        assert_ne!(one, two);
    }

    #[test]
    fn the_same_bytes_on_another_kind_of_connection_are_read_again() {
        let mut cache = HeadCache::new(u32::MAX);
        let tls = Connected {
            is_tls: true,
            ..PLAIN
        };
        let (first, _) = cache.read(b"host: x\r\n", PLAIN);
        let (second, _) = cache.read(b"host: x\r\n", tls);
        assert_eq!(attributes(&first.attributes)[0], "url.scheme=http");
        assert_eq!(attributes(&second.attributes)[0], "url.scheme=https");
    }

    #[test]
    fn a_host_that_is_no_host_makes_no_url() {
        let valid = |block: &str| {
            HeadCache::new(1)
                .read(block.as_bytes(), PLAIN)
                .0
                .is_host_valid
        };
        assert!(valid(""));
        assert!(valid("host:\r\n"));
        assert!(valid("host: a:1\r\n"));
        assert!(!valid("host: a b\r\n"));
    }
}
