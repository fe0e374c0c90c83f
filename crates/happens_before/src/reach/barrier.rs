//! A set of kills, prepared: how control passes every activation that has one in it or below. Knows nothing of
//! the origin that asks, so that it is shared by all.

use super::Kills;
use super::walk::{Exits, Seed, Stop, Walk};
use crate::bits::Bits;
use crate::flow::Flow;
use crate::world::World;
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Kills with their consequences.
#[derive(Debug, Default)]
pub struct Barrier {
    pub kills: Kills,
    /// Activations with a kill in them or below, and how control passes them.
    affected: FxHashMap<Act, Exits>,
    /// What is reached in them from their entry.
    entered: FxHashMap<Act, Arc<Bits>>,
}

impl Barrier {
    /// A call is passed iff one of its callees has an exit that is reachable from its entry without a kill, or
    /// nothing analysed is called. Least solution: walks stop at calls that show no way out yet, and go on when
    /// they do.
    pub fn new(world: &World<'_>, kills: Kills) -> Barrier {
        let mut barrier = Barrier { kills, ..Barrier::default() };
        let acts = barrier.find_affected(world);
        let kills = barrier.kills.clone();
        let mut walks: FxHashMap<Act, Walk<'_>> = FxHashMap::default();
        let mut left: Vec<(Act, Seed)> = acts.into_iter().map(|act| (act, Seed::Entry)).collect();
        while let Some((act, seed)) = left.pop() {
            let exits = match seed {
                Seed::Entry => match world.flow(act) {
                    Some(flow) => {
                        let (throws, stops) =
                            (world.throws().of(world.pointsto.method(act)), barrier.stops(world, act));
                        let mut walk =
                            Walk::new(flow, throws, stops, kills.edges_of(act), world.never_taken(flow));
                        walk.go(seed);
                        let exits = walk.exits;
                        walks.insert(act, walk);
                        exits
                    }
                    None => Exits::ALL,
                },
                Seed::After(stmt) | Seed::Thrown(stmt) => {
                    // A body that was not walked yet will find the way open.
                    let Some(walk) = walks.get_mut(&act) else { continue };
                    walk.set_stop(barrier.stop(world, act, stmt));
                    if walk.reached.contains(stmt.0 as usize) {
                        walk.go_on(seed);
                    }
                    walk.exits
                }
            };
            barrier.open(world, act, exits, &mut left);
        }
        barrier.entered = walks.into_iter().map(|(act, walk)| (act, Arc::new(walk.reached))).collect();
        barrier
    }

    pub fn is_affected(&self, act: Act) -> bool {
        self.affected.contains_key(&act)
    }

    pub fn exits(&self, act: Act) -> Exits {
        self.affected.get(&act).copied().unwrap_or(Exits::ALL)
    }

    /// What is reached in an affected activation from its entry.
    pub fn entered(&self, act: Act) -> Option<&Arc<Bits>> {
        self.entered.get(&act)
    }

    /// A walk through a body that heeds the kills.
    pub fn walk<'a>(&'a self, world: &'a World<'_>, act: Act) -> Option<Walk<'a>> {
        let flow = world.flow(act)?;
        let throws = world.throws().of(world.pointsto.method(act));
        let has_stops = self.is_affected(act) || throws.is_some_and(|throws| !throws.leaving.is_empty());
        let stops = if has_stops { self.stops(world, act) } else { Vec::new() };
        Some(Walk::new(flow, throws, stops, self.kills.edges_of(act), world.never_taken(flow)))
    }

    /// What one execution of a body reaches of it from just after a statement, and whether that is its end.
    pub fn goes(&self, world: &World<'_>, act: Act, from: StmtId) -> Option<(Bits, bool)> {
        let mut walk = self.walk(world, act)?;
        walk.go(Seed::After(from));
        Some((walk.reached, walk.exits.any()))
    }

    /// Callers of kills, transitively.
    fn find_affected(&mut self, world: &World<'_>) -> Vec<Act> {
        let mut found: Vec<Act> = Vec::new();
        for act in self.kills.acts() {
            if self.affected.insert(act, Exits::default()).is_none() {
                found.push(act);
            }
        }
        let mut at = 0;
        while at < found.len() {
            for &(caller, _) in world.pointsto.callers(found[at]) {
                if self.affected.insert(caller, Exits::default()).is_none() {
                    found.push(caller);
                }
            }
            at += 1;
        }
        // The kills themselves last, so that they are walked first.
        found.reverse();
        found
    }

    /// Notes how control passes an activation; its callers go on if that is more than before.
    fn open(&mut self, world: &World<'_>, act: Act, exits: Exits, left: &mut Vec<(Act, Seed)>) {
        let Some(before) = self.affected.insert(act, exits) else { return };
        let normal = exits.normal && !before.normal;
        let thrown = exits.thrown && !before.thrown;
        if !normal && !thrown {
            return;
        }
        for &(caller, stmt) in world.pointsto.callers(act) {
            if !self.kills.has_stmt(caller, stmt) {
                let normal = normal && !self.kills.has_return(caller, stmt);
                left.extend(normal.then_some((caller, Seed::After(stmt))));
                left.extend(thrown.then_some((caller, Seed::Thrown(stmt))));
            }
        }
    }

    /// Statements of an affected body that control may not pass, or not in every way. Sorted.
    fn stops(&self, world: &World<'_>, act: Act) -> Vec<Stop> {
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
            let stop = self.stop(world, act, stmt);
            if stop.passes != Exits::ALL || stop.throws_out {
                stops.push(stop);
            }
        }
        stops.sort_unstable_by_key(|stop| stop.stmt);
        stops
    }

    /// The ways past a call: through any of its callees. An exception leaves the caller only if a callee throws it
    /// on purpose, or declares it, and before it comes to its kills.
    fn stop(&self, world: &World<'_>, act: Act, stmt: StmtId) -> Stop {
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
            match self.affected.get(callee) {
                Some(exits) => {
                    stop.passes.normal |= exits.normal;
                    stop.passes.thrown |= exits.thrown;
                    stop.throws_out |= exits.thrown && (no_handler || leaves);
                }
                None => {
                    stop.passes = Exits::ALL;
                    let method = world.program.method(world.pointsto.method(*callee));
                    let declares = !method.throws.is_empty() && !is_interruptible && no_handler;
                    stop.throws_out |= leaves || throws.is_none() && declares;
                }
            }
        }
        stop.passes.normal &= !fails;
        stop
    }
}
