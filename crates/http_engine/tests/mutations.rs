//! The bodies of the fuzz targets, driven by mutations of their corpus from a fixed seed. They need no nightly compiler, so they
//! run wherever the tests do; `cargo fuzz run head` goes further.

#![cfg(target_os = "linux")]

#[path = "../fuzz/bodies/chunked.rs"]
mod chunked;
#[path = "../fuzz/bodies/head.rs"]
mod head;
#[path = "../fuzz/bodies/proxy.rs"]
mod proxy;
#[path = "../fuzz/bodies/wire.rs"]
mod wire;

use std::fs;
use std::path::Path;

/// Tokens of the grammars.
const WORDS: &[&[u8]] = &[
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b":",
    b";",
    b",",
    b"=",
    b"\"",
    b"\\",
    b"0\r\n\r\n",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"Connection: upgrade\r\nUpgrade: x\r\n",
    b"Expect: 100-continue\r\n",
    b"chunked",
    b"ffffffffffffffff",
    b"18446744073709551615",
    b"HTTP/1.1",
    b"HTTP/1.0",
    b"GET ",
    b"\xff",
    b"\x7f",
];

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a corpus")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    assert!(files.len() >= 10, "the corpus of {target}");
    files
        .into_iter()
        .map(|file| fs::read(file).expect("bytes"))
        .collect()
}

fn mutate(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Random) {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 if at < bytes.len() => {
                bytes.remove(at);
            }
            3 => {
                let word = WORDS[random.below(WORDS.len())];
                bytes.splice(at..at, word.iter().copied());
            }
            4 => {
                let end = (at + random.below(20)).min(bytes.len());
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            _ => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len() + 1);
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
        }
    }
}

fn drive(target: &str, rounds: usize, run: impl Fn(&[u8])) {
    let corpus = corpus(target);
    for bytes in &corpus {
        run(bytes);
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..rounds {
        let mut bytes = corpus[random.below(corpus.len())].clone();
        mutate(&mut bytes, &corpus, &mut random);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(&bytes)));
        assert!(result.is_ok(), "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn the_two_readers_of_heads_agree() {
    drive("head", 20_000, head::run);
}

#[test]
fn chunked_bodies_do_not_depend_on_their_pieces() {
    drive("chunked", 100_000, chunked::run);
}

#[test]
fn headers_of_proxies_do_not_depend_on_their_pieces() {
    drive("proxy", 50_000, proxy::run);
}

#[test]
fn the_engine_survives_what_comes() {
    drive("wire", 1_000, wire::run);
}
