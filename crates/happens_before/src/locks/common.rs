//! What the locks of two places have in common, worked out once: detection asks for every pair of accesses, and
//! most hold one of a few sets. Knows sets by their ids only.

use super::room::Live;
use super::table::{LockId, SetId};
use arena::Id;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex};
use track::Sizes;

const SHARDS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InCommon {
    Nothing,
    /// Two locks that are one, whoever holds them.
    Lock(LockId, LockId),
    /// Those that may be one, depending on what is accessed.
    Perhaps(Perhaps),
}

/// Two locks each, one of either side.
pub type Perhaps = Arc<[(LockId, LockId)]>;

/// What callers hold, and the activation itself, on both sides.
type Places = ([SetId; 2], [SetId; 2]);

/// Answers so far. Any thread may ask, and all work out the same.
#[derive(Debug)]
pub struct Common {
    shards: Vec<Mutex<FxHashMap<Places, InCommon>>>,
}

impl Default for Common {
    fn default() -> Common {
        Common { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl Common {
    pub fn of(&self, places: Places, work_out: impl FnOnce() -> InCommon) -> InCommon {
        let none = [SetId(0); 2];
        if places.0 == none || places.1 == none {
            return InCommon::Nothing;
        }
        let ([a, b], [c, d]) = places;
        let shard = &self.shards[[a, b, c, d].iter().fold(0, |sum, id| sum * 7 + id.index()) % SHARDS];
        let known = |shard: &Mutex<FxHashMap<Places, InCommon>>| {
            shard.lock().ok().and_then(|known| known.get(&places).cloned())
        };
        known(shard).unwrap_or_else(|| {
            let found = work_out();
            if let Ok(mut known) = shard.lock() {
                known.insert(places, found.clone());
            }
            found
        })
    }

    pub fn retain(&mut self, live: &Live) {
        let is_live = |sets: &[SetId; 2]| sets.iter().all(|&set| live.has_set(set));
        for shard in &mut self.shards {
            if let Ok(known) = shard.get_mut() {
                known.retain(|(a, b), _| is_live(a) && is_live(b));
            }
        }
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        let known = self.shards.iter().filter_map(|shard| Some(shard.lock().ok()?.len()));
        sizes.add("lock sets in common", known.sum());
    }
}
