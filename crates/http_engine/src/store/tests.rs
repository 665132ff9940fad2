use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::*;
use crate::stored_response::ResponseParts;

fn fill(target: &str, body: &str) -> Fill {
    let response = StoredResponse::new(ResponseParts {
        body: body.as_bytes(),
        ..ResponseParts::default()
    });
    Fill::anonymous(target, response, 1000)
}

fn tagged(target: &str, body: &str, tags: &[&str]) -> Fill {
    Fill {
        tags: tags.iter().map(ToString::to_string).collect(),
        ..fill(target, body)
    }
}

fn varied(target: &str, value: &str, body: &str) -> Fill {
    Fill {
        plan: KeyPlan {
            identity: Identity::Anonymous,
            names: vec![b"accept".to_vec()],
            encodings: 0,
        },
        values: vec![Some(value.into())],
        ..fill(target, body)
    }
}

fn offer(target: &str, body: &str) -> Fill {
    Fill {
        is_offer: true,
        ..fill(target, body)
    }
}

/// Returns the body of the response to a request for the target, with this `Accept`.
fn get(store: &Store, target: &str, accept: &str, now_ms: u64) -> Option<String> {
    let block = format!("Accept: {accept}\r\n\r\n");
    let contents = store.read();
    let entry = match contents.find(target.as_bytes())? {
        Found::Response(entry) => entry,
        Found::Plan(plan) => {
            let key = plan.key_of(target.as_bytes(), block.as_bytes())?;
            contents.find_planned(&key)?
        }
    };
    if entry.freshness(now_ms, false) == Freshness::Expired {
        return None;
    }
    entry.mark_used();
    Some(String::from_utf8_lossy(entry.response.body()).into_owned())
}

fn freshness(store: &Store, now_ms: u64) -> Freshness {
    let contents = store.read();
    let Some(Found::Response(entry)) = contents.find(b"/") else {
        panic!("nothing is kept");
    };
    entry.freshness(now_ms, true)
}

fn bytes(store: &Store) -> usize {
    store.read().bytes()
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// A body, its time of expiry, and the names it is dropped by.
type Kept = (String, u64, HashSet<String>);

/// The expected contents of a store, without bounds.
#[derive(Default)]
struct Model {
    /// Bodies by target and variant.
    kept: HashMap<(String, Option<String>), Kept>,
    /// True for a varied target.
    is_varied: HashMap<String, bool>,
    /// The drops of a target or tag, or of everything.
    drops: Vec<(u64, Option<String>)>,
}

impl Model {
    fn is_void(&self, ticket: u64, names: &HashSet<String>) -> bool {
        let is_hit = |name: &Option<String>| name.as_ref().is_none_or(|name| names.contains(name));
        self.drops
            .iter()
            .any(|(at, name)| *at > ticket && is_hit(name))
    }

    fn drop_name(&mut self, name: &str) {
        self.drops.push((ticket(), Some(name.into())));
        self.kept.retain(|_, (_, _, names)| !names.contains(name));
    }
}

fn compare(max_bytes: usize, is_exact: bool) {
    let store = Store::new(max_bytes);
    let mut model = Model::default();
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut now_ms = 1_000_000;
    let mut tickets = vec![ticket()];
    let mut found = 0;
    for round in 0..60_000 {
        let target = format!("/{}", random.below(40));
        let accept = format!("{}", random.below(6));
        match random.below(20) {
            0..8 => {
                let body = format!("{round}{}", "x".repeat(random.below(600) as usize));
                let tag = format!("tag{}", random.below(10));
                let is_varied = random.below(3) == 0;
                let given = match random.below(2) {
                    0 => None,
                    _ => Some(tickets[random.below(tickets.len() as u64) as usize]),
                };
                let mut made = if is_varied {
                    varied(&target, &accept, &body)
                } else {
                    fill(&target, &body)
                };
                made.tags = vec![tag.clone()];
                made.ticket = given;
                let names = HashSet::from([target.clone(), tag]);
                let is_void = given.is_some_and(|ticket| model.is_void(ticket, &names));
                match store.keep(made, now_ms) {
                    outcome::KEPT => {
                        assert!(!is_void, "kept with a ticket that is void");
                        if model.is_varied.insert(target.clone(), is_varied) != Some(is_varied) {
                            model.kept.retain(|(of, _), _| *of != target);
                        }
                        let variant = is_varied.then_some(accept);
                        let value = (body, now_ms + 1000, names);
                        model.kept.insert((target, variant), value);
                    }
                    // Names may share a slot in the table of drops.
                    outcome::DROPPED => assert!(given.is_some()),
                    outcome => panic!("outcome {outcome}"),
                }
            }
            8 => {
                store.drop_target(target.as_bytes());
                model.drop_name(&target);
            }
            9 => {
                let tag = format!("tag{}", random.below(10));
                store.drop_tags([tag.as_str()].into_iter());
                model.drop_name(&tag);
            }
            10 if random.below(50) == 0 => {
                store.clear();
                model.drops.push((ticket(), None));
                model.kept.clear();
            }
            11 => {
                tickets.push(ticket());
                if tickets.len() > 10 {
                    tickets.remove(0);
                }
                let oldest = tickets[0];
                model.drops.retain(|(at, _)| *at > oldest);
            }
            12 => now_ms += random.below(50),
            _ => {
                let is_varied = model.is_varied.get(&target) == Some(&true);
                let key = (target.clone(), is_varied.then(|| accept.clone()));
                let expected = model.kept.get(&key).filter(|(_, until, _)| now_ms < *until);
                let expected = expected.map(|(body, _, _)| body.clone());
                let got = get(&store, &target, &accept, now_ms);
                found += usize::from(got.is_some());
                if is_exact || got.is_some() {
                    assert_eq!(got, expected, "{target} {accept} in round {round}");
                }
            }
        }
        assert!(bytes(&store) <= max_bytes);
    }
    assert!(found > 1000, "{found} were found");
    store.clear();
    assert_eq!((bytes(&store), store.is_empty()), (0, true));
}

#[test]
fn it_is_a_map_with_an_end() {
    compare(64 * 1024 * 1024, true);
}

#[test]
fn with_little_room_it_finds_less_and_nothing_else() {
    compare(32 * 1024, false);
}

#[test]
fn nothing_is_left_of_what_is_gone() {
    let store = Store::new(1024 * 1024);
    for round in 0..1000 {
        let target = format!("/{round}");
        let tag = format!("tag{round}");
        assert_eq!(
            store.keep(tagged(&target, "body", &[&tag, "all"]), 0),
            outcome::KEPT
        );
        assert_eq!(store.keep(varied("/v", &tag, "body"), 0), outcome::KEPT);
        store.drop_target(target.as_bytes());
        store.drop_target(b"/v");
    }
    assert_eq!((bytes(&store), store.is_empty()), (0, true));
    assert_eq!(store.read().residue(), 0);
}

#[test]
fn what_is_asked_for_stays_when_others_come() {
    let store = Store::new(64 * 1024);
    store.keep(fill("/loved", "body"), 0);
    for round in 0..10_000 {
        assert_eq!(get(&store, "/loved", "", 0).as_deref(), Some("body"));
        store.keep(fill(&format!("/{round}"), "body"), 0);
        assert!(bytes(&store) <= 64 * 1024);
    }
    let evicted = store.all_counts()[answer_count::EVICTED];
    assert!(evicted > 9_000, "{evicted} had to go");
}

#[test]
fn what_is_too_large_is_not_kept_and_what_it_replaces_is_gone() {
    let store = Store::new(64 * 1024);
    store.keep(fill("/", "small"), 0);
    let large = "x".repeat(9 * 1024);
    assert_eq!(store.keep(fill("/", &large), 0), outcome::LARGE);
    assert_eq!(get(&store, "/", "", 0), None);
    assert!(store.is_empty());
}

#[test]
fn a_target_has_16_variants_and_those_in_use_stay() {
    let store = Store::new(1024 * 1024);
    for variant in 0..16 {
        let made = varied("/", &variant.to_string(), "body");
        assert_eq!(store.keep(made, 0), outcome::KEPT);
        assert!(get(&store, "/", &variant.to_string(), 0).is_some());
    }
    assert_eq!(store.keep(varied("/", "16", "body"), 0), outcome::VARIANTS);
    // All have been requested; from now on only two of them are.
    get(&store, "/", "3", 0);
    get(&store, "/", "5", 0);
    for variant in 17..40 {
        assert_eq!(
            store.keep(varied("/", &variant.to_string(), "body"), 0),
            outcome::KEPT
        );
    }
    assert!(get(&store, "/", "3", 0).is_some() && get(&store, "/", "5", 0).is_some());
    assert_eq!(store.all_counts()[answer_count::ANSWERS], 16);
    // Another target has its own.
    assert_eq!(store.keep(varied("/other", "0", "body"), 0), outcome::KEPT);
}

#[test]
fn who_is_named_has_no_part_in_the_variants_of_others() {
    let store = Store::new(1024 * 1024);
    for person in 0..100 {
        let made = Fill {
            plan: KeyPlan {
                identity: Identity::Header,
                names: vec![b"authorization".to_vec()],
                encodings: 0,
            },
            values: vec![Some(format!("person {person}").into())],
            ..fill("/me", &format!("of {person}"))
        };
        assert_eq!(store.keep(made, 0), outcome::KEPT);
    }
    let block = b"Authorization: person 7\r\n\r\n";
    let contents = store.read();
    let Some(Found::Plan(plan)) = contents.find(b"/me") else {
        panic!("it depends on who asks");
    };
    let key = plan.key_of(b"/me", block).expect("a person");
    let entry = contents.find_planned(&key).expect("a response");
    assert_eq!(entry.response.body(), b"of 7");
    assert_eq!(plan.key_of(b"/me", b"Host: a\r\n\r\n"), None);
    assert_eq!(plan.key_of(b"/me", b"Authorization:\r\n\r\n"), None);
    let twice = b"Authorization: person 7\r\nAuthorization: person 8\r\n\r\n";
    assert_eq!(plan.key_of(b"/me", twice), None);
}

#[test]
fn a_value_cannot_pretend_to_be_two() {
    let two = |first: &str, second: Option<&str>| {
        let values = [Some(first.into()), second.map(Into::into)];
        key_plan::key(b"/", &values)
    };
    let keys = [
        two("a", Some("b")),
        two("ab", Some("")),
        two("", Some("ab")),
        two("ab", None),
        two("a\0b", None),
    ];
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len());
}

#[test]
fn a_stale_response_lets_one_request_through_at_a_time() {
    let store = Store::new(1024 * 1024);
    let with_stale = || Fill {
        stale_ms: 60_000,
        ..fill("/", "body")
    };
    store.keep(with_stale(), 0);
    assert_eq!(freshness(&store, 999), Freshness::Fresh);
    assert_eq!(freshness(&store, 1_000), Freshness::Renew);
    assert_eq!(freshness(&store, 1_001), Freshness::Stale);
    assert_eq!(freshness(&store, 5_999), Freshness::Stale);
    // It did not come back.
    assert_eq!(freshness(&store, 6_000), Freshness::Renew);
    assert_eq!(freshness(&store, 6_000), Freshness::Stale);
    store.keep(with_stale(), 6_001);
    assert_eq!(freshness(&store, 7_000), Freshness::Fresh);
    assert_eq!(freshness(&store, 67_001), Freshness::Expired);
}

#[test]
fn an_offer_renews_a_stale_response_or_has_the_next_request_come_through() {
    let store = Store::new(1024 * 1024);
    let offered = |body| Fill {
        stale_ms: 60_000,
        ..offer("/", body)
    };
    assert_eq!(store.keep(offered("one"), 0), outcome::FIRST);
    assert!(store.is_empty());
    assert_eq!(store.keep(offered("one"), 0), outcome::KEPT);
    assert_eq!(freshness(&store, 1_000), Freshness::Renew);
    assert_eq!(store.keep(offered("one"), 1_001), outcome::KEPT);
    assert_eq!(freshness(&store, 1_500), Freshness::Fresh);
    assert_eq!(freshness(&store, 2_500), Freshness::Renew);
    assert_eq!(store.keep(offered("two"), 2_501), outcome::FIRST);
    assert_eq!(get(&store, "/", "", 2_501).as_deref(), Some("one"));
    assert_eq!(freshness(&store, 2_502), Freshness::Renew);
    assert_eq!(store.keep(offered("two"), 2_503), outcome::KEPT);
    assert_eq!(get(&store, "/", "", 2_503).as_deref(), Some("two"));
}

#[test]
fn a_scan_is_never_kept() {
    let store = Store::new(1024 * 1024);
    for round in 0..100_000 {
        assert_eq!(
            store.keep(offer(&format!("/{round}"), "body"), 0),
            outcome::FIRST
        );
    }
    assert_eq!(bytes(&store), 0);
}

#[test]
fn a_ticket_from_before_the_store_is_void() {
    let early = ticket();
    let store = Store::new(1024 * 1024);
    let mut made = fill("/", "body");
    made.ticket = Some(early);
    assert_eq!(store.keep(made, 0), outcome::DROPPED);
}

/// The data changes, and is dropped after every change, while several threads make responses from what they read.
#[test]
fn no_thread_finds_what_was_dropped_before_it_looked() {
    const KEYS: usize = 4;
    const CHANGES: u64 = 20_000;
    let store = Store::new(1024 * 1024);
    let data: [AtomicU64; KEYS] = Default::default();
    // Values certain to be gone: the newest value whose drop is over.
    let dropped: [AtomicU64; KEYS] = Default::default();
    thread::scope(|scope| {
        for key in 0..KEYS {
            let (store, data, dropped) = (&store, &data, &dropped);
            scope.spawn(move || {
                for value in 1..=CHANGES {
                    data[key].store(value, Ordering::SeqCst);
                    if value % 2 == 0 {
                        store.drop_target(format!("/{key}").as_bytes());
                    } else {
                        store.drop_tags([format!("tag{key}").as_str()].into_iter());
                    }
                    dropped[key].store(value, Ordering::SeqCst);
                }
            });
            scope.spawn(move || {
                let (target, tag) = (format!("/{key}"), format!("tag{key}"));
                while dropped[key].load(Ordering::SeqCst) < CHANGES {
                    let ticket = Some(ticket());
                    let value = data[key].load(Ordering::SeqCst).to_string();
                    thread::yield_now();
                    let made = Fill {
                        ticket,
                        ..tagged(&target, &value, &[&tag])
                    };
                    store.keep(made, 0);
                    let oldest_valid = dropped[key].load(Ordering::SeqCst);
                    if let Some(found) = get(store, &target, "", 0) {
                        let found: u64 = found.parse().expect("a number");
                        assert!(
                            found >= oldest_valid,
                            "{found} is older than {oldest_valid}"
                        );
                    }
                }
            });
        }
    });
}

#[test]
fn servers_of_one_address_share_a_store_until_one_of_them_goes() {
    let address = || "an address of this test".to_owned();
    let first = StoreHandle::shared(address(), 1024 * 1024);
    let second = StoreHandle::shared(address(), 1024 * 1024);
    let other = StoreHandle::shared("another one".to_owned(), 1024 * 1024);
    let made = ticket();
    first.keep(fill("/", "body"), 0);
    assert_eq!(get(&second, "/", "", 0).as_deref(), Some("body"));
    assert!(other.is_empty());
    drop(first);
    assert!(second.is_empty());
    let late = Fill {
        ticket: Some(made),
        ..fill("/", "body")
    };
    assert_eq!(second.keep(late, 0), outcome::DROPPED);
    drop(second);
    let third = StoreHandle::shared(address(), 1024);
    assert_eq!(third.all_counts()[answer_count::MAX_BYTES], 1024);
}
