//! A writer and a reader on the same memory.

use std::cell::UnsafeCell;
use std::time::{Duration, Instant};

use telemetry_ring::wire::{first, kind, level, ring};
use telemetry_ring::{Reader, Writer};

const SMALLEST: usize = 1024;

/// The memory of a ring, as JavaScript makes it.
struct Memory(UnsafeCell<Vec<u32>>);

impl Memory {
    fn new(records: usize) -> Self {
        let mut words = vec![0; ring::FIRST_RECORD + records];
        words[ring::VERSION] = ring::LAYOUT;
        words[ring::LEVEL] = level::HEADS;
        for (index, word) in words[ring::SEED..ring::SEED + 6].iter_mut().enumerate() {
            *word = index as u32 + 1;
        }
        Self(UnsafeCell::new(words))
    }

    fn parts(&self) -> (*mut u32, usize) {
        // SAFETY: the vector itself is never changed: only its words are, through the pointer.
        let words = unsafe { &mut *self.0.get() };
        (words.as_mut_ptr(), words.len())
    }
}

fn pair(memory: &Memory) -> (Writer, Reader) {
    let (words, length) = memory.parts();
    // SAFETY: the tests drop both before the memory, and make no others.
    unsafe {
        (
            Writer::new(words, length).expect("a ring"),
            Reader::new(words, length).expect("a ring"),
        )
    }
}

fn read(reader: &mut Reader) -> Vec<(u32, Vec<u32>)> {
    let mut records = Vec::new();
    let written = reader.written();
    reader.read_until(written, |record| {
        records.push((record.kind, record.words()[1..].to_vec()));
    });
    records
}

#[test]
fn records_arrive_as_they_were_written() {
    let memory = Memory::new(SMALLEST);
    let (mut writer, mut reader) = pair(&memory);
    assert_eq!(writer.level(), level::HEADS);
    assert_eq!(reader.seed(), [1, 2, 3, 4, 5, 6]);
    assert!(writer.put(kind::CLOSE, &[7, 8], &[]));
    assert!(writer.put(kind::TEXT, &[1, 7], &[b"GET ", b"/up"]));
    let mut seen = Vec::new();
    let written = reader.written();
    reader.read_until(written, |record| {
        seen.push((record.kind, record.word(1), record.bytes(3, 7).to_vec()));
    });
    assert_eq!(
        seen,
        [
            (kind::CLOSE, 7, Vec::new()),
            (kind::TEXT, 1, b"GET /up".to_vec())
        ]
    );
    assert_eq!(reader.filled(), 0);
    assert_eq!(reader.take_lost(), 0);
}

#[test]
fn a_record_gives_no_more_than_it_has() {
    let memory = Memory::new(SMALLEST);
    let (mut writer, mut reader) = pair(&memory);
    writer.put(kind::CLOSE, &[3, 2_000_000_000], &[b"abcde"]);
    let written = reader.written();
    reader.read_until(written, |record| {
        assert_eq!(record.time(1), Duration::new(3, 999_999_999));
        assert_eq!(record.bytes(3, 100), b"abcde\0\0\0");
        assert_eq!(record.bytes(9, 100), b"");
        assert_eq!(record.word(9), 0);
    });
}

#[test]
fn a_record_that_would_cross_the_end_begins_at_the_start() {
    let memory = Memory::new(SMALLEST);
    let (mut writer, mut reader) = pair(&memory);
    for round in 0..50_u32 {
        let words: Vec<u32> = (0..100).map(|index| round * 1000 + index).collect();
        assert!(writer.put(kind::SPAN, &words, &[]), "round {round}");
        assert_eq!(read(&mut reader), [(kind::SPAN, words)], "round {round}");
    }
    assert!(!reader.is_broken());
}

#[test]
fn a_full_ring_counts_what_does_not_fit_and_goes_on() {
    let memory = Memory::new(SMALLEST);
    let (mut writer, mut reader) = pair(&memory);
    let words = [1; 99];
    let fitted = (0..20)
        .filter(|_| writer.put(kind::SPAN, &words, &[]))
        .count();
    assert_eq!(fitted, 10);
    assert_eq!(reader.take_lost(), 10);
    assert_eq!(reader.take_lost(), 0);
    assert_eq!(read(&mut reader).len(), 10);
    assert!(writer.put(kind::SPAN, &words, &[]));
    assert_eq!(read(&mut reader).len(), 1);
}

#[test]
fn a_record_of_more_than_a_quarter_is_lost() {
    let memory = Memory::new(SMALLEST);
    let (mut writer, mut reader) = pair(&memory);
    assert!(!writer.put(kind::SPAN, &[0; SMALLEST / 4], &[]));
    assert!(writer.put(kind::SPAN, &[0; SMALLEST / 4 - 1], &[]));
    assert_eq!(reader.take_lost(), 1);
}

#[test]
fn a_record_that_no_writer_writes_stops_the_reader() {
    for length in [0, 900] {
        let memory = Memory::new(SMALLEST);
        let (mut writer, mut reader) = pair(&memory);
        writer.put(kind::CLOSE, &[1], &[]);
        writer.put(kind::CLOSE, &[2], &[]);
        let (words, _) = memory.parts();
        // SAFETY: the first word of the second record, inside the memory; writer and reader are on this thread.
        unsafe {
            words
                .add(ring::FIRST_RECORD + 2)
                .write(kind::CLOSE | length << first::LENGTH_SHIFT);
        }
        assert_eq!(read(&mut reader), [(kind::CLOSE, vec![1])]);
        assert!(reader.is_broken());
        writer.put(kind::CLOSE, &[3], &[]);
        assert_eq!(read(&mut reader), []);
        assert!(writer.put(kind::SPAN, &[0; SMALLEST / 4 - 1], &[]));
        assert!(reader.fall_asleep().is_some());
    }
}

#[test]
fn memory_of_another_layout_or_size_is_no_ring() {
    let memory = Memory::new(SMALLEST);
    let (words, length) = memory.parts();
    // SAFETY: nothing else uses the memory.
    unsafe {
        assert!(Reader::new(words, length - 1).is_none());
        assert!(Reader::new(words, ring::FIRST_RECORD).is_none());
        assert!(Writer::new(words, 3).is_none());
        words.add(ring::VERSION).write(ring::LAYOUT + 1);
        assert!(Writer::new(words, length).is_none());
    }
}

#[test]
fn two_threads_lose_nothing_that_fits() {
    let records = if cfg!(miri) { 300 } else { 100_000 };
    let memory = Memory::new(SMALLEST);
    let (mut writer, mut reader) = pair(&memory);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut lost = 0;
            for number in 0..records {
                let text = [b'x'; 40];
                let length = number as usize % 40;
                while !writer.put(kind::TEXT, &[number, length as u32], &[&text[..length]]) {
                    lost += 1;
                    std::thread::yield_now();
                }
            }
            assert!(writer.put(kind::CLOSE, &[lost], &[]));
        });
        let mut expected = 0;
        let mut refused = None;
        let mut lost = 0;
        while refused.is_none() {
            let written = reader.written();
            reader.read_until(written, |record| {
                if record.kind == kind::CLOSE {
                    refused = Some(record.word(1));
                    return;
                }
                assert_eq!(record.word(1), expected);
                let length = record.word(2) as usize;
                assert_eq!(record.bytes(3, length), &[b'x'; 40][..length]);
                expected += 1;
            });
            lost += reader.take_lost();
            std::thread::yield_now();
        }
        lost += reader.take_lost();
        assert_eq!(expected, records);
        assert!(refused.is_some_and(|refused| refused <= lost));
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_writer_that_fills_a_quarter_wakes_the_reader() {
    let memory = Memory::new(SMALLEST);
    let (mut writer, reader) = pair(&memory);
    let word = reader.fall_asleep().expect("an empty ring");
    assert!(writer.put(kind::SPAN, &[0; 99], &[]));
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(move || {
            let start = Instant::now();
            word.sleep(Duration::from_secs(600));
            start.elapsed()
        });
        assert!(writer.put(kind::SPAN, &[0; 99], &[]));
        assert!(writer.put(kind::SPAN, &[0; 99], &[]));
        assert!(sleeper.join().expect("the sleeper") < Duration::from_secs(600));
    });
    assert!(reader.fall_asleep().is_none());
    reader.stay_awake();
}
