//! What an answer depends on beside its target, and the key that comes of it.

use super::Fill;
use crate::header_value::{One, cookie, header};

/// Whose an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// Anybody's who shows no credentials: neither cookies nor any other.
    Anonymous,
    /// As `Anonymous`, where cookies are none.
    AnyCookies,
    /// Everybody's.
    Public,
    /// Theirs who send the same value of the first name's header.
    Header,
    /// Theirs who send the same value of the cookie of the first name.
    Cookie,
}

/// The parts of a request that choose the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whose the answers are.
    pub identity: Identity,
    /// Of headers, in lower case; the first is the identity's, where that has one.
    pub names: Vec<Vec<u8>>,
}

impl Plan {
    /// The target alone leads to the answer.
    pub(crate) fn is_simple(&self) -> bool {
        self.names.is_empty()
    }

    pub(crate) fn has_identity(&self) -> bool {
        matches!(self.identity, Identity::Header | Identity::Cookie)
    }

    /// Bytes of it.
    pub(crate) fn size(&self) -> usize {
        let sizes = self.names.iter().map(|name| name.len() + size_of_val(name));
        sizes.sum::<usize>() + size_of::<Self>()
    }

    /// The key for a request with this header block, which is a good one. `None` when the owner has to decide: whoever it
    /// comes from is not named, or a header comes twice.
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
                One::Missing => add(&mut key, None),
                One::Value(b"") if is_identity => return None,
                One::Value(value) => add(&mut key, Some(value)),
            }
        }
        Some(key)
    }
}

/// The key of an answer by the values of its own request.
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

/// No target has a NUL, and lengths stand before values: nobody can write what another key is.
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

/// Answers that differ by their varied headers alone, of which there may be few: the key without those. `None` when none is
/// varied on.
pub(crate) fn group(fill: &Fill) -> Option<Vec<u8>> {
    let own = usize::from(fill.plan.has_identity());
    (fill.plan.names.len() > own).then(|| key(&fill.target, &fill.values[..own]))
}

/// Whether a plan and the values of a request belong together; what crosses is not trusted.
pub(crate) fn is_sound(fill: &Fill) -> bool {
    fill.plan.names.len() == fill.values.len()
        && (!fill.plan.has_identity() || fill.values.first().is_some_and(Option::is_some))
}
