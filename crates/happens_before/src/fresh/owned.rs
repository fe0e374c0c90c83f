//! Which parameters are the callee's own: what every caller has fresh when it passes it. From callers to callees; inside
//! a cycle only what follows from what was known before counts, so that nothing holds because of itself.

use super::Fresh;
use super::act::ActFresh;
use crate::origins::Origins;
use crate::types::Freshness;
use crate::world::World;
use ir::{StmtId, StmtKind, Var};
use pointsto::Act;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Read, note};

/// One call of an activation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    caller: Act,
    stmt: StmtId,
    /// Parameters, with the caller's variables; `None` where it passes something else.
    passed: Vec<(usize, Option<Var>)>,
    /// A constructor that the call runs on an object allocated for it: `map.computeIfAbsent(name, Item::new)`.
    is_made: bool,
}

impl Fresh {
    /// How activations are called.
    pub(super) fn arrive(&mut self, world: &World<'_>, changes: &mut Changes) {
        let mut acts: BTreeSet<Act> = BTreeSet::new();
        if changes.everything {
            self.arrivals.clear();
            acts.extend(world.pointsto.acts());
        } else {
            acts.extend(self.arrivals.stale(changes));
            acts.extend(changes.of::<Act>(Kind::Runs));
        }
        let acts: Vec<Act> = acts.into_iter().filter(|&act| !world.is_jdk(act)).collect();
        self.arrivals.update(&acts, changes, |act| arrivals(world, act));
    }

    /// Callers first; who owns the same as before is not followed.
    pub(super) fn own(&mut self, world: &World<'_>, origins: &Origins, changes: &mut Changes) {
        let components = world.components;
        let mut stale: BTreeSet<Act> = BTreeSet::new();
        if changes.everything {
            self.acts = Default::default();
            self.owned.clear();
            self.takers.clear();
            stale.extend(world.pointsto.acts().filter(|&act| !world.is_jdk(act)));
        } else {
            stale.extend(self.owned.stale(changes));
            stale.extend(changes.of::<Act>(Kind::Runs).filter(|&act| !world.is_jdk(act)));
            stale.extend(changes.of::<Act>(Kind::ComponentOf).filter(|&act| !world.is_jdk(act)));
        }
        for act in stale.iter().copied().filter(|&act| !world.pointsto.runs(act)).collect::<Vec<_>>() {
            stale.remove(&act);
            self.owned.remove(act);
            self.takers.remove(&act);
            if self.acts.at(act).take().is_some() {
                changes.add(Read::of(Kind::Fresh, act));
            }
        }
        let mut moved: BTreeMap<u32, Vec<Act>> = BTreeMap::new();
        for act in changes.of::<Act>(Kind::ComponentOf).filter(|act| stale.contains(act)) {
            moved.entry(components.of(act)).or_default().push(act);
        }
        let in_order = |act: Act| (components.label(components.of(act)), act);
        let mut left: BTreeSet<(u32, Act)> = stale.into_iter().map(in_order).collect();
        while let Some(&(label, act)) = left.last() {
            let group: BTreeSet<Act> =
                left.split_off(&(label, Act(0))).into_iter().map(|(_, act)| act).collect();
            let component = components.of(act);
            let differing = match components.is_cycle(component) {
                true => {
                    let moved = moved.get(&component).map_or(&[][..], Vec::as_slice);
                    self.own_cycle(world, origins, component, group, moved)
                }
                false => self.own_one(world, origins, act),
            };
            for act in differing {
                changes.add(Read::of(Kind::Fresh, act));
                let callees = world.pointsto.calls(act).map(|(_, callee)| callee);
                let below =
                    callees.filter(|&callee| !world.is_jdk(callee) && components.of(callee) != component);
                left.extend(below.map(in_order));
            }
        }
    }

    /// An activation that is in no cycle.
    fn own_one(&mut self, world: &World<'_>, origins: &Origins, act: Act) -> Vec<Act> {
        let before = self.acts.at(act).take();
        let ((), reads) = self.record(|fresh| {
            fresh.begin(world, act);
            fresh.lose_params(world, origins, act);
            fresh.take_params(act);
        });
        self.follow_taker(act);
        self.owned.set(act, Some(()), reads);
        self.differs(act, before.as_ref()).then_some(act).into_iter().collect()
    }

    fn differs(&self, act: Act, before: Option<&ActFresh>) -> bool {
        match (before, self.at(act)) {
            (Some(before), Some(now)) => !now.is_same(before),
            (before, now) => before.is_some() != now.is_some(),
        }
    }

    fn record<T>(&mut self, work: impl FnOnce(&mut Fresh) -> T) -> (T, track::Reads) {
        if self.follows { track::record(|| work(self)) } else { (work(self), track::Reads::default()) }
    }

    /// Members that own something else than before. `moved`: those that have come into the cycle.
    fn own_cycle(
        &mut self,
        world: &World<'_>,
        origins: &Origins,
        component: u32,
        stale: BTreeSet<Act>,
        moved: &[Act],
    ) -> Vec<Act> {
        let components = world.components;
        let mut before: Vec<(Act, Option<ActFresh>)> = Vec::new();
        let mut remembered: BTreeSet<Act> = BTreeSet::new();
        for &act in &stale {
            remembered.insert(act);
            let known = self.acts.at(act).take();
            let mut known_losses = Vec::new();
            let ((), reads) = self.record(|fresh| {
                fresh.begin(world, act);
                // The moments are those of before, as far as the parameters are the same.
                if let (Some(known), Some(now)) = (&known, fresh.at(act)) {
                    let same = |root: usize| {
                        known.look.roots.get(root).and_then(|root| root.param) == now.look.roots[root].param
                    };
                    known_losses = known
                        .losses()
                        .filter(|&(root, _)| root < now.look.roots.len() && same(root))
                        .collect();
                }
                fresh.arrivals_of(origins, act);
            });
            self.follow_taker(act);
            self.owned.set(act, Some(()), reads);
            if let (Some(fresh), Some(flow)) = (&mut self.acts[act], world.flow(act)) {
                for (root, moment) in known_losses {
                    fresh.lose(flow, &[root], moment);
                }
            }
            before.push((act, known));
        }
        let inside = |act: Act| components.of(act) == component && !world.is_jdk(act);
        let calls =
            |act: Act| world.pointsto.calls(act).map(|(_, callee)| callee).filter(move |&act| inside(act));
        let mut touched = stale;
        // What was lost for what was lost outside, whenever that was, has to come after it now.
        touched.extend(moved.iter().flat_map(|&act| calls(act)));
        for (act, before) in &before {
            if self.differs(*act, before.as_ref()) {
                touched.extend(calls(*act));
            }
        }
        // What is lost only because it was said to be is regained first.
        let mut left = touched.clone();
        while let Some(act) = left.pop_first() {
            let regained = self.regained(world, origins, component, act);
            if regained.is_empty() {
                continue;
            }
            if remembered.insert(act) {
                before.push((act, self.acts[act].clone()));
            }
            if let (Some(fresh), Some(flow)) = (&mut self.acts[act], world.flow(act)) {
                fresh.regain(flow, &regained);
            }
            touched.insert(act);
            let callees =
                world.pointsto.calls(act).map(|(_, callee)| callee).filter(|&callee| inside(callee));
            for callee in callees {
                left.insert(callee);
                touched.insert(callee);
            }
        }
        while let Some(act) = touched.pop_first() {
            let known = self.acts[act].clone().filter(|_| !remembered.contains(&act));
            if self.lose_params(world, origins, act) {
                if remembered.insert(act) {
                    before.push((act, known));
                }
                touched.extend(
                    world.pointsto.calls(act).map(|(_, callee)| callee).filter(|&callee| inside(callee)),
                );
            }
        }
        self.take_in_cycle(world, component, &mut before, &mut remembered);
        before.retain(|(act, before)| self.differs(*act, before.as_ref()));
        before.into_iter().map(|(act, _)| act).collect()
    }

    /// Everything that is found out about an activation as if its callers owned all they pass.
    fn begin(&mut self, world: &World<'_>, act: Act) {
        let look = self.looks.of(act).cloned().zip(world.flow(act));
        *self.acts.at(act) = look.map(|(look, flow)| ActFresh::new(look, flow));
    }

    /// Notes what the ownership of the parameters depends on.
    fn arrivals_of(&self, origins: &Origins, act: Act) {
        origins.is_entry(act);
        for arrival in self.arrivals.get(act).into_iter().flatten() {
            note(Read::of(Kind::Fresh, arrival.caller));
        }
    }

    /// What is passed at a call, as far as it is known before a moment what the caller has lost.
    fn passes(&self, arrival: &Arrival, of: Option<&ActFresh>, param: usize) -> Freshness {
        let passed = arrival.passed.iter().filter(|&&(to, _)| to == param);
        let fresh = |var: Option<Var>| match (var, of) {
            (Some(var), _) if self.confined.contains(arrival.caller, var) && of.is_some() => {
                Freshness::Unpublished
            }
            (Some(var), Some(of)) if !of.goes_along(arrival.stmt, var) => of.of(arrival.stmt, var),
            _ => Freshness::No,
        };
        if arrival.is_made && param == 0 {
            return Freshness::Unpublished;
        }
        passed.map(|&(_, var)| fresh(var)).min().unwrap_or(Freshness::No)
    }

    /// True if a parameter is lost that was not.
    fn lose_params(&mut self, world: &World<'_>, origins: &Origins, act: Act) -> bool {
        self.arrivals_of(origins, act);
        let Some(fresh) = self.at(act) else { return false };
        let owned: Vec<(usize, usize)> = fresh.params().filter(|&(root, _)| !fresh.is_lost(root)).collect();
        let arrivals = self.arrivals.get(act).map_or(&[][..], Vec::as_slice);
        let is_open = origins.is_entry(act) || arrivals.is_empty();
        let is_lost = |&(_, param): &(usize, usize)| {
            is_open
                || arrivals
                    .iter()
                    .any(|arrival| self.passes(arrival, self.at(arrival.caller), param) == Freshness::No)
        };
        let lost: Vec<usize> = owned.into_iter().filter(is_lost).map(|(root, _)| root).collect();
        self.clock += 1;
        let moment = self.clock;
        if let (Some(fresh), Some(flow), false) = (&mut self.acts[act], world.flow(act), lost.is_empty()) {
            fresh.lose(flow, &lost, moment);
            return true;
        }
        false
    }

    /// Lost parameters that callers would own but for what follows from the loss itself.
    fn regained(&self, world: &World<'_>, origins: &Origins, component: u32, act: Act) -> Vec<usize> {
        let Some(fresh) = self.at(act) else { return Vec::new() };
        let arrivals = self.arrivals.peek(act).map_or(&[][..], Vec::as_slice);
        if origins.is_entry(act) || arrivals.is_empty() {
            return Vec::new();
        }
        let is_lost = |param: usize, moment: u32| {
            arrivals.iter().any(|arrival| {
                let caller = self.at(arrival.caller);
                if self.passes(arrival, caller, param) != Freshness::No {
                    return false;
                }
                let is_inside = world.components.of(arrival.caller) == component;
                let is_later = |caller: &ActFresh| caller.losses().any(|(_, at)| at >= moment);
                match (caller.filter(|caller| is_inside && is_later(caller)), world.flow(arrival.caller)) {
                    (Some(caller), Some(flow)) => {
                        let before = caller.before(flow, moment);
                        self.passes(arrival, Some(&before), param) == Freshness::No
                    }
                    _ => true,
                }
            })
        };
        let losses = fresh.losses();
        let of_params =
            losses.filter_map(|(root, moment)| Some((root, fresh.look.roots[root].param?, moment)));
        of_params.filter(|&(_, param, moment)| !is_lost(param, moment)).map(|(root, ..)| root).collect()
    }

    /// True if a parameter is what was handed over that was not.
    fn take_params(&mut self, act: Act) -> bool {
        let Some(fresh) = self.at(act) else { return false };
        let arrivals = self.arrivals.peek(act).map_or(&[][..], Vec::as_slice);
        let mut giving = arrivals
            .iter()
            .filter(|arrival| self.at(arrival.caller).is_some_and(|caller| caller.taken.contains(&true)))
            .peekable();
        if giving.peek().is_none() {
            return false;
        }
        let giving: Vec<&Arrival> = giving.collect();
        let is_taken = |&(root, param): &(usize, usize)| {
            !fresh.taken[root]
                && giving.iter().any(|arrival| {
                    let fresh = |var: Var| self.of(arrival.caller, arrival.stmt, var);
                    let passed = arrival.passed.iter().filter(|&&(to, _)| to == param);
                    passed.filter_map(|&(_, var)| var).any(|var| fresh(var) == Freshness::Taken)
                })
        };
        let taken: Vec<usize> = fresh.params().filter(is_taken).map(|(root, _)| root).collect();
        if let Some(fresh) = &mut self.acts[act] {
            taken.iter().for_each(|&root| fresh.taken[root] = true);
        }
        !taken.is_empty()
    }

    /// Little is handed over, so that a cycle is gone through as a whole.
    fn take_in_cycle(
        &mut self,
        world: &World<'_>,
        component: u32,
        before: &mut Vec<(Act, Option<ActFresh>)>,
        remembered: &mut BTreeSet<Act>,
    ) {
        let is_inside = |act: Act| world.components.of(act) == component;
        let gets_in =
            |&act: &Act| is_inside(act) || world.pointsto.calls(act).any(|(_, callee)| is_inside(callee));
        if !self.takers.iter().any(gets_in) {
            return;
        }
        let members = world.components.members(component);
        let members: Vec<Act> = members.iter().copied().filter(|&act| !world.is_jdk(act)).collect();
        for &act in &members {
            let Some(fresh) = &mut self.acts[act] else { continue };
            if remembered.insert(act) {
                before.push((act, Some(fresh.clone())));
            }
            fresh.taken = fresh.look.roots.iter().map(|root| root.kind == Freshness::Taken).collect();
        }
        let mut grown = true;
        while std::mem::take(&mut grown) {
            for &act in &members {
                grown |= self.take_params(act);
            }
        }
        members.into_iter().for_each(|act| self.follow_taker(act));
    }

    /// Keeps up to date who has something that was handed over.
    fn follow_taker(&mut self, act: Act) {
        match self.at(act).is_some_and(|fresh| fresh.taken.contains(&true)) {
            true => self.takers.insert(act),
            false => self.takers.remove(&act),
        };
    }
}

/// `None` if it does not run.
fn arrivals(world: &World<'_>, act: Act) -> Option<Vec<Arrival>> {
    if !world.pointsto.runs(act) || world.flow(act).is_none() {
        return None;
    }
    let selector = world.program.method(world.pointsto.method(act)).selector;
    let constructs = world.program.selector_text(selector).0 == "<init>";
    let arrival = |&(caller, stmt): &(Act, StmtId)| {
        let is_made = constructs && !world.bindings_are_plain(caller, stmt, act);
        Arrival { caller, stmt, passed: passed(world, caller, stmt, act), is_made }
    };
    Some(world.pointsto.callers(act).iter().map(arrival).collect())
}

/// What a call passes for the parameters of the callee.
fn passed(world: &World<'_>, caller: Act, stmt: StmtId, callee: Act) -> Vec<(usize, Option<Var>)> {
    let (Some(flow), true) = (world.flow(caller), world.bindings_are_plain(caller, stmt, callee)) else {
        let bindings = world.bindings(caller, stmt, callee).into_iter();
        return bindings
            .map(|binding| (binding.param, Some(binding.var).filter(|_| binding.capture.is_none())))
            .collect();
    };
    let StmtKind::Call { args, .. } = &flow.body.stmts[stmt].kind else { return Vec::new() };
    args.iter().enumerate().map(|(param, &arg)| (param, Some(arg))).collect()
}
