//! A look at every activation of application code, and what its callers have to know of it; callees first. Owns the
//! order of the work and what is done again after a change.

use super::leaks::{Leaks, SummaryId};
use super::look::{Heap, Look};
use crate::world::World;
use arena::IndexVec;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, Reads, Sizes, note};

pub struct Looks {
    looks: IndexVec<Act, Option<Arc<Look>>>,
    leaks: Leaks,
    /// How each summary has grown, and when. What was known of the callees before a moment is a reason for what has
    /// been known since.
    grown: IndexVec<Act, Vec<(Moment, SummaryId)>>,
    now: Moment,
    /// For what was read, whether or not the summaries of callees were then what they are now.
    read: Memo<Act, ()>,
    follows: bool,
}

type Moment = u32;

/// Components to be looked at, callees first, with those members that something is new about.
type Left = BTreeMap<(u32, u32), BTreeSet<Act>>;

/// How a member was before it was looked at again.
type Before = FxHashMap<Act, (Option<Arc<Look>>, Option<SummaryId>)>;

impl Looks {
    pub fn new(follows: bool) -> Looks {
        Looks {
            looks: IndexVec::new(),
            leaks: Leaks::default(),
            grown: IndexVec::new(),
            now: 0,
            read: Memo::new(Kind::Other, follows),
            follows,
        }
    }

    pub fn of(&self, act: Act) -> Option<&Arc<Look>> {
        note(Read::of(Kind::Look, act));
        self.looks.get(act)?.as_ref()
    }

    pub fn update(&mut self, world: &World<'_>, heap: Heap<'_>, changes: &mut Changes) {
        let mut left = Left::new();
        self.stale(world, changes).into_iter().for_each(|act| add(world, &mut left, act));
        while let Some(((_, component), acts)) = left.pop_first() {
            let mut cycle = Cycle { looks: self, world, heap, component, before: Before::default() };
            match world.components.is_cycle(component) {
                true => cycle.look_around(acts),
                false => acts.into_iter().for_each(|act| cycle.look_once(act)),
            }
            for (act, (look, summary)) in cycle.before {
                if *self.looks.at(act) != look {
                    changes.add(Read::of(Kind::Look, act));
                }
                if self.leaks.id(act) != summary {
                    changes.add(Read::of(Kind::Summary, act));
                    let callers = world.pointsto.callers(act).iter().map(|&(caller, _)| caller);
                    callers
                        .filter(|&caller| world.components.of(caller) != component && !world.is_jdk(caller))
                        .for_each(|caller| add(world, &mut left, caller));
                }
            }
        }
    }

    /// Who has to be looked at again; what does not run any more is forgotten.
    fn stale(&mut self, world: &World<'_>, changes: &mut Changes) -> BTreeSet<Act> {
        let is_own = |act: &Act| !world.is_jdk(*act);
        if changes.everything {
            *self = Looks::new(self.follows);
            return world.pointsto.acts().filter(is_own).collect();
        }
        let mut stale: BTreeSet<Act> = self.read.stale(changes).into_iter().collect();
        stale.extend(changes.of::<Act>(Kind::Runs).filter(is_own));
        // Who has come into a cycle may have known things for reasons that are no reasons there, and so may those who
        // know things from it.
        for act in changes.of::<Act>(Kind::ComponentOf).filter(is_own) {
            stale.insert(act);
            if world.pointsto.runs(act) {
                let callers = world.pointsto.callers(act).iter().map(|&(caller, _)| caller);
                stale.extend(callers.filter(|caller| {
                    is_own(caller) && world.components.of(*caller) == world.components.of(act)
                }));
            }
        }
        stale.retain(|&act| {
            let runs = world.pointsto.runs(act);
            if !runs {
                self.read.remove(act);
                self.grown.at(act).clear();
                if self.looks.at(act).take().is_some() {
                    changes.add(Read::of(Kind::Look, act));
                }
                if self.leaks.set(act, None).is_some() {
                    changes.add(Read::of(Kind::Summary, act));
                }
            }
            runs
        });
        stale
    }

    /// What was known of an activation before a moment.
    fn known_before(&mut self, act: Act, moment: Moment) -> SummaryId {
        let nothing = self.leaks.nothing();
        let grown = self.grown.get(act).map_or(&[][..], Vec::as_slice);
        grown.iter().rev().find(|&&(at, _)| at < moment).map_or(nothing, |&(_, summary)| summary)
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.read.sizes(sizes);
        sizes.add("looks", self.looks.iter().filter(|(_, look)| look.is_some()).count());
        self.leaks.sizes(sizes);
    }
}

fn add(world: &World<'_>, left: &mut Left, act: Act) {
    let component = world.components.of(act);
    left.entry((world.components.label(component), component)).or_default().insert(act);
}

/// The work on one component of the call graph.
struct Cycle<'a, 'w> {
    looks: &'a mut Looks,
    world: &'a World<'w>,
    heap: Heap<'a>,
    component: u32,
    before: Before,
}

impl Cycle<'_, '_> {
    /// An activation that is in no cycle.
    fn look_once(&mut self, act: Act) {
        self.remember(act);
        let Some((look, summary, reads)) = self.look(act) else { return self.without_body(act) };
        if self.looks.leaks.id(act) != Some(summary) || self.looks.grown.at(act).len() != 1 {
            self.looks.now += 1;
            *self.looks.grown.at(act) = vec![(self.looks.now, summary)];
            self.looks.leaks.set(act, Some(summary));
        }
        *self.looks.looks.at(act) = Some(look);
        self.looks.read.set(act, Some(()), reads);
    }

    /// Least solution for a cycle: first, what was known for reasons that hold no longer is given up; then a member
    /// comes again when the summary of one that it calls has grown.
    fn look_around(&mut self, acts: BTreeSet<Act>) {
        let mut doubtful = acts;
        let mut left: BTreeSet<((u32, u32), Act)> = BTreeSet::new();
        while let Some(act) = doubtful.pop_first() {
            self.remember(act);
            if self.world.flow(act).is_none() {
                self.without_body(act);
                continue;
            }
            left.insert((self.world.components.place(act), act));
            if let Some(since) = self.give_up(act) {
                for caller in self.callers(act) {
                    left.insert((self.world.components.place(caller), caller));
                    if self.looks.grown.at(caller).iter().any(|&(at, _)| at > since) {
                        doubtful.insert(caller);
                    }
                }
            }
        }
        while let Some((_, act)) = left.pop_first() {
            self.remember(act);
            let Some((look, summary, reads)) = self.look(act) else { continue };
            *self.looks.looks.at(act) = Some(look);
            self.looks.read.add(act, reads);
            let nothing = self.looks.leaks.nothing();
            let known = self.looks.leaks.id(act).unwrap_or(nothing);
            let found = self.looks.leaks.join(known, summary);
            if known != found {
                self.looks.now += 1;
                self.looks.grown.at(act).push((self.looks.now, found));
                self.looks.leaks.set(act, Some(found));
                left.extend(self.callers(act).into_iter().map(|act| (self.world.components.place(act), act)));
            }
        }
    }

    /// Gives up what the activation is not known to let escape any more, given what was known of its callees before
    /// that; since when.
    fn give_up(&mut self, act: Act) -> Option<Moment> {
        let callees = self.callees(act);
        let now: Vec<Option<SummaryId>> = callees.iter().map(|&callee| self.looks.leaks.id(callee)).collect();
        let grown = std::mem::take(self.looks.grown.at(act));
        let mut known = self.looks.leaks.nothing();
        let mut holding = grown.len();
        self.looks.read.set(act, Some(()), Reads::default());
        for (at, &(moment, then)) in grown.iter().enumerate() {
            for &callee in &callees {
                let before = self.looks.known_before(callee, moment);
                let before = if callee == act { known } else { before };
                self.looks.leaks.set(callee, Some(before));
            }
            let Some((_, summary, reads)) = self.look(act) else { break };
            self.looks.read.add(act, reads);
            let found = self.looks.leaks.join(known, summary);
            if self.looks.leaks.join(found, then) != found {
                holding = at;
                break;
            }
            known = then;
        }
        for (&callee, now) in callees.iter().zip(now) {
            self.looks.leaks.set(callee, now);
        }
        let since = grown.get(holding).map(|&(moment, _)| moment);
        *self.looks.grown.at(act) = grown;
        self.looks.grown.at(act).truncate(holding);
        self.looks.leaks.set(act, Some(known));
        since
    }

    /// One look, what it tells callers, and what it read besides what callees tell.
    fn look(&mut self, act: Act) -> Option<(Arc<Look>, SummaryId, Reads)> {
        let Looks { leaks, read, follows, .. } = &mut *self.looks;
        let (look, mut reads) = read.record(|| {
            note(Read::of(Kind::Runs, act));
            let flow = self.world.flow(act)?;
            Some((flow, Look::new(self.world, leaks, &self.heap, act, flow)))
        });
        let (flow, look) = look?;
        if *follows {
            reads = reads.iter().filter(|read| read.as_of::<Act>(Kind::Summary).is_none()).copied().collect();
        }
        let summary = leaks.summarize(flow, &look);
        Some((Arc::new(look), summary, reads))
    }

    fn without_body(&mut self, act: Act) {
        *self.looks.looks.at(act) = None;
        self.looks.leaks.set(act, None);
        self.looks.grown.at(act).clear();
        let (_, reads) = self.looks.read.record(|| self.world.flow(act).is_some());
        self.looks.read.set(act, Some(()), reads);
    }

    fn remember(&mut self, act: Act) {
        let looks = &mut *self.looks;
        self.before.entry(act).or_insert_with(|| (looks.looks.at(act).clone(), looks.leaks.id(act)));
    }

    /// Members with a body that call this one, each once.
    fn callers(&self, act: Act) -> BTreeSet<Act> {
        let callers = self.world.pointsto.callers(act).iter().map(|&(caller, _)| caller);
        callers.filter(|&caller| self.is_member(caller)).collect()
    }

    /// Members with a body that this one calls, each once.
    fn callees(&self, act: Act) -> BTreeSet<Act> {
        let callees = self.world.pointsto.calls(act).map(|(_, callee)| callee);
        callees.filter(|&callee| self.is_member(callee)).collect()
    }

    fn is_member(&self, act: Act) -> bool {
        let world = self.world;
        world.components.of(act) == self.component && !world.is_jdk(act) && world.flow(act).is_some()
    }
}
