//! Handles whose end is the end of others as well: a future of futures, a continuation. Knows models; what has the
//! handles is the asker's affair.

use crate::world::World;
use arena::IdSet;
use models::Step;
use pointsto::Obj;
use std::collections::BTreeMap;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Covers {
    parts: BTreeMap<Obj, IdSet<Obj>>,
}

impl Covers {
    pub fn new(world: &World<'_>) -> Covers {
        let mut covers = Covers::default();
        for act in world.syncing() {
            for &(stmt, step) in world.sync(act) {
                let Step::Covers { handle, parts } = step else { continue };
                let parts = world.operand(act, stmt, parts);
                for handle in world.operand(act, stmt, handle).iter() {
                    covers.parts.entry(handle).or_default().union_with(&parts);
                }
            }
        }
        covers
    }

    /// What has ended when these have, and so on.
    pub fn of(&self, handles: impl IntoIterator<Item = Obj>) -> IdSet<Obj> {
        let mut covered = IdSet::new();
        let mut left: Vec<Obj> = handles.into_iter().collect();
        while let Some(handle) = left.pop() {
            for part in self.parts.get(&handle).into_iter().flat_map(|parts| parts.iter()) {
                if covered.insert(part) {
                    left.push(part);
                }
            }
        }
        covered
    }
}
