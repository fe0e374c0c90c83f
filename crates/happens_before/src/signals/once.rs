//! Flags that are set once: whoever sets one holds a lock and has seen, since taking it, that the flag is not set,
//! and nobody takes it back. `if (!ready) synchronized (this) { if (!ready) { fill(); ready = true; } }` Knows one
//! flag at a time, and points; not what is accessed there.

use super::flags::{Finder, Flag, Place};
use super::section::{Pauses, Section, common_locks, holds, within};
use crate::bits::Bits;
use crate::branches::{Test, is_nonzero};
use crate::flow::{Flow, after};
use crate::reach::{Barrier, Kills, ReachSet, Start, reach};
use crate::types::{Origin, Point};
use crate::world::World;
use arena::Id;
use ir::{StmtId, StmtKind, Var};
use models::Step;
use pointsto::{Act, Slot};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Constructors that call each other for one object, at most.
const MOST_CONSTRUCTORS: usize = 8;

/// Let S be the one time a flag is set. What runs under the lock after the flag was seen unset, and not after S,
/// comes before S: in the same section, or in one before. What runs only after the flag was seen set, or after S,
/// comes after S.
#[derive(Debug, Default)]
pub struct Once {
    /// What comes before S, with the number of the flag.
    earlier: FxHashMap<Act, Vec<(usize, Bits)>>,
    /// By flag, and by origin: what may not come after S.
    open: Vec<BTreeMap<Origin, ReachSet>>,
}

impl Once {
    pub fn new(finder: &Finder<'_, '_>) -> Once {
        let pauses = Pauses::new(finder);
        let mut once = Once::default();
        for (&slot, flag) in &finder.flags {
            let look = Look { finder, slot, flag, pauses: &pauses };
            let Some(earlier) = look.earlier() else { continue };
            for (act, stmts) in earlier {
                once.earlier.entry(act).or_default().push((once.open.len(), stmts));
            }
            once.open.push(look.open());
        }
        once
    }

    /// Is it about as many flags, and the same origins?
    pub fn is_like(&self, other: &Once) -> bool {
        let same = |(a, b): (&BTreeMap<Origin, ReachSet>, &BTreeMap<Origin, ReachSet>)| a.keys().eq(b.keys());
        self.open.len() == other.open.len() && self.open.iter().zip(&other.open).all(same)
    }

    pub fn sets(&self) -> impl Iterator<Item = &ReachSet> {
        self.open.iter().flat_map(|open| open.values())
    }

    /// Who has something else that comes before.
    pub fn differing<'a>(&'a self, other: &'a Once) -> impl Iterator<Item = Act> + 'a {
        let acts = self.earlier.keys().chain(other.earlier.keys()).copied();
        acts.filter(|act| self.earlier.get(act) != other.earlier.get(act))
    }

    pub fn precedes(&self, first: &Point, second: &Point) -> bool {
        let is_after = |flag: usize| {
            let open = self.open[flag].get(&second.origin);
            open.is_some_and(|open| !open.contains(second.act, second.stmt))
        };
        self.earlier.get(&first.act).is_some_and(|flags| {
            flags.iter().any(|(flag, stmts)| stmts.contains(first.stmt.index()) && is_after(*flag))
        })
    }
}

struct Look<'a, 'w> {
    finder: &'a Finder<'a, 'w>,
    slot: Slot,
    flag: &'a Flag,
    pauses: &'a Pauses<'a, 'w>,
}

impl Look<'_, '_> {
    /// What comes before the flag is set, if it is set once and there is anything to order.
    fn earlier(&self) -> Option<FxHashMap<Act, Bits>> {
        let Finder { world, guards, .. } = self.finder;
        let later = |place: &&Place| !self.is_first(place);
        let set = self.flag.set.iter().filter(later).flat_map(|place| self.finder.points(place));
        let mut set: Vec<Point> = set.collect();
        set.sort_by(|a, b| {
            let rank = |point: &Point| self.finder.origins.ranks[point.origin];
            world.content.frames((a.act, a.stmt), (b.act, b.stmt)).then_with(|| rank(a).cmp(&rank(b)))
        });
        let mut cleared = self.flag.cleared.iter().filter(later).flat_map(|place| self.finder.points(place));
        if set.is_empty() || cleared.next().is_some() {
            return None;
        }
        let tests = || self.flag.seen.iter().filter(|(place, test)| is_at_once(world, place, test));
        common_locks(guards.locks, &set).into_iter().find_map(|lock| {
            let is_locked = |(place, _): &&(Place, Test)| {
                self.finder.points(place).all(|point| holds(guards.locks, &point, &lock.key))
            };
            let checks: Vec<&(Place, Test)> = tests().filter(is_locked).collect();
            if checks.is_empty() {
                return None;
            }
            let section = Section::new(self.finder, self.pauses, &lock);
            let unset = |tests: &[&(Place, Test)]| {
                let edges = tests.iter().map(|(place, test)| (place.act, test.from, test.zero));
                let mut kills = Kills { edges: edges.collect(), ..section.left.clone() };
                kills.sort();
                Barrier::new(world, kills)
            };
            let seen: Vec<Start> =
                checks.iter().filter_map(|(place, test)| branch(world, place, test)).collect();
            let own: Vec<Start> = set.iter().map(|point| Start::After(point.act, point.stmt, None)).collect();
            let is_held = |act, stmt| {
                self.finder.points_at(act, stmt).all(|point| holds(guards.locks, &point, &lock.key))
            };
            let mut earlier = within(&Barrier::none(world), &seen, &is_held);
            remove(&mut earlier, |act, stmt| !is_held(act, stmt));
            if !self.writes(&earlier) {
                return None;
            }
            // What is found without a look beyond the section is found at little cost; it mostly is all there is.
            let (unseen, after) = (unset(&checks), unset(&tests().collect::<Vec<_>>()));
            for (starts, barrier) in [(&section.entered, &unseen), (&own, &after)] {
                let reached = within(barrier, starts, &is_held);
                remove(&mut earlier, |act, stmt| {
                    reached.get(&act).is_some_and(|stmts| stmts.contains(stmt.index()))
                });
            }
            if !self.writes(&earlier) {
                return None;
            }
            let unseen = self.reach(&section.entered, &unseen);
            if set.iter().any(|point| unseen.contains(point.act, point.stmt)) {
                return None;
            }
            let after = self.reach(&own, &after);
            remove(&mut earlier, |act, stmt| unseen.contains(act, stmt) || after.contains(act, stmt));
            Some(earlier).filter(|earlier| self.writes(earlier))
        })
    }

    /// Does anything but the flag change there that others may know? If only what is being made, there is no need
    /// for order.
    fn is_write(&self, act: Act, stmt: StmtId) -> bool {
        let world = self.finder.world;
        let Some(flow) = world.flow(act) else { return false };
        let is_new = |base: Var| {
            let base = flow.source(base);
            let made = flow.definition(base).map(|(_, kind)| kind);
            matches!(made, Some(StmtKind::New { .. } | StmtKind::NewArray { .. }))
                || is_constructor(world, flow) && flow.body.params.first() == Some(&base)
        };
        let is_flag = self.flag.set.iter().any(|place| (place.act, place.stmt) == (act, stmt));
        match flow.body.stmts[stmt].kind {
            StmtKind::Store { base, .. } | StmtKind::StoreElem { base, .. } => !is_flag && !is_new(base),
            StmtKind::StoreStatic { .. } => !is_flag,
            StmtKind::Call { .. } => world.steps(act, stmt).any(|step| matches!(step, Step::Write { .. })),
            _ => false,
        }
    }

    fn writes(&self, earlier: &FxHashMap<Act, Bits>) -> bool {
        let is_write = |act: Act, at: usize| self.is_write(act, StmtId::new(at));
        earlier.iter().any(|(&act, stmts)| stmts.iter().any(|at| is_write(act, at)))
    }

    /// Is it in the constructor of the flag's object, before anybody else knows that?
    fn is_first(&self, place: &Place) -> bool {
        let world = self.finder.world;
        let (Some(flow), Some(base)) = (world.flow(place.act), place.base) else { return false };
        let leaks = || leaks(world, place.act, flow, MOST_CONSTRUCTORS);
        is_constructor(world, flow)
            && flow.body.params.first() == Some(&flow.source(base))
            && !after(flow, leaks(), None).contains(place.stmt.index())
    }

    /// What may run before the flag was set or seen set.
    fn open(&self) -> BTreeMap<Origin, ReachSet> {
        let world = self.finder.world;
        let mut kills = self.finder.awaits(self.slot, self.flag);
        let certain = self.flag.set.iter().filter(|place| is_certain(world, place));
        kills.stmts.extend(certain.map(|place| (place.act, place.stmt)));
        kills.sort();
        let barrier = Barrier::new(world, kills);
        let open = |origin: Origin| {
            let info = &self.finder.origins.info[origin];
            let runs = &self.finder.origins.runs[origin];
            (origin, reach(info.entry, runs, &[Start::Entry(info.entry)], &barrier))
        };
        self.origins().into_iter().map(open).collect()
    }

    /// By whoever may set the flag, or look at it.
    fn reach(&self, starts: &[Start], barrier: &Barrier<'_, '_>) -> ReachSet {
        // Where it ends is of no interest.
        let entry = self.flag.seen[0].0.act;
        reach(entry, &self.runs(), starts, barrier)
    }

    fn runs(&self) -> Bits {
        let mut runs = Bits::new();
        self.origins().iter().for_each(|&origin| runs.union_with(&self.finder.origins.runs[origin]));
        runs
    }

    /// Who sets the flag, or looks at it.
    fn origins(&self) -> BTreeSet<Origin> {
        let known = self.flag.set.iter().chain(self.flag.seen.iter().map(|(place, _)| place));
        known.flat_map(|place| self.finder.points(place)).map(|point| point.origin).collect()
    }
}

/// Does the place store what is not zero for sure?
fn is_certain(world: &World<'_>, place: &Place) -> bool {
    let Some(flow) = world.flow(place.act) else { return false };
    match flow.body.stmts[place.stmt].kind {
        StmtKind::Store { src, .. } | StmtKind::StoreStatic { src, .. } => is_nonzero(flow, src),
        _ => false,
    }
}

/// Does the branch follow the look at the flag, with nothing in between that could make the value an old one?
fn is_at_once(world: &World<'_>, place: &Place, test: &Test) -> bool {
    let Some(flow) = world.flow(place.act) else { return false };
    let end = flow.body.blocks[test.from].end;
    let is_harmless = |kind: &StmtKind| {
        use StmtKind::*;
        matches!(
            kind,
            Const { .. } | Copy { .. } | Cast { .. } | Compute { .. } | Branch { .. } | Load { .. }
        )
    };
    let between = (place.stmt.0 + 1..end).map(StmtId);
    flow.body.stmts[place.stmt].block == test.from
        && between.into_iter().all(|stmt| is_harmless(&flow.body.stmts[stmt].kind))
}

/// The branch of a test.
fn branch(world: &World<'_>, place: &Place, test: &Test) -> Option<Start> {
    let end = world.flow(place.act)?.body.blocks[test.from].end;
    Some(Start::After(place.act, StmtId(end - 1), None))
}

/// Takes statements away.
fn remove(stmts: &mut FxHashMap<Act, Bits>, is_removed: impl Fn(Act, StmtId) -> bool) {
    stmts.retain(|&act, stmts| {
        *stmts = stmts.iter().filter(|&at| !is_removed(act, StmtId::new(at))).collect();
        !stmts.is_empty()
    });
}

fn is_constructor(world: &World<'_>, flow: &Flow) -> bool {
    world.program.selector_text(world.program.method(flow.method).selector).0 == "<init>"
}

/// Statements of a constructor that pass its object on.
fn leaks(world: &World<'_>, act: Act, flow: &Flow, depth: usize) -> Vec<StmtId> {
    let Some(&this) = flow.body.params.first() else { return Vec::new() };
    let is_this = |var: Var| flow.source(var) == this;
    let callee_leaks = |stmt: StmtId| {
        world.pointsto.callees(act, stmt).iter().any(|&callee| {
            !world.is_jdk(callee)
                && world
                    .flow(callee)
                    .is_some_and(|flow| depth == 0 || !leaks(world, callee, flow, depth - 1).is_empty())
        })
    };
    let is_leak = |stmt: StmtId, kind: &StmtKind| match kind {
        StmtKind::Load { .. }
        | StmtKind::Copy { .. }
        | StmtKind::Branch { .. }
        | StmtKind::MonitorEnter { .. }
        | StmtKind::MonitorExit { .. } => false,
        StmtKind::Store { src, .. } => is_this(*src),
        StmtKind::Call { args, .. }
            if world.is_constructor_call(flow, stmt) && args.first().is_some_and(|&arg| is_this(arg)) =>
        {
            args[1..].iter().any(|&arg| is_this(arg)) || callee_leaks(stmt)
        }
        _ => kind.uses().any(is_this),
    };
    flow.body.stmts.iter().filter(|(stmt, info)| is_leak(*stmt, &info.kind)).map(|(stmt, _)| stmt).collect()
}
