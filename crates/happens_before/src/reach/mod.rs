//! The one primitive of order: which statements an origin can reach from given points without passing a kill.
//! Knows calls and flow; what the starts and kills mean is the asker's affair.

mod barrier;
mod nulls;
mod throws;
mod walk;

pub use barrier::Barrier;
pub use nulls::never_taken;
pub use throws::Throws;

use crate::bits::Bits;
use crate::branches::Edge;
use crate::world::World;
use arena::Id;
use ir::{BlockId, StmtId, StmtKind};
use pointsto::{Act, Obj};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Kind, Read, note};
use walk::{Exits, Stop};
pub use walk::{Seed, Walk};

/// Where reachability starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Start {
    /// At the first statement of an activation; its end is the end.
    Entry(Act),
    /// Just after a statement; at the end of its method, after the callers' calls, and so on. With a subject,
    /// only callers that pass that object in (if the method gets it from its callers at all).
    After(Act, StmtId, Option<Obj>),
    /// Just after a statement, up to the end of its method.
    Inside(Act, StmtId),
}

/// Statements and edges that end every path. Sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kills {
    pub stmts: Vec<(Act, StmtId)>,
    /// Calls that end every path that returns from them; what they throw goes on.
    pub returns: Vec<(Act, StmtId)>,
    pub edges: Vec<(Act, BlockId, BlockId)>,
}

impl Kills {
    pub fn at(act: Act, stmt: StmtId) -> Kills {
        Kills { stmts: vec![(act, stmt)], ..Kills::default() }
    }

    pub fn at_return(act: Act, stmt: StmtId) -> Kills {
        Kills { returns: vec![(act, stmt)], ..Kills::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.stmts.is_empty() && self.returns.is_empty() && self.edges.is_empty()
    }

    pub fn sort(&mut self) {
        self.stmts.sort_unstable();
        self.stmts.dedup();
        self.returns.sort_unstable();
        self.returns.dedup();
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    /// Has to be sorted afterwards.
    pub fn add(&mut self, other: &Kills) {
        self.stmts.extend(&other.stmts);
        self.returns.extend(&other.returns);
        self.edges.extend(&other.edges);
    }

    pub fn union(&self, other: &Kills) -> Kills {
        let mut both = self.clone();
        both.add(other);
        both.sort();
        both
    }

    pub fn retain(&mut self, mut keeps: impl FnMut(Act) -> bool) {
        self.stmts.retain(|&(act, _)| keeps(act));
        self.returns.retain(|&(act, _)| keeps(act));
        self.edges.retain(|&(act, ..)| keeps(act));
    }

    pub fn acts(&self) -> impl Iterator<Item = Act> + '_ {
        self.passed().map(|(act, _)| act).chain(self.edges.iter().map(|&(act, ..)| act))
    }

    /// Statements that no path returns from.
    pub fn passed(&self) -> impl Iterator<Item = (Act, StmtId)> + '_ {
        self.stmts.iter().chain(&self.returns).copied()
    }

    fn has_return(&self, act: Act, stmt: StmtId) -> bool {
        self.returns.binary_search(&(act, stmt)).is_ok()
    }

    fn has_stmt(&self, act: Act, stmt: StmtId) -> bool {
        self.stmts.binary_search(&(act, stmt)).is_ok()
    }

    fn stmts_of(&self, act: Act) -> &[(Act, StmtId)] {
        let from = self.stmts.partition_point(|&(at, _)| at < act);
        let to = self.stmts.partition_point(|&(at, _)| at <= act);
        &self.stmts[from..to]
    }

    fn returns_of(&self, act: Act) -> &[(Act, StmtId)] {
        let from = self.returns.partition_point(|&(at, _)| at < act);
        let to = self.returns.partition_point(|&(at, _)| at <= act);
        &self.returns[from..to]
    }

    fn edges_of(&self, act: Act) -> Vec<Edge> {
        let from = self.edges.partition_point(|&(at, ..)| at < act);
        let own = self.edges[from..].iter().take_while(|&&(at, ..)| at == act);
        own.map(|&(_, from, to)| (from, to)).collect()
    }
}

/// What is reached, up to the entry of what runs as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Climb {
    /// Activations that are run as a whole, with all that they call.
    pub roots: BTreeSet<Act>,
    /// Statements reached of activations that are reached in part.
    pub parts: FxHashMap<Act, Arc<Bits>>,
    /// The end of the origin is reached.
    pub ends: bool,
}

impl Climb {
    /// Statements of activations reached in part that only one of the two reaches.
    pub fn differing_parts(&self, other: &Climb) -> Vec<(Act, StmtId)> {
        let none = Bits::new();
        let mut differing = Vec::new();
        for &act in self.parts.keys().chain(other.parts.keys().filter(|act| !self.parts.contains_key(act))) {
            let [mine, theirs] = [self, other].map(|climb| climb.parts.get(&act).map_or(&none, |part| part));
            differing.extend(mine.differing(theirs).map(|stmt| (act, StmtId::new(stmt))));
        }
        differing
    }

    /// For few questions: who leads there is asked for, and not what all is called.
    pub fn contains(&self, world: &World<'_>, act: Act, stmt: StmtId) -> bool {
        let in_part = self.parts.get(&act).is_some_and(|stmts| stmts.contains(stmt.index()));
        in_part || {
            let callers = world.callers_of([act]);
            self.roots.iter().any(|&root| callers.contains(root))
        }
    }

    /// With all that is called.
    pub fn close(self, world: &World<'_>) -> ReachSet {
        let mut reached = Bits::new();
        for &root in &self.roots {
            world.components.reach(world.components.of(root), &mut reached);
        }
        ReachSet { whole: world.components.acts(&reached), parts: self.parts }
    }
}

/// The statements reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReachSet {
    /// Activations reached as a whole.
    whole: Bits,
    /// Statements reached of activations that are reached in part.
    parts: FxHashMap<Act, Arc<Bits>>,
}

impl ReachSet {
    #[inline]
    pub fn contains(&self, act: Act, stmt: StmtId) -> bool {
        self.whole.contains(act.index())
            || self.parts.get(&act).is_some_and(|stmts| stmts.contains(stmt.index()))
    }
}

/// Reached statements of an origin, given by its entry and all it runs:
///
/// - in a body, along normal and exceptional edges, up to kills;
/// - a call reaches its callees from their entry, and what follows it if it can be passed (see [`Barrier`]);
/// - a path that began inside a method and comes to its end goes on after every call of it.
pub fn climb(entry: Act, runs: &Bits, starts: &[Start], barrier: &Barrier<'_, '_>) -> Climb {
    let search = Search {
        world: barrier.world,
        entry,
        runs,
        barrier,
        inside: FxHashMap::default(),
        entered: Bits::new(),
        roots: BTreeSet::new(),
        whole: Bits::new(),
        seen: FxHashSet::default(),
        left: FxHashMap::default(),
        left_whole: Bits::new(),
        ascending: Vec::new(),
        ends: false,
    };
    search.run(starts)
}

/// A place inside a body to go on from, on behalf of a subject.
type Place = (Act, Seed, Option<Obj>);

struct Search<'a, 'w> {
    world: &'a World<'w>,
    entry: Act,
    runs: &'a Bits,
    barrier: &'a Barrier<'a, 'w>,
    /// Bodies walked from places inside.
    inside: FxHashMap<Act, Walk<'a>>,
    /// Affected activations whose entry is reached.
    entered: Bits,
    roots: BTreeSet<Act>,
    /// Their components.
    whole: Bits,
    seen: FxHashSet<Place>,
    /// Activations whose callers were gone on with.
    left: FxHashMap<(Act, Option<Obj>), Exits>,
    left_whole: Bits,
    ascending: Vec<Place>,
    ends: bool,
}

impl<'a> Search<'a, '_> {
    fn run(mut self, starts: &[Start]) -> Climb {
        for &start in starts {
            match start {
                Start::Entry(act) => {
                    self.descend(act);
                    self.ends |= self.barrier.exits(act).any() && act == self.entry;
                }
                Start::After(act, stmt, subject) => self.ascending.push((act, Seed::After(stmt), subject)),
                Start::Inside(act, stmt) => {
                    self.enter(act, Seed::After(stmt));
                }
            }
        }
        while let Some((act, seed, subject)) = self.ascending.pop() {
            note(Read::of(Kind::OriginsOf, act));
            if !self.runs.contains(act.index()) || !self.seen.insert((act, seed, subject)) {
                continue;
            }
            let exits = self.enter(act, seed);
            if exits.any() {
                self.leave(act, exits, subject);
            }
        }
        let mut parts: FxHashMap<Act, Arc<Bits>> = FxHashMap::default();
        for act in self.entered.iter().map(Act::new) {
            if let Some(reached) = self.barrier.entered(act) {
                parts.insert(act, reached);
            }
        }
        for (act, walk) in self.inside {
            match parts.get_mut(&act) {
                Some(known) => Arc::make_mut(known).union_with(&walk.reached),
                None => {
                    parts.insert(act, Arc::new(walk.reached));
                }
            }
        }
        Climb { roots: self.roots, parts, ends: self.ends }
    }

    /// The end of an activation is reached: goes on after the calls of it.
    fn leave(&mut self, act: Act, exits: Exits, subject: Option<Obj>) {
        let world = self.world;
        let component = world.components.of(act);
        let subject = subject.filter(|&obj| gets(world, act, obj));
        // In a component that is reached anyway, only its callers outside are news.
        if subject.is_none() && self.whole.contains(component as usize) {
            self.ends |= component == world.components.of(self.entry);
            if self.left_whole.insert(component as usize) {
                for &(caller, stmt) in world.entering(component).iter() {
                    self.go_on(caller, stmt, Exits::ALL, None);
                }
            }
            return;
        }
        self.ends |= act == self.entry;
        if self.left.insert((act, subject), exits) != Some(exits) {
            for &(caller, stmt) in world.pointsto.callers(act) {
                if subject.is_none_or(|obj| passes_in(world, caller, stmt, act, obj)) {
                    self.go_on(caller, stmt, exits, subject);
                }
            }
        }
    }

    fn go_on(&mut self, caller: Act, stmt: StmtId, exits: Exits, subject: Option<Obj>) {
        let kills = &self.barrier.kills;
        if exits.normal && !kills.has_stmt(caller, stmt) && !kills.has_return(caller, stmt) {
            self.ascending.push((caller, Seed::After(stmt), subject));
        }
        if exits.thrown {
            self.ascending.push((caller, Seed::Thrown(stmt), subject));
        }
    }

    /// Goes on from a place inside a body; what that reaches there and below is recorded.
    fn enter(&mut self, act: Act, seed: Seed) -> Exits {
        // It is part of a cycle that is run as a whole; any way out counts.
        if self.whole.contains(self.world.components.of(act) as usize) {
            return Exits::ALL;
        }
        let known = self.inside.remove(&act);
        let Some(mut walk) = known.or_else(|| self.barrier.walk(act)) else { return Exits::ALL };
        if walk.go(seed) {
            for (stmt, callee) in self.world.pointsto.calls(act) {
                if walk.reached.contains(stmt.index()) && !walk.called.contains(stmt.index()) {
                    self.descend(callee);
                }
            }
            walk.called = walk.reached.clone();
        }
        let exits = walk.exits;
        self.inside.insert(act, walk);
        exits
    }

    /// Everything reached from the entry of an activation. What is not affected calls nothing that is.
    fn descend(&mut self, act: Act) {
        let mut left = vec![act];
        while let Some(act) = left.pop() {
            if !self.barrier.is_affected(act) {
                self.roots.insert(act);
                self.whole.insert(self.world.components.of(act) as usize);
            } else if self.entered.insert(act.index())
                && let Some(reached) = self.barrier.entered(act)
            {
                let calls = self.world.pointsto.calls(act);
                left.extend(
                    calls.filter(|(stmt, _)| reached.contains(stmt.index())).map(|(_, callee)| callee),
                );
            }
        }
    }
}

/// Does something leave the activation that is thrown on purpose before it has passed one of the kills, which are
/// all in its body?
pub fn throws_past(world: &World<'_>, act: Act, kills: &Kills) -> bool {
    let (Some(flow), Some(throws)) = (world.flow(act), world.throws().of(world.pointsto.method(act))) else {
        return false;
    };
    let stop = |stmt: StmtId| {
        let is_open = !kills.has_stmt(act, stmt);
        let passes = Exits { normal: is_open && !kills.has_return(act, stmt), thrown: is_open };
        Stop { stmt, passes, throws_out: is_open && throws.leaves(stmt), fails: kills.has_return(act, stmt) }
    };
    let mut stmts: Vec<StmtId> = kills.passed().map(|(_, stmt)| stmt).collect();
    let is_call = |stmt: &StmtId| matches!(flow.body.stmts[*stmt].kind, StmtKind::Call { .. });
    stmts.extend(throws.leaving.iter().copied().filter(is_call));
    stmts.sort_unstable();
    stmts.dedup();
    let stops = stmts.into_iter().map(stop).collect();
    let mut walk = Walk::new(flow, Some(throws), stops, kills.edges_of(act), world.never_taken(flow));
    walk.go(Seed::Entry);
    walk.exits.thrown
}

/// Does the activation get this object from its callers?
pub fn gets(world: &World<'_>, act: Act, obj: Obj) -> bool {
    let Some(flow) = world.flow(act) else { return false };
    flow.body.params.iter().any(|&param| world.pointsto.pts(act, param).contains(obj))
}

/// May the callee, if it gets this object from its callers, get it from this call?
pub fn passes_in(world: &World<'_>, caller: Act, stmt: StmtId, callee: Act, obj: Obj) -> bool {
    let (Some(flow), Some(called)) = (world.flow(caller), world.flow(callee)) else { return true };
    let StmtKind::Call { args, .. } = &flow.body.stmts[stmt].kind else { return true };
    args.len() != called.body.params.len()
        || !gets(world, callee, obj)
        || args.iter().any(|&arg| world.pointsto.pts(caller, arg).contains(obj))
}
