//! The parts of a request a response depends on besides its target, and the key made from them.

use super::Fill;
use crate::encoding::choose;
use crate::header_value::{SingleValue, cookie, header};

/// The clients a response is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Clients without credentials; any cookie except those of analytics counts as one.
    Anonymous,
    /// Like `Anonymous`, but cookies are not credentials.
    AnyCookies,
    /// All clients.
    Public,
    /// Clients that send the same value in the header of the first name.
    Header,
    /// Clients that send the same value in the cookie of the first name.
    Cookie,
}

/// The parts of a request that choose the response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPlan {
    /// The clients the responses are for.
    pub identity: Identity,
    /// Names of headers, in lower case; the first is the identity's header or cookie, if it has one.
    pub names: Vec<Vec<u8>>,
    /// The codings between which `accept-encoding` chooses, if it is one of the names: a list of [`crate::wire::encoding`]. With
    /// 0 its value counts.
    pub encodings: u32,
}

impl KeyPlan {
    /// Returns true if the target alone is the key.
    pub(crate) fn is_simple(&self) -> bool {
        self.names.is_empty()
    }

    pub(crate) fn has_identity(&self) -> bool {
        matches!(self.identity, Identity::Header | Identity::Cookie)
    }

    /// Returns true for the header that is part of the key only by the coding it selects.
    fn chooses_by(&self, name: &[u8]) -> bool {
        self.encodings != 0 && name == b"accept-encoding"
    }

    /// Replaces the value of `accept-encoding` by the coding that it chooses.
    pub(crate) fn replace_accept_encoding(&self, values: &mut [Option<Vec<u8>>]) {
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

    /// Returns its memory in bytes.
    pub(crate) fn size(&self) -> usize {
        let sizes = self.names.iter().map(|name| name.len() + size_of_val(name));
        sizes.sum::<usize>() + size_of::<Self>()
    }

    /// Returns the key of a request with this header block, which is valid. `None` if the owner has to decide: the identity is
    /// missing, or a header occurs twice.
    pub(crate) fn key_of(&self, target: &[u8], block: &[u8]) -> Option<Vec<u8>> {
        let mut key = start(target);
        for (index, name) in self.names.iter().enumerate() {
            let is_identity = index == 0 && self.has_identity();
            let value = if is_identity && self.identity == Identity::Cookie {
                match header(block, b"cookie") {
                    SingleValue::Value(cookies) => cookie(cookies, name),
                    other => other,
                }
            } else {
                header(block, name)
            };
            match value {
                SingleValue::Twice => return None,
                SingleValue::Missing if is_identity => return None,
                SingleValue::Value(b"") if is_identity => return None,
                SingleValue::Missing if self.chooses_by(name) => add(&mut key, Some(&[0])),
                SingleValue::Value(value) if !is_identity && self.chooses_by(name) => {
                    add(&mut key, Some(&[choose(value, self.encodings)]));
                }
                SingleValue::Missing => add(&mut key, None),
                SingleValue::Value(value) => add(&mut key, Some(value)),
            }
        }
        Some(key)
    }
}

/// Returns the key of a response, made from the values of its original request.
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

/// Starts a key. A target contains no NUL, and each value is preceded by its length: no value can imitate another key.
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

/// Returns the key without its varied headers: the number of responses that share it is limited. `None` without such headers.
pub(crate) fn group(fill: &Fill) -> Option<Vec<u8>> {
    let own = usize::from(fill.plan.has_identity());
    (fill.plan.names.len() > own).then(|| key(&fill.target, &fill.values[..own]))
}

/// Returns true if the plan and the values fit together; they come from JavaScript and are not trusted.
pub(crate) fn is_valid(fill: &Fill) -> bool {
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
