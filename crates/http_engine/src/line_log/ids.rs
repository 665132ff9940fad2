//! Request ids in lines: the client's, where it is safe, or one the engine makes.

use super::push_thousandths;

/// Characters an id of a client may have.
pub(super) const MOST_CHARACTERS: usize = 128;

/// Whether an id of a client may be used: no spaces, quotes, commas or control characters, as `@redline/nest` has it.
pub(super) fn is_safe(id: &[u8]) -> bool {
    let is_safe = |so_far, byte: &u8| so_far & IS_SAFE[*byte as usize];
    (1..=MOST_CHARACTERS).contains(&id.len()) && id.iter().fold(true, is_safe)
}

const IS_SAFE: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let others = b"_.:/+=@~-";
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};

/// Ids of a prefix and a counter. The counter's upper part is made a text once in a thousand ids.
pub(super) struct Ids {
    prefix: usize,
    head: Vec<u8>,
    block: u64,
    next: u64,
}

impl Ids {
    /// Characters behind the prefix, at most.
    pub const LONGEST: usize = 13 + 3;

    pub fn new(prefix: &[u8]) -> Self {
        Self {
            prefix: prefix.len(),
            head: prefix.to_vec(),
            block: 0,
            next: 0,
        }
    }

    pub fn push_next(&mut self, into: &mut Vec<u8>) {
        if self.next == 1000 {
            self.next = 0;
            self.block += 1;
            self.head.truncate(self.prefix);
            push_base36(&mut self.head, self.block);
        }
        into.extend_from_slice(&self.head);
        push_thousandths(into, self.next);
        self.next += 1;
    }
}

fn push_base36(into: &mut Vec<u8>, mut value: u64) {
    let begin = into.len();
    while value > 0 {
        into.push(b"0123456789abcdefghijklmnopqrstuvwxyz"[(value % 36) as usize]);
        value /= 36;
    }
    into[begin..].reverse();
}
