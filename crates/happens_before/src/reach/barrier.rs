//! A set of kills, prepared: how control passes every activation that has one in it or below, worked out for those
//! that somebody comes to. Knows nothing of the origin that asks, so that it is shared by all.

use super::Kills;
use super::walk::{Exits, Seed, Stop, Walk};
use crate::above::Callers;
use crate::bits::Bits;
use crate::flow::Flow;
use crate::world::World;
use arena::Id;
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;
use track::{Read, Reads, record};

/// Kills with their consequences.
pub struct Barrier<'a, 'w> {
    pub world: &'a World<'w>,
    pub kills: Kills,
    /// Activations with a kill in them or below.
    affected: Callers,
    /// How control passes them, as far as somebody asked.
    passed: RefCell<FxHashMap<Act, Passed>>,
    /// What was read for that and is to be taken, instead of being noted by those who ask first.
    reads: Option<RefCell<Vec<Read>>>,
}

/// What comes of entering an affected activation.
#[derive(Clone)]
struct Passed {
    exits: Exits,
    /// What is reached in it; `None` if it has no body.
    reached: Option<Arc<Bits>>,
}

/// Bodies that are walked together because they call each other.
#[derive(Default)]
struct Open<'a> {
    walks: FxHashMap<Act, Walk<'a>>,
    exits: FxHashMap<Act, Exits>,
    left: Vec<(Act, Seed)>,
}

impl<'a, 'w> Barrier<'a, 'w> {
    pub fn new(world: &'a World<'w>, kills: Kills) -> Barrier<'a, 'w> {
        let affected = world.callers_of(kills.acts());
        Barrier { world, kills, affected, passed: RefCell::default(), reads: None }
    }

    /// One that several ask. If changes will come, what it reads is for them to take together.
    pub fn shared(world: &'a World<'w>, kills: Kills, follows: bool) -> Barrier<'a, 'w> {
        Barrier { reads: follows.then(RefCell::default), ..Barrier::new(world, kills) }
    }

    pub fn take_reads(&self) -> Reads {
        let mut reads = self.reads.as_ref().map(RefCell::take).unwrap_or_default();
        reads.sort_unstable();
        reads.dedup();
        reads.into_boxed_slice()
    }

    /// No kills at all.
    pub fn none(world: &'a World<'w>) -> Barrier<'a, 'w> {
        Barrier::new(world, Kills::default())
    }

    pub fn is_affected(&self, act: Act) -> bool {
        !self.kills.is_empty() && self.affected.contains(act)
    }

    pub fn exits(&self, act: Act) -> Exits {
        if self.is_affected(act) { self.passed(act).exits } else { Exits::ALL }
    }

    /// What is reached in an affected activation from its entry.
    pub fn entered(&self, act: Act) -> Option<Arc<Bits>> {
        if self.is_affected(act) { self.passed(act).reached } else { None }
    }

    /// A walk through a body that heeds the kills.
    pub fn walk(&self, act: Act) -> Option<Walk<'a>> {
        self.walk_where(act, &|callee| self.exits(callee))
    }

    /// One that passes no call with a kill below: reaches no more, and asks nothing of what is called.
    pub fn narrow_walk(&self, act: Act) -> Option<Walk<'a>> {
        let exits = |callee| if self.is_affected(callee) { Exits::default() } else { Exits::ALL };
        self.walk_where(act, &exits)
    }

    fn walk_where(&self, act: Act, exits: &dyn Fn(Act) -> Exits) -> Option<Walk<'a>> {
        let flow = self.world.flow(act)?;
        let throws = self.world.throws().of(self.world.pointsto.method(act));
        let has_stops = self.is_affected(act) || throws.is_some_and(|throws| !throws.leaving.is_empty());
        let stops = if has_stops { self.stops(act, exits) } else { Vec::new() };
        Some(Walk::new(flow, throws, stops, self.kills.edges_of(act), self.world.never_taken(flow)))
    }

    /// What one execution of a body reaches of it from just after a statement, and whether that is its end.
    pub fn goes(&self, act: Act, from: StmtId) -> Option<(Bits, bool)> {
        let mut walk = self.walk(act)?;
        walk.go(Seed::After(from));
        Some((walk.reached, walk.exits.any()))
    }

    fn passed(&self, act: Act) -> Passed {
        if let Some(known) = self.passed.borrow().get(&act) {
            return known.clone();
        }
        let open = match &self.reads {
            Some(all) => {
                let (open, reads) = record(|| self.pass(act));
                all.borrow_mut().extend(reads);
                open
            }
            None => self.pass(act),
        };
        let mut passed = self.passed.borrow_mut();
        let mut walks = open.walks;
        for (act, exits) in open.exits {
            let reached = walks.remove(&act).map(|walk| Arc::new(walk.reached));
            passed.insert(act, Passed { exits, reached });
        }
        passed[&act].clone()
    }

    /// A call is passed iff one of its callees has an exit that is reachable from its entry without a kill, or
    /// nothing analysed is called. Least solution: walks stop at calls that show no way out yet, and go on when
    /// they do. Only what is reached has a say, so only that is walked.
    fn pass(&self, act: Act) -> Open<'a> {
        let world = self.world;
        let mut open = Open { left: vec![(act, Seed::Entry)], ..Open::default() };
        while let Some((act, seed)) = open.left.pop() {
            let exits = match seed {
                Seed::Entry if open.exits.contains_key(&act) => continue,
                Seed::Entry => match world.flow(act) {
                    Some(flow) => {
                        let throws = world.throws().of(world.pointsto.method(act));
                        let stops = self.stops(act, &|callee| self.exits_so_far(&open, callee));
                        let edges = self.kills.edges_of(act);
                        let mut walk = Walk::new(flow, throws, stops, edges, world.never_taken(flow));
                        walk.go(seed);
                        let exits = walk.exits;
                        open.walks.insert(act, walk);
                        exits
                    }
                    None => Exits::ALL,
                },
                Seed::After(stmt) | Seed::Thrown(stmt) => {
                    // A body that was not walked yet will find the way open.
                    if !open.walks.contains_key(&act) {
                        continue;
                    }
                    let stop = self.stop(act, stmt, &|callee| self.exits_so_far(&open, callee));
                    let Some(walk) = open.walks.get_mut(&act) else { continue };
                    walk.set_stop(stop);
                    if walk.reached.contains(stmt.index()) {
                        walk.go_on(seed);
                    }
                    walk.exits
                }
            };
            self.leave(&mut open, act, exits);
            self.call(&mut open, act);
        }
        open
    }

    fn exits_so_far(&self, open: &Open<'_>, act: Act) -> Exits {
        if !self.is_affected(act) {
            return Exits::ALL;
        }
        let known = self.passed.borrow().get(&act).map(|passed| passed.exits);
        known.or_else(|| open.exits.get(&act).copied()).unwrap_or_default()
    }

    /// Affected activations that are called by what is reached are walked as well.
    fn call(&self, open: &mut Open<'_>, act: Act) {
        let Some(walk) = open.walks.get_mut(&act) else { return };
        let passed = self.passed.borrow();
        for (stmt, callee) in self.world.pointsto.calls(act) {
            let is_new = walk.reached.contains(stmt.index()) && !walk.called.contains(stmt.index());
            if is_new
                && self.is_affected(callee)
                && !passed.contains_key(&callee)
                && !open.exits.contains_key(&callee)
            {
                open.left.push((callee, Seed::Entry));
            }
        }
        walk.called = walk.reached.clone();
    }

    /// Notes how control passes an activation; its callers go on if that is more than before.
    fn leave(&self, open: &mut Open<'_>, act: Act, exits: Exits) {
        let before = open.exits.insert(act, exits).unwrap_or_default();
        let normal = exits.normal && !before.normal;
        let thrown = exits.thrown && !before.thrown;
        if !normal && !thrown {
            return;
        }
        for &(caller, stmt) in self.world.pointsto.callers(act) {
            if !self.kills.has_stmt(caller, stmt) && open.walks.contains_key(&caller) {
                let normal = normal && !self.kills.has_return(caller, stmt);
                open.left.extend(normal.then_some((caller, Seed::After(stmt))));
                open.left.extend(thrown.then_some((caller, Seed::Thrown(stmt))));
            }
        }
    }

    /// Statements of an affected body that control may not pass, or not in every way. Sorted.
    fn stops(&self, act: Act, exits: &dyn Fn(Act) -> Exits) -> Vec<Stop> {
        let world = self.world;
        let closed = |stmt: StmtId| Stop { stmt, passes: Exits::default(), throws_out: false, fails: false };
        let mut stops: Vec<Stop> = self.kills.stmts_of(act).iter().map(|&(_, stmt)| closed(stmt)).collect();
        let killed = stops.len();
        let mut last = None;
        // What a model alone describes calls nobody.
        let calls_nobody = |stmt: &StmtId| world.pointsto.callees(act, *stmt).is_empty();
        let modelled = self.kills.returns_of(act).iter().map(|&(_, stmt)| stmt).filter(calls_nobody);
        for stmt in world.pointsto.calls(act).map(|(stmt, _)| stmt).chain(modelled) {
            if last.replace(stmt) == Some(stmt) || stops[..killed].iter().any(|kill| kill.stmt == stmt) {
                continue;
            }
            let stop = self.stop(act, stmt, exits);
            if stop.passes != Exits::ALL || stop.throws_out {
                stops.push(stop);
            }
        }
        stops.sort_unstable_by_key(|stop| stop.stmt);
        stops
    }

    /// The ways past a call: through any of its callees. An exception leaves the caller only if a callee throws it
    /// on purpose, or declares it, and before it comes to its kills.
    fn stop(&self, act: Act, stmt: StmtId, exits: &dyn Fn(Act) -> Exits) -> Stop {
        let world = self.world;
        let fails = self.kills.has_return(act, stmt);
        let mut stop = Stop { stmt, passes: Exits::default(), throws_out: false, fails };
        let throws = world.throws().of(world.pointsto.method(act));
        let leaves = throws.is_some_and(|throws| throws.leaves(stmt));
        let flow = world.flow(act);
        let block = |flow: &Flow| flow.body.stmts[stmt].block;
        let no_handler = flow.is_none_or(|flow| flow.body.blocks[block(flow)].handlers.is_empty());
        let is_interruptible = flow.is_some_and(|flow| flow.is_interruptible(stmt));
        let callees = world.pointsto.callees(act, stmt);
        if callees.is_empty() {
            stop.passes = Exits::ALL;
            stop.throws_out = leaves;
        }
        for callee in callees {
            if self.is_affected(*callee) {
                let exits = exits(*callee);
                stop.passes.normal |= exits.normal;
                stop.passes.thrown |= exits.thrown;
                stop.throws_out |= exits.thrown && (no_handler || leaves);
            } else {
                stop.passes = Exits::ALL;
                let method = world.program.method(world.pointsto.method(*callee));
                let declares = !method.throws.is_empty() && !is_interruptible && no_handler;
                stop.throws_out |= leaves || throws.is_none() && declares;
            }
        }
        stop.passes.normal &= !fails;
        stop
    }
}
