//! Rings to write by hand, and a decoder of what comes out.

use std::collections::BTreeMap;
use std::time::Duration;

use telemetry_engine::{Engine, Now, Sampler, Settings};
use telemetry_ring::wire::{begin, close, end, kind, level, ring};
use telemetry_ring::{Reader, Writer};

pub const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Slot, generation and sequence.
pub type Place = [u32; 3];

pub fn settings() -> Settings {
    Settings {
        resource: Vec::new(),
        max_bytes: 1 << 20,
        sampler: Sampler::AlwaysOn,
        is_parent_based: true,
        attribute_count_limit: 128,
        attribute_value_length_limit: u32::MAX,
        redacted_parameters: Vec::new(),
        boundaries: vec![0.1, 1.0],
        is_delta: false,
    }
}

/// A moment: seconds of CLOCK_MONOTONIC; 1970 was 1,000 seconds before its start.
pub fn at(seconds: u64) -> Now {
    Now {
        monotonic: Duration::from_secs(seconds),
        epoch: Duration::from_secs(1_000 + seconds),
    }
}

/// A ring whose memory is never freed.
pub fn ring() -> (Out, Reader) {
    let words = vec![0_u32; ring::FIRST_RECORD + (1 << 14)].leak();
    words[ring::VERSION] = ring::LAYOUT;
    words[ring::LEVEL] = level::HEADS;
    for (index, word) in words[ring::SEED..ring::SEED + 6].iter_mut().enumerate() {
        *word = index as u32 + 1;
    }
    let (memory, length) = (words.as_mut_ptr(), words.len());
    // SAFETY: the memory lives forever, and these are its only users.
    unsafe {
        let writer = Writer::new(memory, length).expect("a ring");
        let reader = Reader::new(memory, length).expect("a ring");
        (Out(writer), reader)
    }
}

/// An engine with one source: the rings of its HTTP engine and of its JavaScript.
pub fn engine(settings: Settings) -> (Engine, Out, Out) {
    let mut engine = Engine::new(settings, at(0));
    let (out, reader) = ring();
    let (own, own_reader) = ring();
    engine.add_source(Some(reader), own_reader);
    (engine, out, own)
}

/// Writes records.
pub struct Out(pub Writer);

impl Out {
    pub fn begin(&mut self, place: Place, second: u32, line: &str, block: &str) {
        let lengths = [line.len() as u32, block.len() as u32, 0];
        let words = [&place[..], &[second, 0], &lengths].concat();
        assert_eq!(words.len() + 1, begin::BYTES);
        let bytes = [line.as_bytes(), block.as_bytes()];
        assert!(self.0.put(kind::BEGIN, &words, &bytes));
    }

    /// `sent` is 0 if the client has not taken all yet.
    pub fn end(&mut self, place: Place, status: u32, route: u32, ended: u32, sent: u32) {
        let word = status << end::STATUS_SHIFT | route;
        let words = [&place[..], &[word, ended, 0, sent, 0, 0]].concat();
        assert_eq!(words.len() + 1, end::WORDS);
        assert!(self.0.put(kind::END, &words, &[]));
    }

    /// Writes SENT or CLOSE.
    pub fn close(&mut self, kind: u32, [slot, generation, _]: Place, second: u32) {
        let words = [slot, generation, second, 0, 0];
        assert_eq!(words.len() + 1, close::WORDS);
        assert!(self.0.put(kind, &words, &[]));
    }

    pub fn change(&mut self, place: Place, operation: u32, fields: &[u32]) {
        let words = [&place[..], &[operation], fields].concat();
        assert!(self.0.put(kind::CHANGE, &words, &[]));
    }

    pub fn numbered(&mut self, kind: u32, number: u32, text: &str) {
        let words = [number, text.len() as u32];
        assert!(self.0.put(kind, &words, &[text.as_bytes()]));
    }
}

/// The words of a text.
pub fn text(text: &str) -> Vec<u32> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let (words, _) = bytes.as_chunks::<4>();
    let words = words.iter().map(|word| u32::from_ne_bytes(*word));
    [text.len() as u32 * 2].into_iter().chain(words).collect()
}

/// Fields of a message by their numbers.
pub type Message = BTreeMap<u32, Vec<Field>>;

#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Field {
    pub fn message(&self) -> Message {
        match self {
            Self::Bytes(bytes) => message(bytes),
            Self::Number(_) => panic!("not a message: {self:?}"),
        }
    }

    pub fn text(&self) -> String {
        match self {
            Self::Bytes(bytes) => String::from_utf8(bytes.clone()).expect("UTF-8"),
            Self::Number(number) => number.to_string(),
        }
    }
}

pub fn message(mut bytes: &[u8]) -> Message {
    let mut fields = Message::new();
    let varint = |bytes: &mut &[u8]| {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let (byte, rest) = bytes.split_first().expect("a byte");
            *bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if *byte < 0x80 {
                return number;
            }
        }
    };
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let length = match tag & 7 {
            1 => 8,
            5 => 4,
            2 => varint(&mut bytes) as usize,
            _ => 0,
        };
        let field = if tag & 7 == 0 {
            Field::Number(varint(&mut bytes))
        } else {
            let (value, rest) = bytes.split_at(length);
            bytes = rest;
            if tag & 7 == 2 {
                Field::Bytes(value.to_vec())
            } else {
                let number = value.iter().rev();
                Field::Number(number.fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
            }
        };
        fields.entry(tag as u32 >> 3).or_default().push(field);
    }
    fields
}

/// Attributes as `key=value`, sorted.
pub fn attributes(message: &Message, field: u32) -> Vec<String> {
    let pairs = message.get(&field).into_iter().flatten();
    let mut all: Vec<String> = pairs
        .map(|pair| {
            let pair = pair.message();
            let value = pair[&2][0].message();
            let (_, value) = value.first_key_value().expect("a value");
            format!("{}={}", pair[&1][0].text(), value[0].text())
        })
        .collect();
    all.sort();
    all
}

/// Reads all rings, and takes all spans.
pub fn spans(engine: &mut Engine) -> Vec<Message> {
    engine.drain(at(0));
    let Some(request) = engine.take_spans(1 << 20, 1_000) else {
        return Vec::new();
    };
    let resource_spans = message(&request)[&1][0].message();
    let scopes = resource_spans[&2].iter().map(Field::message);
    scopes
        .flat_map(|scope| scope[&2].iter().map(Field::message).collect::<Vec<_>>())
        .collect()
}
