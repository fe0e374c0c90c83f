//! Objects nobody else can know yet: allocated here (or handed over) and not published. Knows what methods
//! let escape and what their callers own; knows no origin.

mod leaks;
mod look;
mod looks;
mod places;

use crate::bits::Bits;
use crate::confined::Confined;
use crate::flow::{Flow, after};
use crate::origins::Origins;
use crate::owners::Owners;
use crate::types::Freshness;
use crate::world::World;
use arena::{Id, IndexVec};
use ir::{StmtId, StmtKind, Var};
use look::{Heap, Look, Move, Value, received};
use looks::Looks;
use places::Places;
use pointsto::{Act, Obj};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, Single, note};

/// Which variables are fresh where, for every activation of application code.
pub struct Fresh {
    looks: Looks,
    acts: IndexVec<Act, Option<ActFresh>>,
    /// By component of the call graph, for what was read.
    components: Memo<Act, ()>,
    /// What origins are given.
    received: Single<FxHashSet<Obj>>,
    /// Variables that hold nothing but objects of one thread.
    confined: FxHashSet<(Act, Var)>,
    follows: bool,
}

/// The fresh values of one activation.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct ActFresh {
    look: Arc<Look>,
    /// By root: not fresh after all.
    lost: Vec<bool>,
    /// By root: handed over to here.
    taken: Vec<bool>,
    /// By root: statements before which it is published.
    published: Vec<Bits>,
    /// The same for phis in loops, sorted: what one round publishes is not what the next one chooses.
    published_phis: Vec<(Var, Bits)>,
    /// By root: statements before which it, or what it holds, is published.
    published_parts: Vec<Bits>,
}

impl Default for Fresh {
    fn default() -> Fresh {
        Fresh::new(false)
    }
}

impl Fresh {
    pub fn new(follows: bool) -> Fresh {
        Fresh {
            looks: Looks::new(follows),
            acts: IndexVec::new(),
            components: Memo::new(Kind::Other, follows),
            received: Single::default(),
            confined: FxHashSet::default(),
            follows,
        }
    }

    pub fn update(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        owners: &Owners,
        confined: &Confined,
        changes: &mut Changes,
    ) {
        if let Some(before) =
            self.received.update(self.follows, changes, || received(world, origins.entries()))
        {
            for &obj in before.symmetric_difference(&self.received.value) {
                changes.add(Read::of(Kind::Received, obj));
            }
        }
        self.looks.update(world, Heap { owners, received: &self.received.value }, changes);
        let before = std::mem::replace(&mut self.confined, confined.variables(world));
        for &(act, _) in before.symmetric_difference(&self.confined) {
            changes.add(Read::of(Kind::Fresh, act));
        }
        self.own(world, origins, changes);
    }

    /// Is the object in `base` unknown to others when the statement runs?
    pub fn of(&self, act: Act, stmt: StmtId, base: Var) -> Freshness {
        note(Read::of(Kind::Fresh, act));
        match self.acts.get(act) {
            Some(Some(_)) if self.confined.contains(&(act, base)) => Freshness::Unpublished,
            Some(Some(act)) => act.of(stmt, base),
            _ => Freshness::No,
        }
    }

    /// What callers own and hand on; callers first, and what is as before is not followed.
    fn own(&mut self, world: &World<'_>, origins: &Origins, changes: &mut Changes) {
        let components = world.components;
        let in_order = |component: u32| (components.label(component), component);
        let mut left: BTreeSet<(u32, u32)> = BTreeSet::new();
        if changes.everything {
            self.acts = IndexVec::new();
            self.components.clear();
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
        while let Some((_, component)) = left.pop_last() {
            let members = components.members(component);
            if members.iter().all(|&act| world.is_jdk(act)) {
                continue;
            }
            let before: Vec<Option<ActFresh>> = members.iter().map(|&act| self.acts.at(act).take()).collect();
            let mut memo = std::mem::replace(&mut self.components, Memo::new(Kind::Other, self.follows));
            let (_, reads) = memo.record(|| self.own_component(world, origins, component));
            memo.set(Act(component), Some(()), reads);
            self.components = memo;
            for (&act, before) in members.iter().zip(&before) {
                if self.acts[act] != *before {
                    changes.add(Read::of(Kind::Fresh, act));
                    let callees = world.pointsto.calls(act).map(|(_, callee)| components.of(callee));
                    left.extend(callees.filter(|&callee| callee != component).map(in_order));
                }
            }
        }
    }

    /// A parameter is owned iff every caller's argument is fresh at the call: greatest solution, begins with all owned
    /// and takes away until nothing changes. It is what was handed over if some caller's argument is: least solution.
    fn own_component(&mut self, world: &World<'_>, origins: &Origins, component: u32) {
        let members = world.components.members(component);
        for &act in members {
            let look = self.looks.of(act).cloned().zip(world.flow(act));
            *self.acts.at(act) = look.map(|(look, flow)| ActFresh::new(look, flow));
        }
        let is_cycle = world.components.is_cycle(component);
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for &act in members {
                let lost = self.lost_params(world, origins, act);
                if let (Some(fresh), Some(flow), false) =
                    (&mut self.acts[act], world.flow(act), lost.is_empty())
                {
                    fresh.lose(flow, &lost);
                    grown = is_cycle;
                }
            }
        }
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for &act in members {
                for root in self.taken_params(world, act) {
                    if let Some(fresh) = &mut self.acts[act] {
                        fresh.taken[root] = true;
                        grown = is_cycle;
                    }
                }
            }
        }
    }

    /// Parameters, as roots, that some caller does not own and that still count as owned.
    fn lost_params(&self, world: &World<'_>, origins: &Origins, act: Act) -> Vec<usize> {
        let Some(fresh) = &self.acts[act] else { return Vec::new() };
        let mut owned: Vec<(usize, usize)> = fresh.params().filter(|&(root, _)| !fresh.lost[root]).collect();
        if owned.is_empty() {
            return Vec::new();
        }
        let callers = world.pointsto.callers(act);
        if origins.is_entry(act) || callers.is_empty() {
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

    /// Parameters, as roots, that some caller was handed over and that do not count as such yet.
    fn taken_params(&self, world: &World<'_>, act: Act) -> Vec<usize> {
        let Some(fresh) = &self.acts[act] else { return Vec::new() };
        let open: Vec<(usize, usize)> = fresh.params().filter(|&(root, _)| !fresh.taken[root]).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let mut taken = BTreeSet::new();
        for &(caller, stmt) in world.pointsto.callers(act) {
            if !self.has_taken(caller) {
                continue;
            }
            let passed = self.passed(world, caller, stmt, act).into_iter();
            taken.extend(passed.filter(|&(_, fresh)| fresh == Freshness::Taken).map(|(param, _)| param));
        }
        open.into_iter().filter(|(_, param)| taken.contains(param)).map(|(root, _)| root).collect()
    }

    fn has_taken(&self, act: Act) -> bool {
        note(Read::of(Kind::Fresh, act));
        let fresh = self.acts.get(act).and_then(Option::as_ref);
        fresh.is_some_and(|fresh| fresh.taken.contains(&true))
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
    fn new(look: Arc<Look>, flow: &Flow) -> ActFresh {
        let lost = vec![false; look.roots.len()];
        let taken = look.roots.iter().map(|root| root.kind == Freshness::Taken).collect();
        let mut fresh = ActFresh { look, lost, taken, ..ActFresh::default() };
        fresh.find_published(flow);
        fresh
    }

    /// Roots that are parameters, with their positions.
    fn params(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.look.roots.iter().enumerate().filter_map(|(root, info)| Some((root, info.param?)))
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
        let kind = |root: usize| if self.taken[root] { Freshness::Taken } else { self.look.roots[root].kind };
        all.map(kind).max().unwrap_or(Freshness::No)
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
