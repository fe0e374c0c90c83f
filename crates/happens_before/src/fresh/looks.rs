//! A look at every activation of application code, and what its callers have to know of it; callees first. Owns the
//! order of the work and what is done again after a change.

use super::leaks::{Leaks, Summary, summarize};
use super::look::{Heap, Look};
use crate::world::World;
use arena::IndexVec;
use pointsto::Act;
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, note};

pub struct Looks {
    looks: IndexVec<Act, Option<Arc<Look>>>,
    leaks: Leaks,
    /// By component of the call graph, for what was read.
    components: Memo<Act, ()>,
    follows: bool,
}

impl Looks {
    pub fn new(follows: bool) -> Looks {
        let components = Memo::new(Kind::Other, follows);
        Looks { looks: IndexVec::new(), leaks: Leaks::default(), components, follows }
    }

    pub fn of(&self, act: Act) -> Option<&Arc<Look>> {
        note(Read::of(Kind::Look, act));
        self.looks.get(act)?.as_ref()
    }

    pub fn update(&mut self, world: &World<'_>, heap: Heap<'_>, changes: &mut Changes) {
        let components = world.components;
        let mut left: BTreeSet<(u32, u32)> = BTreeSet::new();
        let in_order = |component: u32| (components.label(component), component);
        if changes.everything {
            *self = Looks::new(self.follows);
            left.extend(components.in_order().map(in_order));
        } else {
            let stale = self.components.stale(changes).into_iter().map(|component| component.0);
            for component in stale.chain(components.touched().iter().copied()) {
                if components.members(component).is_empty() {
                    self.components.remove(Act(component));
                } else {
                    left.insert(in_order(component));
                }
            }
        }
        while let Some((_, component)) = left.pop_first() {
            let mut members = components.members(component).to_vec();
            members.retain(|&act| !world.is_jdk(act));
            if members.is_empty() {
                continue;
            }
            let before: Vec<_> =
                members.iter().map(|&act| (self.looks.at(act).take(), self.leaks.set(act, None))).collect();
            let mut memo = std::mem::replace(&mut self.components, Memo::new(Kind::Other, self.follows));
            let (_, reads) = memo.record(|| self.look_at(world, heap, component, &members));
            memo.set(Act(component), Some(()), reads);
            self.components = memo;
            for (&act, (look, summary)) in members.iter().zip(&before) {
                if self.looks[act] != *look {
                    changes.add(Read::of(Kind::Look, act));
                }
                if track::unnoted(|| self.leaks.of(act)) != summary.as_ref() {
                    changes.add(Read::of(Kind::Summary, act));
                    let callers =
                        world.pointsto.callers(act).iter().map(|&(caller, _)| components.of(caller));
                    left.extend(callers.filter(|&caller| caller != component).map(in_order));
                }
            }
        }
    }

    /// Least solution: a member comes again when the summary of one that it calls has grown.
    fn look_at(&mut self, world: &World<'_>, heap: Heap<'_>, component: u32, members: &[Act]) {
        let components = world.components;
        let is_cycle = components.is_cycle(component);
        let mut left: BTreeSet<((u32, u32), Act)> = BTreeSet::new();
        for &act in members {
            if world.flow(act).is_some() {
                self.leaks.set(act, Some(Summary::default()));
                left.insert((components.place(act), act));
            }
        }
        while let Some((_, act)) = left.pop_first() {
            let Some(flow) = world.flow(act) else { continue };
            let look = Look::new(world, &self.leaks, &heap, act, flow);
            let known = track::unnoted(|| self.leaks.of(act).cloned()).unwrap_or_default();
            let mut found = known.clone();
            summarize(flow, &look, &mut found);
            *self.looks.at(act) = Some(Arc::new(look));
            if known != found {
                self.leaks.set(act, Some(found));
                if is_cycle {
                    let callers = world.pointsto.callers(act).iter().map(|&(caller, _)| caller);
                    let inside =
                        callers.filter(|&caller| components.of(caller) == component && !world.is_jdk(caller));
                    left.extend(inside.map(|caller| (components.place(caller), caller)));
                }
            }
        }
    }
}
