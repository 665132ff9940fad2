//! Prints the CPU time of reading, assembling and encoding one request, without that of writing it:
//! `cargo run --release -p telemetry_engine --example cost`.

use std::time::Duration;

use telemetry_engine::{Engine, Now, Sampler, Settings};
use telemetry_ring::wire::{kind, level, ring};
use telemetry_ring::{Reader, Writer};

const REQUESTS: u32 = 200;
const ROUNDS: u32 = 5_000;

fn main() {
    let with_parent = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";
    for (name, line, extra) in [
        ("a request", "GET /users/1", ""),
        ("with a query", "GET /users/1?page=2&sort=name", ""),
        ("with a parent", "GET /users/1", with_parent),
        ("counted alone", "GET", ""),
    ] {
        let nanos = cost(line, extra, false);
        let fresh = cost(line, extra, true);
        println!("{name}: {nanos} ns, {fresh} ns with a user agent that was not seen before");
    }
}

fn cost(line: &str, extra: &str, is_fresh: bool) -> u128 {
    let words = vec![0_u32; ring::FIRST_RECORD + (1 << 16)].leak();
    words[ring::VERSION] = ring::LAYOUT;
    words[ring::LEVEL] = level::HEADS;
    let own = words.to_vec().leak();
    let now = Now {
        monotonic: Duration::from_secs(1),
        epoch: Duration::from_secs(2),
    };
    let mut engine = Engine::new(
        Settings {
            resource: Vec::new(),
            max_bytes: 64 << 20,
            sampler: Sampler::AlwaysOn,
            is_parent_based: true,
            attribute_count_limit: 128,
            attribute_value_length_limit: u32::MAX,
            redacted_parameters: vec!["sig".to_owned()],
            boundaries: vec![
                0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
            ],
            is_delta: false,
        },
        now,
    );
    // SAFETY: the memory is never freed, and each ring has these users alone.
    let mut writer = unsafe {
        let writer = Writer::new(words.as_mut_ptr(), words.len()).expect("a ring");
        let reader = Reader::new(words.as_mut_ptr(), words.len()).expect("a ring");
        let own = Reader::new(own.as_mut_ptr(), own.len()).expect("a ring");
        engine.add_source(Some(reader), own);
        writer
    };
    let mut took = Duration::ZERO;
    let mut number = 0;
    for round in 0..ROUNDS {
        for slot in 0..REQUESTS {
            number += 1;
            let id = if is_fresh { number } else { 0 };
            let block = format!(
                "Host: shop.example:8080\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 {id}\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Language: en\r\nAccept-Encoding: gzip, deflate, br\r\n{extra}X-Request-Id: {number}\r\nConnection: keep-alive\r\n"
            );
            let block = if line == "GET" { "" } else { &block };
            let lengths = [line.len() as u32, block.len() as u32, 0];
            let begin = [&[slot, 1, round, 1, 0][..], &lengths].concat();
            assert!(writer.put(kind::BEGIN, &begin, &[line.as_bytes(), block.as_bytes()]));
            let end = [slot, 1, round, 200 << 22, 1, 1, 1, 2, 0];
            assert!(writer.put(kind::END, &end, &[]));
        }
        let start = cpu_time();
        engine.drain(now);
        took += cpu_time() - start;
        engine.take_spans(usize::MAX, usize::MAX);
    }
    assert_eq!(engine.counts().requests, u64::from(REQUESTS * ROUNDS));
    took.as_nanos() / u128::from(REQUESTS * ROUNDS)
}

/// CPU time of this thread: other programs do not count.
fn cpu_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the time lives through the call, which fills it.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
