//! Objects nobody else can know yet: allocated here (or handed over) and not published. Knows what methods
//! let escape and what their callers own; knows no origin.

use crate::bits::Bits;
use crate::flow::{Flow, after};
use crate::owners::Owners;
use crate::types::Freshness;
use crate::world::World;
use arena::{Id, IdSet};
use classfile::Layer;
use ir::{StmtId, StmtKind, Var};
use models::{Operand, Root, Source, Step};
use pointsto::{Act, Obj, Slot};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Values that may come from more places than this, or over longer chains of copies, are not followed.
const MOST_ROOTS: usize = 8;
const MOST_STEPS: usize = 64;

/// Which variables are fresh where, for every activation of application code.
#[derive(Debug, Default)]
pub struct Fresh {
    acts: FxHashMap<Act, ActFresh>,
}

/// The fresh values of one activation.
#[derive(Debug, Default)]
struct ActFresh {
    /// Where each variable's value may come from; absent if from anywhere.
    roots: FxHashMap<Var, Vec<Var>>,
    made: FxHashMap<Var, Made>,
    /// Fresh values that others are kept in.
    holders: BTreeSet<Var>,
}

/// A value that is fresh when it appears.
#[derive(Debug)]
struct Made {
    kind: Freshness,
    /// Only fresh if the callers' arguments are: the parameter.
    param: Option<usize>,
    /// Statements after which it is published.
    published: Bits,
}

impl Fresh {
    pub fn new(world: &World<'_>, entries: &IdSet<Act>, owners: &Owners) -> Fresh {
        let leaks = Leaks::new(world);
        let mut fresh = Fresh::default();
        for act in world.pointsto.acts().filter(|&act| !world.is_jdk(act)) {
            if let Some(flow) = world.flow(act) {
                fresh.acts.insert(act, ActFresh::new(world, &leaks, owners, act, flow));
            }
        }
        fresh.disown(world, &leaks, entries);
        fresh
    }

    /// Is the object in `base` unknown to others when the statement runs?
    pub fn of(&self, act: Act, stmt: StmtId, base: Var) -> Freshness {
        let Some(act) = self.acts.get(&act) else { return Freshness::No };
        let Some(roots) = act.roots.get(&base) else { return Freshness::No };
        let mut found = None;
        for root in roots {
            match act.made.get(root) {
                Some(made) if !made.published.contains(stmt.index()) => {
                    found = Some(found.map_or(made.kind, |known: Freshness| known.max(made.kind)));
                }
                _ => return Freshness::No,
            }
        }
        found.unwrap_or(Freshness::No)
    }

    /// A parameter is owned iff every caller's argument is fresh at the call. Greatest solution: begins with
    /// all owned, takes away until nothing changes.
    fn disown(&mut self, world: &World<'_>, leaks: &Leaks, entries: &IdSet<Act>) {
        let in_order = |act: Act| (Reverse(world.components.of(act)), act);
        let mut left: BTreeSet<(Reverse<u32>, Act)> = self.acts.keys().copied().map(in_order).collect();
        while let Some((_, act)) = left.pop_first() {
            let owned: Vec<(Var, usize)> =
                self.acts[&act].made.iter().filter_map(|(&var, made)| Some((var, made.param?))).collect();
            let mut lost = Vec::new();
            for (var, param) in owned {
                let callers = world.pointsto.callers(act);
                let is_owned = !entries.contains(act)
                    && !callers.is_empty()
                    && callers
                        .iter()
                        .all(|&(caller, stmt)| self.passes_fresh(world, caller, stmt, act, param));
                if !is_owned {
                    lost.push(var);
                }
            }
            if !lost.is_empty() {
                if let (Some(fresh), Some(flow)) = (self.acts.get_mut(&act), world.flow(act)) {
                    for var in &lost {
                        fresh.made.remove(var);
                    }
                    // What was kept in a lost parameter is published by that now.
                    if lost.iter().any(|var| fresh.holders.contains(var)) {
                        fresh.find_published(world, act, flow, leaks);
                    }
                }
                let callees = world.pointsto.calls(act).map(|(_, callee)| callee);
                left.extend(callees.filter(|callee| self.acts.contains_key(callee)).map(in_order));
            }
        }
    }

    fn passes_fresh(&self, world: &World<'_>, caller: Act, stmt: StmtId, act: Act, param: usize) -> bool {
        let bindings = world.bindings(caller, stmt, act);
        let mut bound = bindings.iter().filter(|binding| binding.param == param).peekable();
        bound.peek().is_some()
            && bound.all(|binding| {
                binding.capture.is_none() && self.of(caller, stmt, binding.var) != Freshness::No
            })
    }
}

impl ActFresh {
    fn new(world: &World<'_>, leaks: &Leaks, owners: &Owners, act: Act, flow: &Flow) -> ActFresh {
        let mut fresh = ActFresh::default();
        for (param, &var) in
            flow.body.params.iter().enumerate().filter(|&(_, &var)| flow.body.vars[var].is_ref)
        {
            let made = Made { kind: Freshness::Unpublished, param: Some(param), published: Bits::new() };
            fresh.made.insert(var, made);
        }
        for (stmt, info) in flow.body.stmts.iter() {
            let (var, kind) = match &info.kind {
                StmtKind::New { dst, .. } | StmtKind::NewArray { dst, .. } => (*dst, Freshness::Unpublished),
                StmtKind::Call { dst: Some(dst), .. } if flow.body.vars[*dst].is_ref => {
                    if world.steps(act, stmt).any(is_take) {
                        if !world.pointsto.pts(act, *dst).iter().all(|obj| is_handed_over(world, owners, obj))
                        {
                            continue;
                        }
                        (*dst, Freshness::Taken)
                    } else if leaks.returns_fresh(world, act, stmt) {
                        (*dst, Freshness::Unpublished)
                    } else {
                        continue;
                    }
                }
                _ => continue,
            };
            fresh.made.insert(var, Made { kind, param: None, published: Bits::new() });
        }
        if fresh.made.is_empty() {
            return fresh;
        }
        fresh.find_roots(world, act, flow, leaks);
        fresh.find_published(world, act, flow, leaks);
        fresh
    }

    /// Follows copies, casts, phis, and loads from fresh objects of what this method has put there.
    fn find_roots(&mut self, world: &World<'_>, act: Act, flow: &Flow, leaks: &Leaks) {
        let made_here: BTreeMap<Obj, Var> = self
            .made
            .keys()
            .filter(|&&var| {
                matches!(flow.definition(var), Some((_, StmtKind::New { .. } | StmtKind::NewArray { .. })))
            })
            .flat_map(|&var| world.pointsto.pts(act, var).iter().map(move |obj| (obj, var)))
            .collect();
        let is_fresh = |var: Var, made: &FxHashMap<Var, Made>| made.contains_key(&flow.source(var));
        for var in flow.body.vars.ids().filter(|&var| flow.body.vars[var].is_ref) {
            let mut roots = BTreeSet::new();
            let mut seen = BTreeSet::new();
            let mut left = vec![var];
            let mut known = true;
            while let Some(next) = left.pop() {
                if !seen.insert(next) || !known {
                    continue;
                }
                if self.made.contains_key(&next) {
                    roots.insert(next);
                    continue;
                }
                match flow.definition(next) {
                    Some((_, StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. })) => left.push(*src),
                    Some((_, StmtKind::Phi { srcs, .. })) => left.extend(srcs),
                    Some((_, StmtKind::Const { value: ir::Const::Null, .. })) => {}
                    Some((stmt, StmtKind::Call { .. })) => match leaks.returned_arg(world, act, flow, stmt) {
                        Some(arg) => left.push(arg),
                        None => known = false,
                    },
                    Some((_, StmtKind::Load { base, .. })) if is_fresh(*base, &self.made) => {
                        let objects = world.pointsto.pts(act, next);
                        let vars: Option<Vec<Var>> =
                            objects.iter().map(|obj| made_here.get(&obj).copied()).collect();
                        match vars {
                            Some(vars) if !vars.is_empty() => left.extend(vars),
                            _ => known = false,
                        }
                    }
                    _ => known = false,
                }
                known &= roots.len() <= MOST_ROOTS && seen.len() <= MOST_STEPS;
            }
            if known && !roots.is_empty() {
                self.roots.insert(var, roots.into_iter().collect());
            }
        }
    }

    /// Statements reachable from one that publishes the value, without passing the one that makes it.
    fn find_published(&mut self, world: &World<'_>, act: Act, flow: &Flow, leaks: &Leaks) {
        let mut events: BTreeMap<Var, BTreeSet<StmtId>> = BTreeMap::new();
        // A value kept in another fresh one is published with it.
        let mut inside: BTreeMap<Var, BTreeSet<Var>> = BTreeMap::new();
        for (stmt, info) in flow.body.stmts.iter() {
            let mut escapes = |value: Var, into: Option<Var>| {
                let Some(values) = self.roots.get(&value) else { return };
                let holders = into
                    .and_then(|into| self.roots.get(&into))
                    .filter(|holders| holders.iter().all(|holder| self.made.contains_key(holder)));
                for &value in values {
                    match holders {
                        Some(holders) => inside.entry(value).or_default().extend(holders),
                        None => {
                            events.entry(value).or_default().insert(stmt);
                        }
                    }
                }
            };
            match &info.kind {
                StmtKind::Store { base, src, .. } | StmtKind::StoreElem { base, src, .. } => {
                    escapes(*src, Some(*base));
                }
                StmtKind::StoreStatic { src, .. } => escapes(*src, None),
                StmtKind::Throw { value } => escapes(*value, None),
                StmtKind::Return { value: Some(value) } => escapes(*value, None),
                StmtKind::Lambda { captures, .. } => captures.iter().for_each(|&var| escapes(var, None)),
                StmtKind::Call { args, .. } => {
                    for (arg, into) in leaks.at_call(world, act, flow, stmt, args) {
                        escapes(arg, into);
                    }
                }
                _ => {}
            }
        }
        loop {
            let mut grown = false;
            for (value, holders) in &inside {
                for holder in holders {
                    let more: Vec<StmtId> = events.get(holder).into_iter().flatten().copied().collect();
                    let known = events.entry(*value).or_default();
                    for stmt in more {
                        grown |= known.insert(stmt);
                    }
                }
            }
            if !grown {
                break;
            }
        }
        self.holders = inside.into_values().flatten().collect();
        for (var, made) in &mut self.made {
            if let Some(stmts) = events.get(var) {
                made.published = after(flow, stmts, flow.body.vars[*var].def);
            }
        }
    }
}

/// Held by nothing of the application's own: only queues and the like keep it.
fn is_handed_over(world: &World<'_>, owners: &Owners, obj: Obj) -> bool {
    let is_library = |slot: &Slot| match *slot {
        Slot::Field(holder, _) | Slot::Elements(holder) => {
            world.program.class(world.pointsto.object(holder).class).layer == Layer::Jdk
        }
        Slot::Static(_) => false,
    };
    owners.of(obj).is_some_and(|slots| slots.iter().all(is_library))
}

fn is_take(step: &Step) -> bool {
    matches!(step, Step::Take { value: Operand { root: Root::Ret, path } } if path.is_empty())
}

/// What methods let escape of what they are given.
struct Leaks {
    by_act: FxHashMap<Act, Summary>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Summary {
    /// Parameters that become known to others.
    leaked: Bits,
    /// Parameters that end up inside another parameter.
    inside: BTreeSet<(usize, usize)>,
    /// The parameter every return returns.
    returned: Option<usize>,
    /// Every return returns an object that was made inside and is known to nobody else.
    fresh: bool,
}

impl Leaks {
    /// Least solution over the call graph, callees first: a method comes again when a callee's summary has grown.
    fn new(world: &World<'_>) -> Leaks {
        let mut leaks = Leaks { by_act: FxHashMap::default() };
        let in_order = |act: Act| (world.components.of(act), act);
        let own = world.pointsto.acts().filter(|&act| !world.is_jdk(act));
        let mut left: BTreeSet<(u32, Act)> = own.map(in_order).collect();
        while let Some((_, act)) = left.pop_first() {
            let Some(flow) = world.flow(act) else { continue };
            let found = leaks.summary(world, act, flow);
            if leaks.by_act.get(&act) != Some(&found) {
                leaks.by_act.insert(act, found);
                let callers = world.pointsto.callers(act).iter().map(|&(caller, _)| caller);
                left.extend(callers.filter(|&caller| !world.is_jdk(caller)).map(in_order));
            }
        }
        leaks
    }

    fn summary(&self, world: &World<'_>, act: Act, flow: &Flow) -> Summary {
        let mut found = self.by_act.get(&act).cloned().unwrap_or_default();
        let mut returned: Option<Option<Var>> = None;
        let mut leak = |value: Var, into: Option<Var>| {
            let Some(param) = self.param_of(world, act, flow, value, false) else { return };
            match into.and_then(|into| self.param_of(world, act, flow, into, true)) {
                Some(holder) => {
                    found.inside.insert((param, holder));
                }
                // Kept in something made here: gone if that goes; taken to be gone.
                None => {
                    found.leaked.insert(param);
                }
            }
        };
        for (stmt, info) in flow.body.stmts.iter() {
            match &info.kind {
                StmtKind::Store { base, src, .. } | StmtKind::StoreElem { base, src, .. } => {
                    leak(*src, Some(*base));
                }
                StmtKind::StoreStatic { src, .. } => leak(*src, None),
                StmtKind::Throw { value } => leak(*value, None),
                StmtKind::Lambda { captures, .. } => captures.iter().for_each(|&var| leak(var, None)),
                StmtKind::Call { args, .. } => {
                    for (arg, into) in self.at_call(world, act, flow, stmt, args) {
                        leak(arg, into);
                    }
                }
                StmtKind::Return { value: Some(value) } => {
                    let source = flow.source(*value);
                    returned = Some(match returned {
                        None => Some(source),
                        Some(Some(known)) if known == source => Some(source),
                        _ => None,
                    });
                }
                _ => {}
            }
        }
        if let Some(Some(value)) = returned {
            found.returned = flow.body.params.iter().position(|&param| param == value);
            found.fresh = self.is_made_and_kept(world, act, flow, value);
        }
        found
    }

    /// Allocated here and never published before it is returned.
    fn is_made_and_kept(&self, world: &World<'_>, act: Act, flow: &Flow, var: Var) -> bool {
        let is_new = match flow.definition(var) {
            Some((_, StmtKind::New { .. } | StmtKind::NewArray { .. })) => true,
            Some((stmt, StmtKind::Call { .. })) => self.returns_fresh(world, act, stmt),
            _ => false,
        };
        is_new
            && !flow.body.stmts.iter().any(|(stmt, info)| {
                let is = |other: Var| flow.source(other) == var;
                match &info.kind {
                    StmtKind::Store { src, .. } | StmtKind::StoreElem { src, .. } => is(*src),
                    StmtKind::StoreStatic { src, .. } => is(*src),
                    StmtKind::Throw { value } => is(*value),
                    StmtKind::Phi { srcs, .. } => srcs.iter().any(|&src| is(src)),
                    StmtKind::Lambda { captures, .. } => captures.iter().any(|&src| is(src)),
                    StmtKind::Call { args, .. } => {
                        self.at_call(world, act, flow, stmt, args).iter().any(|&(arg, _)| is(arg))
                    }
                    _ => false,
                }
            })
    }

    /// The parameter a variable is (or, for holders, belongs to).
    fn param_of(
        &self,
        world: &World<'_>,
        act: Act,
        flow: &Flow,
        var: Var,
        through_loads: bool,
    ) -> Option<usize> {
        let mut var = flow.source(var);
        for _ in 0..8 {
            if let Some(param) = flow.body.params.iter().position(|&param| param == var) {
                return Some(param);
            }
            var = match flow.definition(var)? {
                (_, StmtKind::Load { base, .. } | StmtKind::LoadElem { base, .. }) if through_loads => {
                    flow.source(*base)
                }
                (stmt, StmtKind::Call { .. }) => flow.source(self.returned_arg(world, act, flow, stmt)?),
                _ => return None,
            };
        }
        None
    }

    /// Arguments that become known to others at a call, or end up inside another one.
    fn at_call(
        &self,
        world: &World<'_>,
        act: Act,
        flow: &Flow,
        stmt: StmtId,
        args: &[Var],
    ) -> Vec<(Var, Option<Var>)> {
        let mut leaked = Vec::new();
        if !args.iter().any(|&arg| flow.body.vars[arg].is_ref) {
            return leaked;
        }
        let var = |operand: &Operand| {
            let whole = Operand { root: operand.root, path: Vec::new() };
            world.operand_var(act, stmt, &whole)
        };
        for step in world.steps(act, stmt) {
            match step {
                Step::Spawn(spawn) => {
                    let operands = std::iter::once(&spawn.receiver).chain(&spawn.args);
                    leaked.extend(operands.filter_map(|operand| Some((var(operand)?, None))));
                }
                Step::Give { value } | Step::Publish { value } | Step::Escape { value } => {
                    leaked.extend(var(value).map(|value| (value, None)));
                }
                Step::Assign { dst, src: Source::Value(src) } if src.path.is_empty() => {
                    if !dst.path.is_empty()
                        && let (Some(dst), Some(src)) = (var(dst), var(src))
                    {
                        leaked.push((src, Some(dst)));
                    }
                }
                Step::StoreHandle { base, src, .. } | Step::StoreUnsafe { base, src } => {
                    if let (Some(base), Some(src)) = (var(base), var(src)) {
                        leaked.push((src, Some(base)));
                    }
                }
                _ => {}
            }
        }
        for &callee in world.pointsto.callees(act, stmt) {
            let plain = world.bindings_are_plain(act, stmt, callee);
            if world.is_jdk(callee) {
                // Library code keeps what it is given in its receiver.
                if let Some((&receiver, rest)) = args.split_first()
                    && plain
                    && !world.program.method(world.pointsto.method(callee)).is_static()
                {
                    leaked.extend(
                        rest.iter().filter(|&&a| flow.body.vars[a].is_ref).map(|&a| (a, Some(receiver))),
                    );
                } else {
                    leaked.extend(args.iter().filter(|&&a| flow.body.vars[a].is_ref).map(|&a| (a, None)));
                }
                continue;
            }
            let Some(summary) = self.by_act.get(&callee) else { continue };
            for binding in world.bindings(act, stmt, callee) {
                if binding.capture.is_none() && summary.leaked.contains(binding.param) {
                    leaked.push((binding.var, None));
                }
            }
            if plain {
                for &(value, holder) in &summary.inside {
                    if let (Some(&value), Some(&holder)) = (args.get(value), args.get(holder)) {
                        leaked.push((value, Some(holder)));
                    }
                }
            }
        }
        leaked.sort_unstable();
        leaked.dedup();
        leaked
    }

    /// The argument a call certainly returns.
    fn returned_arg(&self, world: &World<'_>, act: Act, flow: &Flow, stmt: StmtId) -> Option<Var> {
        let StmtKind::Call { args, .. } = &flow.body.stmts[stmt].kind else { return None };
        let callees = world.pointsto.callees(act, stmt);
        let mut params = callees.iter().map(|callee| {
            let plain = world.bindings_are_plain(act, stmt, *callee);
            self.by_act.get(callee).filter(|_| plain).and_then(|summary| summary.returned)
        });
        let first = params.next()??;
        params.all(|other| other == Some(first)).then(|| args.get(first).copied()).flatten()
    }

    /// Every callee returns an object of its own making that nobody else knows.
    fn returns_fresh(&self, world: &World<'_>, act: Act, stmt: StmtId) -> bool {
        let callees = world.pointsto.callees(act, stmt);
        let is_fresh = |callee: &Act| self.by_act.get(callee).is_some_and(|summary| summary.fresh);
        !callees.is_empty() && world.pointsto.models_at(act, stmt).is_empty() && callees.iter().all(is_fresh)
    }
}
