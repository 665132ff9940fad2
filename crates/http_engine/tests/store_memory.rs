//! The memory that a response store reports, compared with its allocations.

#![cfg(target_os = "linux")]

mod owner;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use http_engine::wire::{answer_count, outcome};
use http_engine::{Fill, Identity, KeyPlan, ServerSettings};
use owner::{Owner, fill};

/// Max overhead of the C library for a small allocation, in bytes.
const OF_AN_ALLOCATION: usize = 16;
/// Tables that exist before anything is kept.
const FIXED: usize = 512 * 1024;
const MAX: usize = 8 * 1024 * 1024;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

// SAFETY: the system's allocator does all the work; the requested sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size() + OF_AN_ALLOCATION, Ordering::Relaxed);
        // SAFETY: forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size() + OF_AN_ALLOCATION, Ordering::Relaxed);
        // SAFETY: forwarded.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A single test, so that no other allocates meanwhile.
#[test]
fn a_full_store_takes_up_no_more_than_it_says() {
    type Make = fn(u32) -> Fill;
    let kinds: [(&str, Make); 4] = [
        ("small", |number| fill(&format!("/{number}"), "", b"")),
        ("tagged", |number| Fill {
            tags: (0..8).map(|tag| format!("tag {number} {tag}")).collect(),
            ..fill(&format!("/{number}"), "head", b"body")
        }),
        ("named", |number| Fill {
            plan: KeyPlan {
                identity: Identity::Header,
                names: vec![b"authorization".to_vec(), b"accept-language".to_vec()],
                encodings: 0,
            },
            values: vec![Some(format!("{number}").into()), Some(b"de".to_vec())],
            ..fill(&format!("/{number}"), "head", b"body")
        }),
        ("large", |number| {
            fill(&format!("/{number}"), "head", &[0; 30_000])
        }),
    ];
    for (kind, make) in kinds {
        let mut owner = Owner::new(ServerSettings::default());
        owner.engine.open_store(owner.server, MAX, false);
        let before = ALLOCATED.load(Ordering::Relaxed);
        let mut number = 0;
        let counts = loop {
            let kept = owner.engine.keep(owner.server, make(number));
            assert_eq!(kept, outcome::KEPT);
            number += 1;
            let counts = owner.engine.store_counts(owner.server);
            if counts[answer_count::EVICTED] > 1000 {
                break counts;
            }
        };
        let taken = ALLOCATED.load(Ordering::Relaxed) - before;
        let said = counts[answer_count::BYTES] as usize;
        println!(
            "{kind}: {taken} bytes for {} responses, said to be {said}",
            counts[answer_count::ANSWERS]
        );
        assert!(said <= MAX);
        assert!(
            taken <= said + FIXED,
            "{kind}: {taken} bytes, said to be {said}"
        );
    }
}
