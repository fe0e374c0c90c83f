//! All locks of the program by the kind under which rules compare them: where each is taken, and which are taken while
//! it is held. Reads summaries only.

use crate::deadlock;
use crate::engine::Compositional;
use crate::tell::Tell;
use classfile::Layer;
use findings::{Confidence, LockEdge, LockInfo, Place};
use std::collections::{BTreeMap, BTreeSet};

impl Compositional {
    /// In the order of their names.
    pub fn locks(&self) -> Vec<LockInfo> {
        let program = self.link.program.lock().expect("nobody panics with it");
        let tell = Tell { engine: self, program: &program, least: Confidence::Low };
        let mut taken: BTreeMap<String, BTreeSet<Place>> = BTreeMap::new();
        for slot in self.methods.iter().filter(|slot| program.class(slot.method.class).layer == Layer::App) {
            let Some(summary) = slot.summary.get() else { continue };
            for lock in summary.taken.iter().filter(|taken| taken.site.via.is_none()) {
                if let Some(kind) = deadlock::kind(&program, slot.method.id, &lock.lock) {
                    let place = tell.place(slot.method.id, lock.site.at);
                    taken.entry(kind.name(&program)).or_default().insert(place);
                }
            }
        }
        let mut edges: BTreeMap<String, BTreeSet<LockEdge>> = BTreeMap::new();
        for ((from, to), found) in deadlock::graph(self, &program) {
            let Some(first) = found.first() else { continue };
            let place = tell.edge(first).place;
            edges.entry(from.name(&program)).or_default().insert(LockEdge { lock: to.name(&program), place });
        }
        let lock = |(name, taken): (String, BTreeSet<Place>)| LockInfo {
            before: edges.remove(&name).into_iter().flatten().collect(),
            taken: taken.into_iter().collect(),
            guards: Vec::new(),
            name,
        };
        taken.into_iter().map(lock).collect()
    }
}
