//! Locks under which a flag may be set once: held wherever it is set, with looks at it under them. Leaves out what is
//! seen at a glance to order nothing; what is reached beyond that is asked elsewhere.

use super::flags::{Flag, Place, Scene};
use super::reaches::{Question, Reaches, Topic, Way};
use super::section::{Common, Section, common_locks, holds, within};
use crate::bits::Bits;
use crate::branches::Test;
use crate::flow::{Flow, after};
use crate::reach::{Barrier, Kills, Seed, Start};
use crate::types::{LockKey, Origin, Point};
use crate::world::World;
use arena::Id;
use ir::{StmtId, StmtKind, Var};
use models::Step;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Constructors that call each other for one object, at most.
const MOST_CONSTRUCTORS: usize = 8;
/// Activations entered to see whether there is anything to order, at most.
const MOST_ENTERED: usize = 128;

/// A lock that is held wherever a flag is set, and what has to be asked to know whether it is set once under it.
#[derive(Debug, PartialEq, Eq)]
pub struct Candidate {
    pub lock: LockKey,
    /// Where the flag is set.
    set: Vec<Point>,
    /// Branches that see whether it is, under the lock.
    pub seen: Vec<Start>,
    section: Arc<Section>,
    /// The flag is seen unset under the lock, or the lock is given up.
    unseen: Kills,
    /// The flag is seen unset, or the lock is given up.
    later: Kills,
    entry: Act,
    pub origins: BTreeSet<Origin>,
}

impl Candidate {
    pub fn before_a_look(&self) -> Option<Question> {
        self.question(self.section.entered.clone(), self.unseen.clone())
    }

    pub fn after_it_is_set(&self) -> Option<Question> {
        self.question(self.after(), self.later.clone())
    }

    fn after(&self) -> Vec<Start> {
        self.set.iter().map(|point| Start::After(point.act, point.stmt, None)).collect()
    }

    /// Is the flag set there?
    pub fn is_reached(&self, reaches: &Reaches, topic: Topic) -> bool {
        let id = self.origins.first().and_then(|&origin| reaches.id(topic, origin));
        id.is_some_and(|id| self.set.iter().any(|point| reaches.contains(id, point.act, point.stmt)))
    }

    fn question(&self, starts: Vec<Start>, kills: Kills) -> Option<Question> {
        // Where it ends is of no interest.
        let by = self.origins.iter().copied().collect();
        let way = Way { origin: *self.origins.first()?, by, entry: self.entry, starts };
        Some(Question { ways: vec![way], kills })
    }

    /// Is the flag set in a body that takes the lock, without a look in between? Says no more than what is reached
    /// before a look, and mostly that.
    fn is_set_unseen(&self, world: &World<'_>) -> bool {
        let unseen = Barrier::new(world, self.unseen.clone());
        let is_reached = |start: &Start, point: &Point| {
            let (act, seed) = match *start {
                Start::Entry(act) => (act, Seed::Entry),
                Start::After(act, stmt, _) | Start::Inside(act, stmt) => (act, Seed::After(stmt)),
            };
            act == point.act
                && unseen.narrow_walk(act).is_some_and(|mut walk| {
                    walk.go(seed);
                    walk.reached.contains(point.stmt.index())
                })
        };
        self.set.iter().any(|point| self.section.entered.iter().any(|start| is_reached(start, point)))
    }
}

/// A flag, looked at.
pub struct Look<'a, 'w> {
    pub scene: &'a Scene<'a, 'w>,
    pub flag: &'a Flag,
}

impl Look<'_, '_> {
    /// Locks under which it may be set once.
    pub fn candidates(&self, section: impl Fn(&Common) -> Arc<Section>) -> Vec<Candidate> {
        let Scene { world, guards, origins } = *self.scene;
        let later = |place: &&Place| !self.is_first(place);
        let set = self.flag.set.iter().filter(later).flat_map(|place| self.scene.points(place));
        let mut set: Vec<Point> = set.collect();
        set.sort_by(|a, b| {
            let rank = |point: &Point| origins.ranks[point.origin];
            world.content.frames((a.act, a.stmt), (b.act, b.stmt)).then_with(|| rank(a).cmp(&rank(b)))
        });
        let mut cleared = self.flag.cleared.iter().filter(later).flat_map(|place| self.scene.points(place));
        if set.is_empty() || cleared.next().is_some() {
            return Vec::new();
        }
        let tests = || self.flag.seen.iter().filter(|(place, test)| is_at_once(world, place, test));
        let candidate = |lock: Common| {
            let is_locked = |(place, _): &&(Place, Test)| {
                self.scene.points(place).all(|point| holds(guards.locks, &point, &lock.key))
            };
            let checks: Vec<&(Place, Test)> = tests().filter(is_locked).collect();
            if checks.is_empty() {
                return None;
            }
            let section = section(&lock);
            let unset = |tests: &[&(Place, Test)]| {
                let edges = tests.iter().map(|(place, test)| (place.act, test.from, test.zero));
                let mut kills = Kills { edges: edges.collect(), ..section.left.clone() };
                kills.sort();
                kills
            };
            let candidate = Candidate {
                set: set.clone(),
                seen: checks.iter().filter_map(|(place, test)| branch(world, place, test)).collect(),
                unseen: unset(&checks),
                later: unset(&tests().collect::<Vec<_>>()),
                lock: lock.key,
                section,
                entry: self.flag.seen[0].0.act,
                origins: self.origins(),
            };
            let is_of_no_use = candidate.is_set_unseen(world) || self.orders_nothing(&candidate);
            Some(candidate).filter(|_| !is_of_no_use)
        };
        common_locks(guards.locks, &set).into_iter().filter_map(candidate).collect()
    }

    /// Is little done under the lock after a look, and nothing that others may know? Asks no further than that, which
    /// most often is answer enough.
    fn orders_nothing(&self, candidate: &Candidate) -> bool {
        let world = self.scene.world;
        let is_held = |act, stmt| self.is_held(&candidate.lock, act, stmt);
        let find = |starts: &[Start], kills: Kills| {
            within(&Barrier::new(world, kills), starts, &is_held, &|_| false, MOST_ENTERED)
        };
        let Some(mut found) = find(&candidate.seen, Kills::default()) else { return false };
        remove(&mut found, |act, stmt| !is_held(act, stmt));
        !self.writes(&found) || {
            let unseen = find(&candidate.section.entered, candidate.unseen.clone());
            let later = find(&candidate.after(), candidate.later.clone());
            let reached: Vec<FxHashMap<Act, Bits>> = unseen.into_iter().chain(later).collect();
            remove(&mut found, |act, stmt| {
                let mut stmts = reached.iter().filter_map(|reached| reached.get(&act));
                stmts.any(|stmts| stmts.contains(stmt.index()))
            });
            !self.writes(&found)
        }
    }

    pub fn is_held(&self, lock: &LockKey, act: Act, stmt: StmtId) -> bool {
        self.scene.points_at(act, stmt).all(|point| holds(self.scene.guards.locks, &point, lock))
    }

    /// Does anything but the flag change there that others may know? If only what is being made, there is no need
    /// for order.
    fn is_write(&self, act: Act, stmt: StmtId) -> bool {
        let world = self.scene.world;
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

    pub fn writes(&self, earlier: &FxHashMap<Act, Bits>) -> bool {
        let is_write = |act: Act, at: usize| self.is_write(act, StmtId::new(at));
        earlier.iter().any(|(&act, stmts)| stmts.iter().any(|at| is_write(act, at)))
    }

    /// Is it in the constructor of the flag's object, before anybody else knows that?
    fn is_first(&self, place: &Place) -> bool {
        let world = self.scene.world;
        let (Some(flow), Some(base)) = (world.flow(place.act), place.base) else { return false };
        let leaks = || leaks(world, place.act, flow, MOST_CONSTRUCTORS);
        is_constructor(world, flow)
            && flow.body.params.first() == Some(&flow.source(base))
            && !after(flow, leaks(), None).contains(place.stmt.index())
    }

    /// Who sets the flag, or looks at it.
    pub fn origins(&self) -> BTreeSet<Origin> {
        let known = self.flag.set.iter().chain(self.flag.seen.iter().map(|(place, _)| place));
        known.flat_map(|place| self.scene.points(place)).map(|point| point.origin).collect()
    }
}

/// Does the branch follow the look at the flag, with nothing in between that could make the value an old one?
fn is_at_once(world: &World<'_>, place: &Place, test: &Test) -> bool {
    let Some(flow) = world.flow(place.act) else { return false };
    let is_harmless = |kind: &StmtKind| {
        use StmtKind::*;
        matches!(
            kind,
            Const { .. } | Copy { .. } | Cast { .. } | Compute { .. } | Branch { .. } | Load { .. }
        )
    };
    let mut between = flow.body.block_stmts(test.from).filter(|&(stmt, _)| stmt > place.stmt);
    flow.body.stmts[place.stmt].block == test.from && between.all(|(_, info)| is_harmless(&info.kind))
}

/// The branch of a test.
fn branch(world: &World<'_>, place: &Place, test: &Test) -> Option<Start> {
    let end = world.flow(place.act)?.body.blocks[test.from].end;
    Some(Start::After(place.act, StmtId(end - 1), None))
}

/// Takes statements away.
pub fn remove(stmts: &mut FxHashMap<Act, Bits>, is_removed: impl Fn(Act, StmtId) -> bool) {
    stmts.retain(|&act, stmts| {
        *stmts = stmts.iter().filter(|&at| !is_removed(act, StmtId::new(at))).collect();
        !stmts.is_empty()
    });
}

fn is_constructor(world: &World<'_>, flow: &Flow) -> bool {
    world.program.selector_text(world.program.method_ref(flow.method).selector).0 == "<init>"
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
