//! Encoded spans that wait to be taken.

use std::collections::{HashMap, VecDeque};

use crate::protobuf::{bytes, message};

/// Max number of instrumentation scopes; spans of further ones are dropped.
const MAX_SCOPES: usize = 1_000;

/// Fields of ExportTraceServiceRequest, ResourceSpans and ScopeSpans.
const RESOURCE_SPANS: u32 = 1;
const SCOPE_SPANS: u32 = 2;
const SPANS: u32 = 2;
const SCHEMA_URL: u32 = 3;

/// The spans of one scope.
struct Scope {
    /// The scope, as a field of ScopeSpans.
    head: Vec<u8>,
    schema_url: String,
    /// Spans, each as a field of ScopeSpans.
    encoded: Vec<u8>,
    /// Number of bytes at the start that were taken.
    taken: usize,
    /// Their lengths.
    lengths: VecDeque<u32>,
}

/// Spans by their scopes, at most some bytes.
pub(crate) struct Queue {
    max_bytes: usize,
    bytes: usize,
    spans: usize,
    scopes: Vec<Scope>,
    numbers: HashMap<Box<str>, usize>,
    /// The scope from which the next batch begins.
    next: usize,
    /// Number of spans that found no room.
    pub dropped: u64,
    /// Number of spans that found it.
    pub added: u64,
}

impl Queue {
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            bytes: 0,
            spans: 0,
            scopes: Vec::new(),
            numbers: HashMap::new(),
            next: 0,
            dropped: 0,
            added: 0,
        }
    }

    pub fn waiting_bytes(&self) -> usize {
        self.bytes
    }

    pub fn waiting_spans(&self) -> usize {
        self.spans
    }

    /// Returns the number of a scope: `name`, NUL, `version`, NUL, `schema URL`.
    pub fn scope(&mut self, text: &str) -> Option<usize> {
        if let Some(number) = self.numbers.get(text) {
            return Some(*number);
        }
        if self.scopes.len() == MAX_SCOPES {
            return None;
        }
        let mut parts = text.splitn(3, '\0');
        let mut part = || parts.next().unwrap_or_default();
        let (name, version, schema_url) = (part(), part(), part());
        let mut head = Vec::new();
        message(&mut head, 1, |out| {
            bytes(out, 1, name.as_bytes());
            if !version.is_empty() {
                bytes(out, 2, version.as_bytes());
            }
        });
        self.scopes.push(Scope {
            head,
            schema_url: schema_url.to_owned(),
            encoded: Vec::new(),
            taken: 0,
            lengths: VecDeque::new(),
        });
        let number = self.scopes.len() - 1;
        self.numbers.insert(text.into(), number);
        Some(number)
    }

    /// Adds the content of a message Span, or counts it as dropped.
    pub fn add(&mut self, scope: usize, span: &[u8]) {
        let scope = &mut self.scopes[scope];
        // Tag and length have at most six bytes.
        if self.bytes + span.len() + 6 > self.max_bytes {
            self.dropped += 1;
            return;
        }
        let before = scope.encoded.len();
        bytes(&mut scope.encoded, SPANS, span);
        let length = scope.encoded.len() - before;
        scope.lengths.push_back(length as u32);
        self.bytes += length;
        self.spans += 1;
        self.added += 1;
    }

    /// Takes about `max_bytes` and at most `max_spans` as an ExportTraceServiceRequest; at least one span, if one waits.
    pub fn take(&mut self, resource: &[u8], max_bytes: usize, max_spans: usize) -> Option<Vec<u8>> {
        if self.spans == 0 || max_spans == 0 {
            return None;
        }
        let mut content = resource.to_vec();
        let mut left = max_spans;
        let mut room = max_bytes.saturating_sub(content.len());
        let count = self.scopes.len();
        for offset in 0..count {
            let number = (self.next + offset) % count;
            let scope = &mut self.scopes[number];
            if scope.lengths.is_empty() {
                continue;
            }
            let is_first = left == max_spans;
            let (spans, length) = scope.fitting(room, left, is_first);
            if spans > 0 {
                scope.take(&mut content, spans, length);
                left -= spans;
                room = room.saturating_sub(length);
                self.bytes -= length;
                self.spans -= spans;
            }
            if !scope.lengths.is_empty() {
                self.next = (number + 1) % count;
                break;
            }
        }
        let mut request = Vec::with_capacity(content.len() + 8);
        bytes(&mut request, RESOURCE_SPANS, &content);
        Some(request)
    }
}

impl Scope {
    /// Returns how many spans fit, and their bytes.
    fn fitting(&self, room: usize, left: usize, is_first: bool) -> (usize, usize) {
        let mut spans = 0;
        let mut bytes = 0;
        for length in self.lengths.iter().take(left) {
            let longer = bytes + *length as usize;
            if longer > room && !(is_first && spans == 0) {
                break;
            }
            bytes = longer;
            spans += 1;
        }
        (spans, bytes)
    }

    fn take(&mut self, out: &mut Vec<u8>, spans: usize, length: usize) {
        message(out, SCOPE_SPANS, |out| {
            out.extend_from_slice(&self.head);
            out.extend_from_slice(&self.encoded[self.taken..self.taken + length]);
            if !self.schema_url.is_empty() {
                bytes(out, SCHEMA_URL, self.schema_url.as_bytes());
            }
        });
        self.lengths.drain(..spans);
        self.taken += length;
        // Bytes move once at most: they are fewer than those that were taken.
        if self.taken * 2 >= self.encoded.len() {
            self.encoded.drain(..self.taken);
            self.taken = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::{Field, next_field};

    /// Returns the names of scopes, their schema URLs and their spans.
    fn decoded(request: &[u8]) -> Vec<(String, String, Vec<String>)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let Some((1, Field::Bytes(mut resource_spans))) = next_field(&mut &*request) else {
            panic!("no resource");
        };
        let mut out = Vec::new();
        while let Some((field, Field::Bytes(mut scope_spans))) = next_field(&mut resource_spans) {
            if field != 2 {
                continue;
            }
            let (mut name, mut url, mut spans) = (String::new(), String::new(), Vec::new());
            while let Some((field, Field::Bytes(value))) = next_field(&mut scope_spans) {
                match field {
                    1 => name = text(value),
                    2 => spans.push(text(value)),
                    _ => url = text(value),
                }
            }
            out.push((name, url, spans));
        }
        out
    }

    fn entry(name: &str, url: &str, spans: &[&str]) -> (String, String, Vec<String>) {
        let spans = spans.iter().map(ToString::to_string).collect();
        (name.to_owned(), url.to_owned(), spans)
    }

    #[test]
    fn spans_come_with_their_scopes() {
        let mut queue = Queue::new(1_000);
        let one = queue.scope("one").expect("a scope");
        let two = queue.scope("two\x001.2\0http://schema").expect("a scope");
        assert_eq!(queue.scope("one"), Some(one));
        queue.add(two, b"a");
        queue.add(one, b"b");
        queue.add(two, b"c");
        assert_eq!((queue.waiting_spans(), queue.waiting_bytes()), (3, 9));
        let request = queue.take(b"", 1_000, 10).expect("a request");
        assert_eq!(
            decoded(&request),
            [
                entry("\n\x03one", "", &["b"]),
                entry("\n\x03two\x12\x031.2", "http://schema", &["a", "c"])
            ]
        );
        assert_eq!((queue.waiting_spans(), queue.waiting_bytes()), (0, 0));
        assert_eq!(queue.take(b"", 1_000, 10), None);
    }

    #[test]
    fn spans_beyond_the_bound_are_dropped_and_counted() {
        let mut queue = Queue::new(30);
        let scope = queue.scope("s").expect("a scope");
        for _ in 0..5 {
            queue.add(scope, b"0123456789");
        }
        assert_eq!(
            (queue.waiting_spans(), queue.dropped, queue.added),
            (2, 3, 2)
        );
        queue.take(b"", 1_000, 1).expect("a request");
        queue.add(scope, b"0123456789");
        assert_eq!((queue.waiting_spans(), queue.dropped), (2, 3));
    }

    #[test]
    fn batches_have_limits_and_every_scope_its_turn() {
        let mut queue = Queue::new(10_000);
        let scopes = ["a", "b"].map(|name| queue.scope(name).expect("a scope"));
        for number in 0..4 {
            for scope in scopes {
                queue.add(scope, format!(": {number}").as_bytes());
            }
        }
        let mut names = Vec::new();
        while let Some(request) = queue.take(b"", 1, 3) {
            let batch = decoded(&request);
            let spans: usize = batch.iter().map(|(_, _, spans)| spans.len()).sum();
            assert_eq!(spans, 1);
            names.push(batch[0].0.clone() + &batch[0].2[0]);
        }
        assert_eq!(names.len(), 8);
        assert_eq!(&names[..3], ["\n\x01a: 0", "\n\x01b: 0", "\n\x01a: 1"]);
        for number in 0..4 {
            queue.add(scopes[0], format!(": {number}").as_bytes());
            queue.add(scopes[1], format!(": {number}").as_bytes());
        }
        let sizes = std::iter::from_fn(|| queue.take(b"", 10_000, 3)).map(|request| {
            decoded(&request)
                .iter()
                .map(|each| each.2.len())
                .sum::<usize>()
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [3, 3, 2]);
    }

    #[test]
    fn scopes_have_a_bound() {
        let mut queue = Queue::new(10);
        for number in 0..MAX_SCOPES {
            assert_eq!(queue.scope(&number.to_string()), Some(number));
        }
        assert_eq!(queue.scope("one more"), None);
    }
}
