//! The locks of all activations that touch any, kept up to date: callees first, so that what they lock or unlock for
//! their callers is known. Knows who calls whom; what happens inside one activation is worked out elsewhere.

use super::intra::{self, ActLocks, Net, touches_locks};
use super::room::Live;
use super::table::SetId;
use super::telling::Telling;
use crate::world::World;
use arena::Id;
use ir::StmtId;
use pointsto::{Act, PointsToDelta};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use track::{Changes, Kind, Memo, Read, Reads, Sizes, note};

/// Rounds after which a recursive method is taken to have no net effect.
const ROUNDS: u32 = 8;

/// Activations in the order in which they are looked at.
type Left = BTreeSet<((u32, u32), Act)>;

#[derive(Debug)]
pub struct Inside {
    acts: Memo<Act, ActLocks>,
}

impl Inside {
    pub fn new(follows: bool) -> Inside {
        Inside { acts: Memo::new(Kind::Locks, follows) }
    }

    pub fn of(&self, act: Act) -> Option<&ActLocks> {
        self.acts.get(act)
    }

    /// Told statement by statement: most that hold locks hold the same ones after an edit of their body.
    pub fn before(&self, act: Act, stmt: StmtId) -> SetId {
        note(Read::pair(Kind::Locks, act, stmt));
        self.acts.peek(act).map_or(SetId(0), |locks| locks.before(stmt))
    }

    pub fn contains(&self, act: Act) -> bool {
        self.acts.peek(act).is_some()
    }

    /// Returns those that hold or take other locks than before.
    pub fn update(
        &mut self,
        telling: &mut Telling<'_, '_>,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) -> BTreeSet<Act> {
        let world = telling.keys.world;
        let mut differing = BTreeSet::new();
        for &act in &delta.acts.removed {
            if let Some(before) = self.acts.remove(act) {
                tell(act, Some(&before), None, changes);
                differing.insert(act);
            }
        }
        let mut left = self.stale(world, delta, changes);
        if changes.everything {
            self.acts.clear();
        }
        while let Some(&((label, _), act)) = left.first() {
            let above = left.split_off(&((label + 1, 0), Act(0)));
            let group = std::mem::replace(&mut left, above);
            for (act, found, reads) in self.component(telling, world.components.of(act), group) {
                let before = self.acts.peek(act);
                if net(before) != net(found.as_ref()) {
                    let callers =
                        world.pointsto.callers(act).iter().map(|&(caller, _)| in_order(world, caller));
                    left.extend(callers.filter(|((above, _), _)| *above > label));
                }
                if before != found.as_ref() {
                    tell(act, before, found.as_ref(), changes);
                    differing.insert(act);
                }
                match found {
                    Some(found) => drop(self.acts.set(act, Some(found), reads)),
                    None => drop(self.acts.remove(act)),
                }
            }
        }
        differing.iter().for_each(|&act| changes.add(Read::of(Kind::Locks, act)));
        differing
    }

    /// Whatever may hold other locks than before, and whatever may begin to.
    fn stale(&self, world: &World<'_>, delta: &PointsToDelta, changes: &Changes) -> Left {
        if changes.everything {
            let touching = world.pointsto.acts().filter(|&act| touches_locks(world, act));
            return touching.map(|act| in_order(world, act)).collect();
        }
        let edited = world.edited(changes);
        let others =
            edited.iter().chain(&delta.acts.added).chain(&delta.models).chain(&delta.callees).copied();
        let beginning = others.filter(|&act| {
            world.pointsto.runs(act) && (touches_locks(world, act) || self.calls_for_effect(world, act))
        });
        // Whose cycle is another one now.
        let with_effect = self.acts.iter().filter(|(_, locks)| locks.net != Net::default());
        let moved = with_effect.map(|(act, _)| act).filter(|&act| {
            let component = world.components.of(act);
            changes.contains(Read::of(Kind::Component, Act(component)))
        });
        let stale = self.acts.stale(changes).into_iter().filter(|&act| world.pointsto.runs(act));
        beginning.chain(moved).chain(stale).map(|act| in_order(world, act)).collect()
    }

    fn calls_for_effect(&self, world: &World<'_>, act: Act) -> bool {
        world.pointsto.calls(act).any(|(_, callee)| self.has_effect(callee))
    }

    fn has_effect(&self, act: Act) -> bool {
        self.acts.peek(act).is_some_and(|locks| locks.net != Net::default())
    }

    /// Least in what is acquired, by rounds until the net effects of callees stand still. Members of a cycle that have
    /// such effects are worked out together.
    fn component(
        &self,
        telling: &mut Telling<'_, '_>,
        component: u32,
        group: Left,
    ) -> Vec<(Act, Option<ActLocks>, Reads)> {
        let world = telling.keys.world;
        let members = world.components.members(component);
        let is_cycle = world.components.is_cycle(component);
        let all = || {
            let taking = members
                .iter()
                .copied()
                .filter(|&act| self.acts.peek(act).is_some() || touches_locks(world, act));
            taking.map(|act| in_order(world, act)).chain(group.iter().copied()).collect::<Left>()
        };
        let whole = is_cycle && members.iter().any(|&act| self.has_effect(act));
        let mut found = self.rounds(telling, component, if whole { all() } else { group.clone() });
        let has_effect = |(locks, _): &(ActLocks, Reads)| locks.net != Net::default();
        if is_cycle && !whole && found.values().any(has_effect) {
            found = self.rounds(telling, component, all());
        }
        let effect = |act: Act| found.get(&act).map_or_else(|| self.has_effect(act), has_effect);
        let is_kept: Vec<bool> = found
            .keys()
            .map(|&act| {
                touches_locks(world, act) || world.pointsto.calls(act).any(|(_, callee)| effect(callee))
            })
            .collect();
        let found = found.into_iter().zip(is_kept);
        found.map(|((act, (locks, reads)), is_kept)| (act, is_kept.then_some(locks), reads)).collect()
    }

    fn rounds(
        &self,
        telling: &mut Telling<'_, '_>,
        component: u32,
        mut left: Left,
    ) -> FxHashMap<Act, (ActLocks, Reads)> {
        let world = telling.keys.world;
        let is_inside = |act: Act| track::unnoted(|| world.components.of(act)) == component;
        let mut found: FxHashMap<Act, (ActLocks, Reads)> = FxHashMap::default();
        let mut rounds: FxHashMap<Act, u32> = FxHashMap::default();
        while let Some((_, act)) = left.pop_first() {
            let net = |callee: Act| match found.get(&callee) {
                Some((locks, _)) => Some(&locks.net),
                None if is_inside(callee) => None,
                None => self.acts.peek(callee).map(|locks| &locks.net),
            };
            let (mut locks, reads) = self.acts.record(|| intra::analyse(telling, act, &net));
            let round = rounds.entry(act).or_default();
            *round += 1;
            if *round > ROUNDS {
                locks.net.acquired.clear();
            }
            let before = found.get(&act).map_or(Net::default(), |(locks, _)| locks.net.clone());
            if before != locks.net && *round <= ROUNDS + 1 {
                let callers = world.pointsto.callers(act).iter().map(|&(caller, _)| caller);
                left.extend(
                    callers.filter(|&caller| is_inside(caller)).map(|caller| in_order(world, caller)),
                );
            }
            found.insert(act, (locks, reads));
        }
        found
    }

    /// What is held and taken.
    pub fn show(&self, live: &mut Live) {
        self.acts.iter().for_each(|(_, locks)| locks.show(live));
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.acts.sizes(sizes);
    }
}

/// Tells at which statements other locks are held.
fn tell(act: Act, before: Option<&ActLocks>, now: Option<&ActLocks>, changes: &mut Changes) {
    if changes.everything {
        return;
    }
    let held = |locks: Option<&ActLocks>, stmt| locks.map_or(SetId(0), |locks| locks.before(stmt));
    let bound = before.into_iter().chain(now).map(ActLocks::bound).max().unwrap_or(0);
    for stmt in (0..bound).map(StmtId::new).filter(|&stmt| held(before, stmt) != held(now, stmt)) {
        changes.add(Read::pair(Kind::Locks, act, stmt));
    }
}

fn net(locks: Option<&ActLocks>) -> Option<&Net> {
    locks.map(|locks| &locks.net).filter(|net| **net != Net::default())
}

fn in_order(world: &World<'_>, act: Act) -> ((u32, u32), Act) {
    (world.components.place(act), act)
}
