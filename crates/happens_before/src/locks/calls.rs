//! Locks that callers hold when an activation is entered, per origin, on every way from the origin's entry; kept up to
//! date. Knows what is held at each call; not how that came about.

use super::families::{Families, Family};
use super::inside::Inside;
use super::room::Live;
use super::table::SetId;
use super::telling::{Call, Telling};
use crate::origins::Origins;
use crate::types::{Origin, OriginKind};
use crate::world::World;
use arena::define_id;
use pointsto::{Act, PointsToDelta};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Read, Reads, Sizes};

define_id! {
    /// A component of the call graph with calls inside.
    Cycle
}

/// Where origins begin, with nothing held; ascending.
type Roots = FxHashMap<Act, Vec<(Origin, SetId)>>;

/// Components to be looked at, callers first, with those members that something is new about.
type Left = BTreeMap<(Reverse<u32>, u32), BTreeSet<Act>>;

#[derive(Debug)]
pub struct Entries {
    families: Families,
    certain: Memo<Act, Family>,
    /// Of members of cycles.
    arriving: Memo<Act, Arriving>,
    /// Their members in the order in which they are looked at.
    cycles: Memo<Cycle, Vec<Act>>,
    roots: Roots,
    follows: bool,
}

/// What gets to a member of a cycle.
#[derive(Debug, PartialEq, Eq)]
struct Arriving {
    /// All who run it, without any lock.
    bare: Family,
    from_outside: Family,
    inner: Vec<(Call, SetId)>,
}

impl Entries {
    pub fn new(follows: bool) -> Entries {
        Entries {
            families: Families::default(),
            certain: Memo::new(Kind::Entry, follows),
            arriving: Memo::new(Kind::Arriving, follows),
            cycles: Memo::new(Kind::Other, follows),
            roots: Roots::default(),
            follows,
        }
    }

    pub fn certain(&self, origin: Origin, act: Act) -> SetId {
        self.certain.get(act).map_or(SetId(0), |&family| self.families.of_origin(family, origin))
    }

    /// entry(m) = ⋂ over calls (c, s) of m executed by the origin: told in m's terms, entry(c) ∪ held(c, s).
    /// Greatest solution, for all origins together: callers first, and a cycle of calls as a whole.
    pub fn update(
        &mut self,
        telling: &mut Telling<'_, '_>,
        inside: &Inside,
        origins: &Origins,
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        let world = telling.keys.world;
        let roots = std::mem::replace(&mut self.roots, roots(world, origins));
        let mut left = Left::new();
        if changes.everything {
            self.certain.clear();
            self.arriving.clear();
            self.cycles.clear();
            world.pointsto.acts().for_each(|act| add(world, &mut left, act));
        } else {
            for &act in &delta.acts.removed {
                self.arriving.remove(act);
                if self.certain.remove(act).is_some() {
                    changes.add(Read::of(Kind::Entry, act));
                }
            }
            let others = self.roots.iter().filter(|&(act, starts)| roots.get(act) != Some(starts));
            let others = others.chain(roots.iter().filter(|(act, _)| !self.roots.contains_key(act)));
            let stale = others.map(|(&act, _)| act).chain(self.certain.stale(changes));
            let stale = stale.chain(self.arriving.stale(changes)).chain(delta.acts.added.iter().copied());
            stale.filter(|&act| world.pointsto.runs(act)).for_each(|act| add(world, &mut left, act));
            self.add_cycles(world, delta, changes, &mut left);
        }
        let mut finder = Finder { world, telling, inside, origins, entries: self };
        while let Some(((_, component), acts)) = left.pop_first() {
            let differing = if world.components.is_cycle(component) {
                finder.cycle(component, &acts)
            } else {
                finder.one(acts)
            };
            for act in differing {
                changes.add(Read::of(Kind::Entry, act));
                let callees = world.pointsto.calls(act).map(|(_, callee)| callee);
                callees
                    .filter(|&c| world.components.of(c) != component)
                    .for_each(|c| add(world, &mut left, c));
            }
        }
    }

    /// Cycles that have come to be, have fallen apart or have other members, or another order: those who came or went,
    /// and whom they call.
    fn add_cycles(&mut self, world: &World<'_>, delta: &PointsToDelta, changes: &Changes, left: &mut Left) {
        let components = &world.components;
        let known = self.cycles.iter().map(|(cycle, _)| cycle);
        let is_touched = |cycle: &Cycle| changes.contains(Read::of(Kind::Component, Act(cycle.0)));
        let stale: BTreeSet<Cycle> = self.cycles.stale(changes).into_iter().collect();
        let mut touched: BTreeSet<Cycle> = known.filter(is_touched).chain(stale.iter().copied()).collect();
        let calling = delta.callees.iter().chain(&delta.acts.added).copied();
        let calling = calling.filter(|&act| world.pointsto.runs(act));
        touched.extend(calling.map(|act| Cycle(components.of(act))));
        for cycle in touched {
            let is_cycle = components.is_cycle(cycle.0);
            let now = if is_cycle { in_order(world, cycle.0) } else { Vec::new() };
            let known = self.cycles.peek(cycle).map_or(&[][..], Vec::as_slice);
            if known != now {
                let (before, after): (FxHashSet<Act>, FxHashSet<Act>) =
                    (known.iter().copied().collect(), now.iter().copied().collect());
                for &act in before.symmetric_difference(&after).filter(|&&act| world.pointsto.runs(act)) {
                    add(world, left, act);
                    world.pointsto.calls(act).for_each(|(_, callee)| add(world, left, callee));
                }
            }
            if known != now || stale.contains(&cycle) {
                if is_cycle {
                    left.entry((Reverse(components.label(cycle.0)), cycle.0)).or_default();
                }
                self.cycles.remove(cycle);
            }
        }
    }

    /// Does anything here rest on this?
    pub fn reads(&self, read: Read) -> bool {
        self.certain.reads(read) || self.arriving.reads(read) || self.cycles.reads(read)
    }

    pub fn show(&self, live: &mut Live) {
        self.certain.iter().for_each(|(_, &family)| live.add_family(family));
        for (_, arriving) in self.arriving.iter() {
            live.add_family(arriving.bare);
            live.add_family(arriving.from_outside);
            arriving.inner.iter().for_each(|&(_, held)| live.add_set(held));
        }
        self.families.show(live);
    }

    pub fn retain(&mut self, live: &Live) {
        self.families.retain(live);
    }

    pub fn family_count(&self) -> usize {
        self.families.count()
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.families.sizes(sizes);
        self.certain.sizes(sizes);
        self.arriving.sizes(sizes);
        self.cycles.sizes(sizes);
    }
}

fn add(world: &World<'_>, left: &mut Left, act: Act) {
    let component = world.components.of(act);
    left.entry((Reverse(world.components.label(component)), component)).or_default().insert(act);
}

fn in_order(world: &World<'_>, component: u32) -> Vec<Act> {
    let mut members = world.components.members(component).to_vec();
    members.sort_unstable_by_key(|&act| Reverse(world.components.place(act)));
    members
}

fn roots(world: &World<'_>, origins: &Origins) -> Roots {
    let mut roots = Roots::default();
    for (origin, info) in origins.there() {
        let starts = match info.kind {
            OriginKind::Initialization => world.pointsto.initializers(),
            OriginKind::Entry | OriginKind::Task => std::slice::from_ref(&info.entry),
            OriginKind::Gone => &[],
        };
        starts.iter().for_each(|&start| roots.entry(start).or_default().push((origin, SetId(0))));
    }
    roots
}

struct Finder<'a, 'k, 'w> {
    world: &'a World<'w>,
    telling: &'a mut Telling<'k, 'w>,
    inside: &'a Inside,
    origins: &'a Origins,
    entries: &'a mut Entries,
}

impl Finder<'_, '_, '_> {
    /// An activation that is in no cycle. Returns it if its callers hold something else now.
    fn one(&mut self, acts: BTreeSet<Act>) -> Vec<Act> {
        let is_outside = |_: Act| true;
        let one = |&act: &Act| {
            let (found, reads) = self.record(|finder| finder.arriving(act, is_outside).from_outside);
            self.entries.arriving.remove(act);
            self.entries.certain.set(act, Some(found), reads) != Some(found)
        };
        acts.into_iter().filter(one).collect()
    }

    fn record<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> (T, Reads) {
        if self.entries.follows { track::record(|| work(self)) } else { (work(self), Reads::default()) }
    }

    /// Whoever gets there without any lock holds none, whatever others do; the others meet in the order of content.
    fn arriving(&mut self, act: Act, is_outside: impl Fn(Act) -> bool) -> Arriving {
        let world = self.world;
        let runs = self.origins.of(act).iter();
        let all = self.entries.families.add(runs.map(|&origin| (origin, SetId(0))).collect());
        let roots = self.entries.roots.get(&act).cloned().unwrap_or_default();
        let roots = self.entries.families.add(roots);
        let mut bare = roots;
        for &(caller, stmt) in world.pointsto.callers(act) {
            if bare == all {
                break;
            }
            if is_outside(caller) && self.inside.before(caller, stmt) == SetId(0) {
                let entry = self.entry(caller);
                let entry = self.entries.families.bare(entry);
                bare = self.entries.families.meet(self.telling, bare, entry);
            }
        }
        if bare == all {
            return Arriving { bare: all, from_outside: all, inner: Vec::new() };
        }
        let mut found = Arriving { bare: all, from_outside: roots, inner: Vec::new() };
        for &(caller, stmt) in world.calls.callers(act) {
            let (call, held) = (Call::new(world, caller, stmt, act), self.inside.before(caller, stmt));
            if is_outside(caller) {
                let entry = self.entry(caller);
                let told = self.told(entry, call, held);
                found.from_outside = self.entries.families.meet(self.telling, found.from_outside, told);
            } else {
                found.inner.push((call, held));
            }
        }
        found
    }

    fn entry(&self, act: Act) -> Family {
        self.entries.certain.get(act).copied().unwrap_or(Family(0))
    }

    /// Looks at a cycle again if something else gets there now. Returns members whose callers hold something else.
    fn cycle(&mut self, component: u32, acts: &BTreeSet<Act>) -> Vec<Act> {
        let members: FxHashSet<Act> = self.world.components.members(component).iter().copied().collect();
        let known = self.entries.cycles.peek(Cycle(component));
        let mut differs = known.is_none();
        for &act in acts {
            let (found, reads) =
                self.record(|finder| finder.arriving(act, |caller| !members.contains(&caller)));
            differs |= self.entries.arriving.peek(act) != Some(&found);
            self.entries.arriving.set(act, Some(found), reads);
        }
        if !differs {
            return Vec::new();
        }
        let in_order = in_order(self.world, component);
        let (found, reads) = self.record(|finder| finder.meet_inside(&in_order));
        self.entries.cycles.set(Cycle(component), Some(in_order), reads);
        let mut differing = Vec::new();
        for (act, met) in found {
            let is_other = self.entries.certain.peek(act) != Some(&met);
            if is_other || acts.contains(&act) {
                self.entries.certain.set(act, Some(met), Reads::default());
            }
            differing.extend(is_other.then_some(act));
        }
        differing
    }

    /// Callers come first as far as they can, and what is reached without a lock has none to begin with.
    fn meet_inside(&mut self, in_order: &[Act]) -> Vec<(Act, Family)> {
        let mut cycle = Inner::new(in_order, &self.entries.arriving);
        let mut found = self.bare_inside(&cycle);
        let mut left: BTreeSet<usize> = (0..in_order.len()).collect();
        while let Some(at) = left.pop_first() {
            if found[at] == cycle.bare[at] {
                continue;
            }
            let mut met = cycle.from_outside[at];
            for edge in &mut cycle.into[at] {
                // Of what is not visited yet there is no constraint yet.
                let known = found[edge.from];
                if edge.passed.0 != known {
                    edge.passed = (known, self.told(known, edge.call, edge.held));
                }
                met = self.entries.families.meet(self.telling, met, edge.passed.1);
            }
            // Only ever less than before.
            let met = self.entries.families.meet(self.telling, found[at], met);
            if met != found[at] {
                found[at] = met;
                left.extend(cycle.out[at].iter().map(|&(to, _)| to));
            }
        }
        in_order.iter().copied().zip(found).collect()
    }

    /// Who gets to the members of a cycle without any lock.
    fn bare_inside(&mut self, cycle: &Inner) -> Vec<Family> {
        let families = &mut self.entries.families;
        let mut found: Vec<Family> = cycle.from_outside.iter().map(|&met| families.bare(met)).collect();
        let mut left: Vec<usize> = (0..found.len()).filter(|&at| found[at] != Family(0)).collect();
        while let Some(at) = left.pop() {
            for &(to, _) in cycle.out[at].iter().filter(|(_, held)| *held == SetId(0)) {
                let met = families.meet(self.telling, found[to], found[at]);
                if met != found[to] {
                    found[to] = met;
                    left.push(to);
                }
            }
        }
        found
    }

    /// What a call passes on.
    fn told(&mut self, known: Family, call: Call, held: SetId) -> Family {
        let families = &mut self.entries.families;
        let both = families.under(self.telling, known, held);
        let table = &self.telling.told.table;
        match families.of(both).iter().any(|&(_, set)| table.is_told_by_path(set)) {
            true => families.map(both, |set| self.telling.set_down(call, set)),
            false => both,
        }
    }
}

/// A cycle of calls by the places of its members.
struct Inner {
    /// As little as there can be.
    bare: Vec<Family>,
    from_outside: Vec<Family>,
    into: Vec<Vec<Edge>>,
    /// With what the caller itself holds.
    out: Vec<Vec<(usize, SetId)>>,
}

struct Edge {
    from: usize,
    call: Call,
    held: SetId,
    /// What the caller was known to hold, and what the call passes on then.
    passed: (Family, Family),
}

impl Inner {
    fn new(in_order: &[Act], arriving: &Memo<Act, Arriving>) -> Inner {
        let places: FxHashMap<Act, usize> = in_order.iter().copied().zip(0..).collect();
        let none = || in_order.iter().map(|_| Vec::new()).collect();
        let mut inner = Inner { bare: Vec::new(), from_outside: Vec::new(), into: Vec::new(), out: none() };
        for (to, &act) in in_order.iter().enumerate() {
            // Whoever gets there otherwise makes all of the cycle be looked at again.
            let arriving = arriving.peek(act);
            inner.bare.push(arriving.map_or(Family(0), |arriving| arriving.bare));
            inner.from_outside.push(arriving.map_or(Family(0), |arriving| arriving.from_outside));
            let calls = arriving.into_iter().flat_map(|arriving| &arriving.inner);
            let edges = calls.map(|&(call, held)| {
                let from = places[&call.caller];
                inner.out[from].push((to, held));
                Edge { from, call, held, passed: (Family(0), Family(0)) }
            });
            inner.into.push(edges.collect());
        }
        inner
    }
}
