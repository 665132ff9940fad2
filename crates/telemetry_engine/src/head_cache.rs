//! Clients send the same header lines again and again: what was read of them is kept, by their bytes.

use std::sync::Arc;

use memchr::memmem::Finder;

use crate::hash::hash_bytes;
use crate::head::{Connected, Head};
use crate::latin1::trimmed;
use crate::trace_parent::{self, TraceParent};

/// Number of places; the bytes choose one, and the last comer has it.
const PLACES: usize = 512;
/// Longer blocks are read each time.
const MAX_BYTES: usize = 4096;

struct Kept {
    hash: u64,
    how: Connected,
    /// Length of the bytes before the value of `traceparent`.
    before: usize,
    /// The block without that value.
    block: Box<[u8]>,
    head: Arc<Head>,
}

/// Heads that were read.
pub(crate) struct HeadCache {
    kept: Vec<Option<Kept>>,
    trace_parent: Finder<'static>,
    limit: u32,
}

impl HeadCache {
    pub fn new(limit: u32) -> Self {
        Self {
            kept: std::iter::repeat_with(|| None).take(PLACES).collect(),
            trace_parent: Finder::new(b"\r\ntraceparent:"),
            limit,
        }
    }

    /// Reads the header lines of a request.
    pub fn read(&mut self, block: &[u8], how: Connected) -> (Arc<Head>, Option<TraceParent>) {
        // Each request has a `traceparent` of its own, so that line is not part of the key.
        let (before, value, after) = self.split(block);
        let head = self.head(before, after, how);
        let parent = match value {
            None => head.trace_parent,
            // Node joins two lines, and no parser reads the result.
            Some(_) if head.has_trace_parent => None,
            Some(value) => trace_parent::parse(trimmed(value)),
        };
        (head, parent)
    }

    fn split<'a>(&self, block: &'a [u8]) -> (&'a [u8], Option<&'a [u8]>, &'a [u8]) {
        let name = b"traceparent:";
        let start = if block.starts_with(name) {
            name.len()
        } else {
            match self.trace_parent.find(block) {
                Some(at) => at + 2 + name.len(),
                None => return (block, None, &[]),
            }
        };
        let rest = &block[start..];
        let end = memchr::memchr(b'\r', rest).unwrap_or(rest.len());
        (&block[..start], Some(&rest[..end]), &rest[end..])
    }

    fn head(&mut self, before: &[u8], after: &[u8], how: Connected) -> Arc<Head> {
        let hash = hash_bytes(hash_bytes(0, before), after);
        let place = &mut self.kept[hash as usize % PLACES];
        if let Some(kept) = place
            && kept.hash == hash
            && kept.how == how
            && kept.before == before.len()
            && kept.block.len() == before.len() + after.len()
            && kept.block[..before.len()] == *before
            && kept.block[before.len()..] == *after
        {
            return Arc::clone(&kept.head);
        }
        let head = Arc::new(read(before, after, how, self.limit));
        if before.len() + after.len() <= MAX_BYTES {
            *place = Some(Kept {
                hash,
                how,
                before: before.len(),
                block: [before, after].concat().into_boxed_slice(),
                head: Arc::clone(&head),
            });
        }
        head
    }
}

fn read(before: &[u8], after: &[u8], how: Connected, limit: u32) -> Head {
    // Without its value, the line of `traceparent` is the last of `before`.
    let is_cut = before.last().is_some_and(|last| *last != b'\n');
    let start = if is_cut {
        memchr::memrchr(b'\n', before).map_or(0, |at| at + 1)
    } else {
        before.len()
    };
    let lines = |bytes| <[u8]>::split(bytes, |byte: &u8| *byte == b'\n');
    Head::read(lines(&before[..start]).chain(lines(after)), how, limit)
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
    fn requests_that_differ_in_their_parent_share_a_head() {
        let mut cache = HeadCache::new(u32::MAX);
        let other = PARENT.replace("b7ad", "ffff");
        let mut read = |parent: &str| {
            let block = format!("host: x\r\ntraceparent: {parent}\r\naccept: y\r\n");
            cache.read(block.as_bytes(), PLAIN)
        };
        let (first, one) = read(PARENT);
        let (second, two) = read(&other);
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
