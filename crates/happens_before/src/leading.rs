//! Statements that lead to something, themselves or through what they call. Knows calls; what they lead to is the
//! asker's affair.

use crate::bits::Bits;
use crate::labels::{Labels, Way};
use crate::world::World;
use ir::StmtId;
use pointsto::{Act, PointsToDelta};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Read, Sizes, note};

/// What single statements do by themselves.
pub type Done = FxHashMap<Act, Vec<(StmtId, Bits)>>;

#[derive(Debug)]
pub struct Leading {
    kind: Kind,
    own: Done,
    labels: Labels,
    stmts: FxHashMap<Act, Vec<(StmtId, Bits)>>,
}

impl Leading {
    pub fn new(kind: Kind) -> Leading {
        Leading { kind, own: Done::default(), labels: Labels::new(Way::Up), stmts: FxHashMap::default() }
    }

    /// The statements of an activation, and what they lead to.
    pub fn of(&self, act: Act) -> &[(StmtId, Bits)] {
        note(Read::of(self.kind, act));
        self.stmts.get(&act).map_or(&[], Vec::as_slice)
    }

    /// Follows a change of what is done, and of calls.
    pub fn update(&mut self, world: &World<'_>, own: Done, delta: &PointsToDelta, changes: &mut Changes) {
        let before = std::mem::replace(&mut self.own, own);
        let all = |done: &Vec<(StmtId, Bits)>| {
            let mut all = Bits::new();
            done.iter().for_each(|(_, what)| all.union_with(what));
            all
        };
        if changes.everything {
            *self = Leading { own: std::mem::take(&mut self.own), ..Leading::new(self.kind) };
            let labels = self.own.iter().map(|(&act, done)| (act, all(done))).collect();
            self.labels.put_all(world.pointsto, world.components, labels);
            for act in world.pointsto.acts() {
                self.find(world, act);
            }
            return;
        }
        let acts: BTreeSet<Act> = before.keys().chain(self.own.keys()).copied().collect();
        let mut dirty: BTreeSet<Act> =
            acts.into_iter().filter(|act| before.get(act) != self.own.get(act)).collect();
        let labels: BTreeMap<Act, Bits> =
            dirty.iter().map(|&act| (act, self.own.get(&act).map_or_else(Bits::new, all))).collect();
        for act in self.labels.put(world.pointsto, world.components, labels) {
            dirty.insert(act);
            dirty.extend(world.pointsto.callers(act).iter().map(|&(caller, _)| caller));
        }
        dirty.extend(&delta.callees);
        // Statements have other numbers there.
        dirty.extend(delta.bodies.iter().flat_map(|&method| world.acts_of(method)));
        dirty.extend(&delta.acts.removed);
        for act in dirty {
            if self.find(world, act) {
                changes.add(Read::of(self.kind, act));
            }
        }
    }

    /// True if it has other statements than before.
    fn find(&mut self, world: &World<'_>, act: Act) -> bool {
        let is_leading = |act: Act| self.labels.of(act).is_some_and(|labels| !labels.is_empty());
        if !is_leading(act) || !world.pointsto.runs(act) {
            return self.stmts.remove(&act).is_some();
        }
        let mut found: Vec<(StmtId, Bits)> = self.own.get(&act).cloned().unwrap_or_default();
        for (stmt, callee) in world.pointsto.calls(act).filter(|&(_, callee)| is_leading(callee)) {
            found.extend(self.labels.of(callee).map(|labels| (stmt, labels.clone())));
        }
        let before = self.stmts.get(&act);
        if before == Some(&found) {
            return false;
        }
        self.stmts.insert(act, found);
        true
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.labels.sizes(sizes);
        sizes.add("leading statements", self.stmts.len());
    }
}
