//! Objects nobody else can know yet: allocated here (or handed over) and not published. Knows what methods
//! let escape and what their callers own; knows no origin.

mod leaks;
mod look;
mod places;

use crate::bits::Bits;
use crate::confined::Confined;
use crate::flow::{Flow, after};
use crate::owners::Owners;
use crate::types::Freshness;
use crate::world::World;
use arena::{Id, IdSet, IndexVec};
use ir::{StmtId, StmtKind, Var};
use leaks::Leaks;
use look::{Heap, Look, Move, Value};
use places::Places;
use pointsto::Act;
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Which variables are fresh where, for every activation of application code.
#[derive(Debug, Default)]
pub struct Fresh {
    acts: IndexVec<Act, Option<ActFresh>>,
    /// Variables that hold nothing but objects of one thread.
    confined: FxHashSet<(Act, Var)>,
}

/// The fresh values of one activation.
#[derive(Debug, Default)]
struct ActFresh {
    look: Look,
    /// By root: not fresh after all.
    lost: Vec<bool>,
    /// By root: statements before which it is published.
    published: Vec<Bits>,
    /// The same for phis in loops, sorted: what one round publishes is not what the next one chooses.
    published_phis: Vec<(Var, Bits)>,
    /// By root: statements before which it, or what it holds, is published.
    published_parts: Vec<Bits>,
}

impl Fresh {
    pub fn new(world: &World<'_>, entries: &IdSet<Act>, owners: &Owners, confined: &Confined) -> Fresh {
        let heap = Heap::new(world, owners, entries);
        let mut looks = Leaks::look_at_all(world, &heap);
        let mut fresh = Fresh { acts: IndexVec::new(), confined: confined.variables(world) };
        for act in world.pointsto.acts() {
            let look = looks[act].take().zip(world.flow(act));
            *fresh.acts.at(act) = look.map(|(look, flow)| ActFresh::new(look, flow));
        }
        fresh.disown(world, entries);
        fresh.hand_on(world);
        fresh
    }

    /// Is the object in `base` unknown to others when the statement runs?
    pub fn of(&self, act: Act, stmt: StmtId, base: Var) -> Freshness {
        match self.acts.get(act) {
            Some(Some(_)) if self.confined.contains(&(act, base)) => Freshness::Unpublished,
            Some(Some(act)) => act.of(stmt, base),
            _ => Freshness::No,
        }
    }

    /// A parameter is owned iff every caller's argument is fresh at the call. Greatest solution: begins with
    /// all owned, takes away until nothing changes.
    fn disown(&mut self, world: &World<'_>, entries: &IdSet<Act>) {
        let in_order = |act: Act| (Reverse(world.components.place(act)), act);
        let known = self.acts.iter().filter(|(_, fresh)| fresh.is_some());
        let mut left: BTreeSet<(Reverse<(u32, u32)>, Act)> = known.map(|(act, _)| in_order(act)).collect();
        while let Some((_, act)) = left.pop_first() {
            let lost = self.lost_params(world, entries, act);
            if lost.is_empty() {
                continue;
            }
            if let (Some(fresh), Some(flow)) = (&mut self.acts[act], world.flow(act)) {
                fresh.lose(flow, &lost);
            }
            let callees = world.pointsto.calls(act).map(|(_, callee)| callee);
            left.extend(callees.filter(|&callee| self.acts[callee].is_some()).map(in_order));
        }
    }

    /// Parameters, as roots, that some caller does not own and that still count as owned.
    fn lost_params(&self, world: &World<'_>, entries: &IdSet<Act>, act: Act) -> Vec<usize> {
        let Some(fresh) = &self.acts[act] else { return Vec::new() };
        let roots = fresh.look.roots.iter().enumerate();
        let params = roots.filter_map(|(root, info)| Some((root, info.param?)));
        let mut owned: Vec<(usize, usize)> = params.filter(|&(root, _)| !fresh.lost[root]).collect();
        let callers = world.pointsto.callers(act);
        if entries.contains(act) || callers.is_empty() {
            return owned.into_iter().map(|(root, _)| root).collect();
        }
        let mut lost = Vec::new();
        for &(caller, stmt) in callers {
            if owned.is_empty() {
                break;
            }
            let passed = self.passed(world, caller, stmt, act);
            owned.retain(|&(root, param)| {
                let passed = passed.iter().filter(|&&(to, _)| to == param).map(|&(_, fresh)| fresh);
                let is_fresh = passed.min().is_some_and(|fresh| fresh != Freshness::No);
                if !is_fresh {
                    lost.push(root);
                }
                is_fresh
            });
        }
        lost
    }

    /// A parameter is what was handed over if some caller's argument is. Least solution.
    fn hand_on(&mut self, world: &World<'_>) {
        let has_taken = |fresh: &ActFresh| fresh.look.roots.iter().any(|root| root.kind == Freshness::Taken);
        let takers = self.acts.iter().filter(|(_, fresh)| fresh.as_ref().is_some_and(has_taken));
        let mut left: BTreeSet<Act> = takers.map(|(act, _)| act).collect();
        while let Some(act) = left.pop_first() {
            for (stmt, callee) in world.pointsto.calls(act) {
                let passed = self.passed(world, act, stmt, callee).into_iter();
                let is_taken = |&(_, fresh): &(usize, Freshness)| fresh == Freshness::Taken;
                let taken: Vec<usize> = passed.filter(is_taken).map(|(param, _)| param).collect();
                for root in self.acts[callee].iter_mut().flat_map(|fresh| &mut fresh.look.roots) {
                    if root.kind != Freshness::Taken && root.param.is_some_and(|param| taken.contains(&param))
                    {
                        root.kind = Freshness::Taken;
                        left.insert(callee);
                    }
                }
            }
        }
    }

    /// What a call passes for the parameters of the callee.
    fn passed(&self, world: &World<'_>, caller: Act, stmt: StmtId, callee: Act) -> Vec<(usize, Freshness)> {
        let fresh = |var: Var| self.of(caller, stmt, var);
        let (Some(flow), true) = (world.flow(caller), world.bindings_are_plain(caller, stmt, callee)) else {
            let bindings = world.bindings(caller, stmt, callee).into_iter();
            return bindings
                .map(|binding| match binding.capture {
                    Some(_) => (binding.param, Freshness::No),
                    None => (binding.param, fresh(binding.var)),
                })
                .collect();
        };
        let StmtKind::Call { args, .. } = &flow.body.stmts[stmt].kind else { return Vec::new() };
        args.iter().enumerate().map(|(param, &arg)| (param, fresh(arg))).collect()
    }
}

impl ActFresh {
    fn new(look: Look, flow: &Flow) -> ActFresh {
        let lost = vec![false; look.roots.len()];
        let mut fresh = ActFresh { look, lost, ..ActFresh::default() };
        fresh.find_published(flow);
        fresh
    }

    fn of(&self, stmt: StmtId, base: Var) -> Freshness {
        let value = self.look.value(base);
        let holders = match value {
            Value { only: true, .. } => &[][..],
            Value { part: true, .. } => self.look.holders_of(value),
            _ => return Freshness::No,
        };
        let all = self.look.roots_of(value).iter().chain(holders).map(|&root| root as usize);
        let is_told = |&root: &u32| is_among(&self.published_parts, root, stmt);
        if all.clone().any(|root| self.lost[root])
            || self.is_published(value, stmt)
            || holders.iter().any(is_told)
        {
            return Freshness::No;
        }
        all.map(|root| self.look.roots[root].kind).max().unwrap_or(Freshness::No)
    }

    fn is_published(&self, value: Value, stmt: StmtId) -> bool {
        let phis = &self.published_phis;
        let phi = value.phi.and_then(|phi| phis.binary_search_by_key(&phi, |&(phi, _)| phi).ok());
        match phi {
            Some(at) => phis[at].1.contains(stmt.index()),
            None => self.look.roots_of(value).iter().any(|&root| is_among(&self.published, root, stmt)),
        }
    }

    fn lose(&mut self, flow: &Flow, roots: &[usize]) {
        for &root in roots {
            self.lost[root] = true;
        }
        // What was kept in a lost parameter is published by that now.
        let is_holder = |moved: &Move| match *moved {
            Move::Keep { holder, .. } | Move::KeepContents { holder, .. } => {
                roots.contains(&(holder as usize))
            }
            Move::Publish(_) | Move::PublishContents(_) => false,
        };
        if self.look.moves.iter().any(|(_, moved)| is_holder(moved)) {
            self.find_published(flow);
        }
    }

    /// Statements reachable from one that publishes the value, without passing the one that makes it.
    fn find_published(&mut self, flow: &Flow) {
        if self.look.moves.is_empty() {
            return;
        }
        let places = Places::new(&self.look, |holder, loaded| !loaded && !self.lost[holder as usize]);
        let reached = |by: &[Bits]| -> Vec<Bits> {
            let roots = self.look.roots.iter().zip(by);
            roots
                .map(|(root, stmts)| after(flow, stmts.iter().map(StmtId::new), flow.body.vars[root.var].def))
                .collect()
        };
        let (published, mut parts) = (reached(&places.events), reached(&places.contents));
        parts.iter_mut().zip(&published).for_each(|(parts, whole)| parts.union_with(whole));
        (self.published, self.published_parts) = (published, parts);
        self.find_published_phis(flow, &places.events);
    }

    /// A phi is published by what publishes one of its values before it chooses again, and where it chooses a
    /// value that is published already.
    fn find_published_phis(&mut self, flow: &Flow, events: &[Bits]) {
        self.published_phis.clear();
        let mut unsettled = Vec::new();
        for (stmt, info) in flow.body.stmts.iter() {
            let StmtKind::Phi { dst, .. } = info.kind else { continue };
            let value = self.look.value(dst);
            let mut roots = self.look.roots_of(value).iter().map(|&root| root as usize);
            if !value.only || !flow.in_loop(stmt) || !roots.clone().any(|root| !events[root].is_empty()) {
                continue;
            }
            let stmts: BTreeSet<StmtId> =
                roots.by_ref().flat_map(|root| events[root].iter()).map(StmtId::new).collect();
            self.published_phis.push((dst, after(flow, stmts, Some(stmt))));
            unsettled.push((dst, stmt));
        }
        self.published_phis.sort_unstable_by_key(|&(phi, _)| phi);
        loop {
            let (chosen, other) =
                unsettled.iter().partition(|&&(_, stmt)| self.chooses_published(flow, events, stmt));
            let chosen: Vec<(Var, StmtId)> = chosen;
            unsettled = other;
            if chosen.is_empty() {
                break;
            }
            for (phi, stmt) in chosen {
                let from = after(flow, [stmt], Some(stmt));
                let known = self.published_phis.iter_mut().find(|(known, _)| *known == phi);
                known.into_iter().for_each(|(_, published)| published.union_with(&from));
            }
        }
    }

    fn chooses_published(&self, flow: &Flow, events: &[Bits], phi: StmtId) -> bool {
        let StmtKind::Phi { srcs, .. } = &flow.body.stmts[phi].kind else { return false };
        let block = &flow.body.blocks[flow.body.stmts[phi].block];
        srcs.iter().enumerate().any(|(at, &src)| {
            let value = self.look.value(src);
            let roots = self.look.roots_of(value).iter().map(|&root| root as usize);
            let Some(from) = block.preds.get(at).map(|&pred| &flow.body.blocks[pred]) else { return true };
            let Some(last) = (from.first..from.end).next_back() else {
                return roots.clone().any(|root| !events[root].is_empty());
            };
            // What a handler sees is what the block began with.
            let seen = if from.handlers.is_empty() { last } else { from.first };
            (seen..=last).any(|stmt| self.is_published(value, StmtId(stmt)))
                || roots.clone().any(|root| events[root].contains(last as usize))
        })
    }
}

fn is_among(published: &[Bits], root: u32, stmt: StmtId) -> bool {
    published.get(root as usize).is_some_and(|stmts| stmts.contains(stmt.index()))
}
