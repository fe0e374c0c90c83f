//! A look at every activation of application code, and what its callers have to know of it; callees first. Owns the
//! order of the work and what is done again after a change.

use super::leaks::{Leaks, SummaryId};
use super::look::{Heap, Look};
use crate::world::World;
use arena::IndexVec;
use pointsto::Act;
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, Reads, note};

/// Looks at one member of a cycle that are remembered.
const MOST_LOOKS: usize = 64;

pub struct Looks {
    looks: IndexVec<Act, Option<Arc<Look>>>,
    leaks: Leaks,
    /// By component of the call graph that is no cycle, for what was read.
    components: Memo<Act, ()>,
    /// By member of a cycle: a cycle is worked out from nothing whenever something about it changes, but most of its
    /// members look as they did.
    looked: Memo<Act, Vec<Looked>>,
    follows: bool,
}

/// A look, and what was known of the callees then.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Looked {
    callees: Vec<(Act, Option<SummaryId>)>,
    /// What else was read.
    reads: Reads,
    look: Arc<Look>,
    summary: SummaryId,
}

impl Looks {
    pub fn new(follows: bool) -> Looks {
        Looks {
            looks: IndexVec::new(),
            leaks: Leaks::default(),
            components: Memo::new(Kind::Other, follows),
            looked: Memo::new(Kind::Other, follows),
            follows,
        }
    }

    pub fn of(&self, act: Act) -> Option<&Arc<Look>> {
        note(Read::of(Kind::Look, act));
        self.looks.get(act)?.as_ref()
    }

    pub fn update(&mut self, world: &World<'_>, heap: Heap<'_>, changes: &mut Changes) {
        let components = world.components;
        let in_order = |component: u32| (components.label(component), component);
        let mut left: BTreeSet<(u32, u32)> = self.stale(world, changes).into_iter().map(in_order).collect();
        while let Some((_, component)) = left.pop_first() {
            let mut members = components.members(component).to_vec();
            members.retain(|&act| !world.is_jdk(act));
            if members.is_empty() {
                continue;
            }
            let before: Vec<_> =
                members.iter().map(|&act| (self.looks.at(act).take(), self.leaks.set(act, None))).collect();
            if components.is_cycle(component) {
                self.components.remove(Act(component));
                self.look_around(world, heap, component, &members);
            } else {
                let act = members[0];
                let (found, reads) = self.components.record(|| {
                    components.members(component);
                    world.flow(act).map(|flow| Look::new(world, &self.leaks, &heap, act, flow))
                });
                self.components.set(Act(component), Some(()), reads);
                if let (Some(look), Some(flow)) = (found, world.flow(act)) {
                    let summary = self.leaks.summarize(flow, &look);
                    self.leaks.set(act, Some(summary));
                    *self.looks.at(act) = Some(Arc::new(look));
                }
            }
            for (&act, (look, summary)) in members.iter().zip(&before) {
                if self.looks[act] != *look {
                    changes.add(Read::of(Kind::Look, act));
                }
                if self.leaks.id(act) != *summary {
                    changes.add(Read::of(Kind::Summary, act));
                    let callers =
                        world.pointsto.callers(act).iter().map(|&(caller, _)| components.of(caller));
                    left.extend(callers.filter(|&caller| caller != component).map(in_order));
                }
            }
        }
    }

    fn stale(&mut self, world: &World<'_>, changes: &Changes) -> BTreeSet<u32> {
        let components = world.components;
        if changes.everything {
            *self = Looks::new(self.follows);
            return components.in_order().collect();
        }
        let mut stale: BTreeSet<u32> = self.components.stale(changes).into_iter().map(|at| at.0).collect();
        for act in self.looked.stale(changes) {
            self.looked.remove(act);
            stale.extend(world.pointsto.runs(act).then(|| components.of(act)));
        }
        stale.extend(components.touched());
        stale.retain(|&component| {
            let is_there = !components.members(component).is_empty();
            if !is_there {
                self.components.remove(Act(component));
            }
            is_there
        });
        stale
    }

    /// Least solution for a cycle: a member comes again when the summary of one that it calls has grown.
    fn look_around(&mut self, world: &World<'_>, heap: Heap<'_>, component: u32, members: &[Act]) {
        let components = world.components;
        let mut left: BTreeSet<((u32, u32), Act)> = BTreeSet::new();
        let nothing = self.leaks.nothing();
        for &act in members {
            if world.flow(act).is_some() {
                self.leaks.set(act, Some(nothing));
                left.insert((components.place(act), act));
            }
        }
        while let Some((_, act)) = left.pop_first() {
            let Some((look, summary)) = self.look_again(world, heap, act) else { continue };
            *self.looks.at(act) = Some(look);
            let known = self.leaks.id(act).unwrap_or(nothing);
            let found = self.leaks.join(known, summary);
            if known != found {
                self.leaks.set(act, Some(found));
                for &(caller, _) in world.pointsto.callers(act) {
                    if components.of(caller) == component && self.leaks.id(caller).is_some() {
                        left.insert((components.place(caller), caller));
                    }
                }
            }
        }
    }

    /// As it was if nothing is known otherwise of its callees.
    fn look_again(&mut self, world: &World<'_>, heap: Heap<'_>, act: Act) -> Option<(Arc<Look>, SummaryId)> {
        let is_as_it_was =
            |looked: &&Looked| looked.callees.iter().all(|&(callee, known)| self.leaks.id(callee) == known);
        let known = self.looked.peek(act).into_iter().flatten();
        if let Some(looked) = known.clone().find(is_as_it_was) {
            return Some((looked.look.clone(), looked.summary));
        }
        let flow = world.flow(act)?;
        let (look, reads) = self.looked.record(|| {
            note(Read::of(Kind::ComponentOf, act));
            Look::new(world, &self.leaks, &heap, act, flow)
        });
        let summary = self.leaks.summarize(flow, &look);
        let look = Arc::new(look);
        if self.follows {
            let callees = reads.iter().filter_map(|read| read.as_of::<Act>(Kind::Summary));
            let callees = callees.map(|callee| (callee, self.leaks.id(callee))).collect();
            let is_other = |read: &&Read| read.as_of::<Act>(Kind::Summary).is_none();
            let reads = reads.iter().filter(is_other).copied().collect();
            let mut looks: Vec<Looked> = known.take(MOST_LOOKS - 1).cloned().collect();
            looks.push(Looked { callees, reads, look: look.clone(), summary });
            let all: BTreeSet<Read> = looks.iter().flat_map(|looked| looked.reads.iter().copied()).collect();
            self.looked.set(act, Some(looks), all.into_iter().collect());
        }
        Some((look, summary))
    }
}
