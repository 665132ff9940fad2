//! State for a server's own responses.

use crate::cache_headers::{self, CacheHeaders};
use crate::repeat_cache::{Lookup, RepeatCache};
use crate::store::StoreHandle;

/// Header blocks longer than this, in bytes, are parsed each time.
const MAX_BLOCK: usize = 2048;
/// After this many misses, caching header blocks is nearly stopped: a proxy that adds request ids makes each unique. Then only
/// one in `SAMPLE_INTERVAL` is looked up.
const MAX_MISSES: u32 = 64;
const SAMPLE_INTERVAL: u32 = 16;

/// The store of a server, and the facts of header blocks.
pub(crate) struct ServerStore {
    pub responses: StoreHandle,
    pub blocks: BlockCache,
}

impl ServerStore {
    pub fn new(responses: StoreHandle) -> Self {
        Self {
            responses,
            blocks: BlockCache::default(),
        }
    }

    /// Forgets the facts of header blocks, which no longer apply.
    pub fn clear_blocks(&mut self) {
        self.blocks = BlockCache::default();
    }
}

/// Repeated header blocks. Excludes requests that go to the owner: in that table an entry means that the owner has it.
pub(crate) struct BlockCache {
    cache: RepeatCache<CacheHeaders>,
    /// Blocks since the last hit.
    misses: u32,
}

impl Default for BlockCache {
    fn default() -> Self {
        Self {
            cache: RepeatCache::new(MAX_BLOCK),
            misses: 0,
        }
    }
}

impl BlockCache {
    /// Returns the facts of a block. `None` if it is not valid.
    pub fn read(&mut self, block: &[u8], id_header: Option<&[u8]>) -> Option<CacheHeaders> {
        if self.misses > MAX_MISSES && !self.misses.is_multiple_of(SAMPLE_INTERVAL) {
            self.misses = self.misses.wrapping_add(1);
            return cache_headers::read(block, id_header);
        }
        let lookup = self.cache.lookup(block);
        if let Lookup::Known(_, headers) = lookup {
            self.misses = 0;
            return Some(headers);
        }
        self.misses = self.misses.wrapping_add(1);
        let headers = cache_headers::read(block, id_header)?;
        if let Lookup::Repeated(hash) = lookup {
            self.cache.insert(hash, block, headers);
        }
        Some(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockCache, MAX_MISSES, SAMPLE_INTERVAL};

    fn read(blocks: &mut BlockCache, host: &str) {
        let block = format!("Host: {host}\r\n\r\n");
        let headers = blocks.read(block.as_bytes(), None).expect("a good block");
        assert!(headers.facts.host);
    }

    #[test]
    fn blocks_that_repeat_are_found_however_many_came_that_do_not() {
        let mut blocks = BlockCache::default();
        for number in 0..10 * MAX_MISSES {
            read(&mut blocks, &number.to_string());
        }
        assert!(blocks.misses > MAX_MISSES);
        for _ in 0..3 * SAMPLE_INTERVAL {
            read(&mut blocks, "a");
        }
        assert_eq!(blocks.misses, 0);
        assert!(blocks.read(b"Host: a\nX: y\r\n\r\n", None).is_none());
    }
}
