//! What an answer depends on beside its target, and the key made of that.

use super::Fill;
use crate::encoding::choose;
use crate::header_value::{One, cookie, header};

/// Which clients an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Those without credentials; any cookie but those of analytics is one.
    Anonymous,
    /// As `Anonymous`, but cookies are not credentials.
    AnyCookies,
    /// All of them.
    Public,
    /// Those that send the same value in the header of the first name.
    Header,
    /// Those that send the same value in the cookie of the first name.
    Cookie,
}

/// The parts of a request that choose the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Which clients the answers are for.
    pub identity: Identity,
    /// Names of headers, in lower case; the first is the identity's header or cookie, where it has one.
    pub names: Vec<Vec<u8>>,
    /// The codings between which `accept-encoding`, if it is one of the names, chooses: a list of [`crate::wire::encoding`]. With 0
    /// its value counts.
    pub encodings: u32,
}

impl Plan {
    /// Whether the target alone is the key.
    pub(crate) fn is_simple(&self) -> bool {
        self.names.is_empty()
    }

    pub(crate) fn has_identity(&self) -> bool {
        matches!(self.identity, Identity::Header | Identity::Cookie)
    }

    /// True for the header that is part of the key only by the coding it selects.
    fn chooses_by(&self, name: &[u8]) -> bool {
        self.encodings != 0 && name == b"accept-encoding"
    }

    /// Has the value of `accept-encoding` be the coding that it chooses.
    pub(crate) fn choose_in(&self, values: &mut [Option<Vec<u8>>]) {
        let from = usize::from(self.has_identity());
        for (name, value) in self.names.iter().zip(values).skip(from) {
            if self.chooses_by(name) {
                *value = Some(vec![choose(
                    value.as_deref().unwrap_or_default(),
                    self.encodings,
                )]);
            }
        }
    }

    /// How much memory it takes up, in bytes.
    pub(crate) fn size(&self) -> usize {
        let sizes = self.names.iter().map(|name| name.len() + size_of_val(name));
        sizes.sum::<usize>() + size_of::<Self>()
    }

    /// The key of a request with this header block, which is valid. `None` if the owner has to decide: the identity is missing,
    /// or a header comes twice.
    pub(crate) fn key_of(&self, target: &[u8], block: &[u8]) -> Option<Vec<u8>> {
        let mut key = start(target);
        for (index, name) in self.names.iter().enumerate() {
            let is_identity = index == 0 && self.has_identity();
            let value = if is_identity && self.identity == Identity::Cookie {
                match header(block, b"cookie") {
                    One::Value(cookies) => cookie(cookies, name),
                    other => other,
                }
            } else {
                header(block, name)
            };
            match value {
                One::Twice => return None,
                One::Missing if is_identity => return None,
                One::Value(b"") if is_identity => return None,
                One::Missing if self.chooses_by(name) => add(&mut key, Some(&[0])),
                One::Value(value) if !is_identity && self.chooses_by(name) => {
                    add(&mut key, Some(&[choose(value, self.encodings)]));
                }
                One::Missing => add(&mut key, None),
                One::Value(value) => add(&mut key, Some(value)),
            }
        }
        Some(key)
    }
}

/// The key of an answer, made of the values of its own request.
pub(crate) fn key(target: &[u8], values: &[Option<Vec<u8>>]) -> Vec<u8> {
    if values.is_empty() {
        return target.into();
    }
    let mut key = start(target);
    for value in values {
        add(&mut key, value.as_deref());
    }
    key
}

/// A target contains no NUL, and each value is preceded by its length: no value can imitate another key.
fn start(target: &[u8]) -> Vec<u8> {
    let mut key = Vec::with_capacity(target.len() + 64);
    key.extend_from_slice(target);
    key.push(0);
    key
}

fn add(key: &mut Vec<u8>, value: Option<&[u8]>) {
    let length = value.map_or(u32::MAX, |value| value.len() as u32);
    key.extend_from_slice(&length.to_le_bytes());
    key.extend_from_slice(value.unwrap_or_default());
}

/// The key without its varied headers: the number of answers that share it is limited. `None` if there are no such headers.
pub(crate) fn group(fill: &Fill) -> Option<Vec<u8>> {
    let own = usize::from(fill.plan.has_identity());
    (fill.plan.names.len() > own).then(|| key(&fill.target, &fill.values[..own]))
}

/// Whether the plan and the values fit together; they come from JavaScript and are not trusted.
pub(crate) fn is_sound(fill: &Fill) -> bool {
    fill.plan.names.len() == fill.values.len()
        && (!fill.plan.has_identity() || fill.values.first().is_some_and(Option::is_some))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parts that try to imitate each other's ends.
    const PARTS: [&[u8]; 8] = [
        b"",
        b"/",
        b"a",
        b"a/admin",
        b"\0",
        b"\x01\0\0\0a",
        b"\xff\xff\xff\xff",
        b"a\0\x01\0\0\0b",
    ];

    #[test]
    fn different_parts_never_make_the_same_key() {
        let values = || [None].into_iter().chain(PARTS.map(Some));
        let mut seen = std::collections::HashMap::new();
        for target in [&b"/"[..], b"/a", b"/admin", b"http://a/admin"] {
            let mut plans = vec![Vec::new()];
            for first in values() {
                plans.push(vec![first]);
                plans.extend(values().map(|second| vec![first, second]));
            }
            for parts in plans {
                let owned: Vec<_> = parts.iter().map(|part| part.map(<[u8]>::to_vec)).collect();
                let before = seen.insert(key(target, &owned), (target, owned.clone()));
                assert_eq!(before, None, "{target:?} {owned:?}");
            }
        }
    }
}
