//! Objects nobody else can know yet: allocated here (or handed over) and not published. Knows what methods
//! let escape and what their callers own; knows no origin.

mod leaks;

use crate::bits::Bits;
use crate::flow::{Flow, after};
use crate::owners::Owners;
use crate::types::Freshness;
use crate::world::World;
use arena::{Id, IdSet};
use classfile::Layer;
use ir::{StmtId, StmtKind, Var};
use leaks::{Leak, Leaks};
use models::{Operand, Root, Step};
use pointsto::{Act, Obj, Slot};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Which variables are fresh where, for every activation of application code.
#[derive(Debug, Default)]
pub struct Fresh {
    acts: FxHashMap<Act, ActFresh>,
}

/// The fresh values of one activation.
#[derive(Debug, Default)]
struct ActFresh {
    values: FxHashMap<Var, Value>,
    made: FxHashMap<Var, Made>,
    /// Fresh values that others are kept in.
    holders: BTreeSet<Var>,
}

/// Where the value of a variable may come from.
#[derive(Debug, Default)]
struct Value {
    /// Fresh values it may be.
    may_be: Vec<Var>,
    /// It is nothing else.
    only: bool,
    /// Variables from whose objects it may have been loaded.
    loaded_from: Vec<Var>,
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
        let Some(value) = act.values.get(&base).filter(|value| value.only) else { return Freshness::No };
        let mut found = None;
        for made in &value.may_be {
            match act.made.get(made) {
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
        let params = flow.body.params.iter().enumerate();
        for (param, &var) in params.filter(|&(_, &var)| flow.body.vars[var].is_ref) {
            let made = Made { kind: Freshness::Unpublished, param: Some(param), published: Bits::new() };
            fresh.made.insert(var, made);
        }
        for (stmt, info) in flow.body.stmts.iter() {
            let (var, kind) = match &info.kind {
                StmtKind::New { dst, .. } | StmtKind::NewArray { dst, .. } => (*dst, Freshness::Unpublished),
                StmtKind::Call { dst: Some(dst), .. } if flow.body.vars[*dst].is_ref => {
                    if world.steps(act, stmt).any(is_take) {
                        let mut objects = world.pointsto.pts(act, *dst).iter();
                        if !objects.all(|obj| is_handed_over(world, owners, obj)) {
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
        fresh.find_values(world, act, flow, leaks);
        fresh.find_published(world, act, flow, leaks);
        fresh
    }

    /// Follows copies, casts, phis, results of calls, and loads from fresh objects of what this method has put
    /// there.
    fn find_values(&mut self, world: &World<'_>, act: Act, flow: &Flow, leaks: &Leaks) {
        let is_new = |var: Var| {
            matches!(flow.definition(var), Some((_, StmtKind::New { .. } | StmtKind::NewArray { .. })))
        };
        let made_here: BTreeMap<Obj, Var> = (self.made.keys().filter(|&&var| is_new(var)))
            .flat_map(|&var| world.pointsto.pts(act, var).iter().map(move |obj| (obj, var)))
            .collect();
        for var in flow.body.vars.ids().filter(|&var| flow.body.vars[var].is_ref) {
            let sources = leaks.sources(world, act, flow, var, |var| self.made.contains_key(&var));
            let mut value = Value { only: sources.all, ..Value::default() };
            let mut may_be = BTreeSet::new();
            for source in sources.vars {
                if self.made.contains_key(&source) {
                    may_be.insert(source);
                    continue;
                }
                let base = match flow.definition(source) {
                    Some((_, StmtKind::Load { base, .. } | StmtKind::LoadElem { base, .. })) => *base,
                    _ => {
                        value.only = false;
                        continue;
                    }
                };
                value.loaded_from.push(base);
                // What a fresh object of this method holds is known if all of it was made here.
                let is_field = matches!(flow.definition(source), Some((_, StmtKind::Load { .. })));
                let objects = world.pointsto.pts(act, source);
                let held: Option<Vec<Var>> = objects.iter().map(|obj| made_here.get(&obj).copied()).collect();
                match held {
                    Some(held)
                        if is_field && !held.is_empty() && self.made.contains_key(&flow.source(base)) =>
                    {
                        may_be.extend(held);
                    }
                    _ => value.only = false,
                }
            }
            // Lost track: it may be any of them.
            if !sources.all {
                may_be.extend(self.made.keys());
            }
            value.only &= !may_be.is_empty();
            value.may_be = may_be.into_iter().collect();
            if !value.may_be.is_empty() || !value.loaded_from.is_empty() {
                self.values.insert(var, value);
            }
        }
    }

    /// Statements reachable from one that publishes the value, without passing the one that makes it.
    fn find_published(&mut self, world: &World<'_>, act: Act, flow: &Flow, leaks: &Leaks) {
        let mut places = Places::default();
        for (stmt, info) in flow.body.stmts.iter() {
            let mut publish = |value: Var| self.add_leak(&mut places, stmt, Leak::Published(value));
            match &info.kind {
                StmtKind::Store { base, src, .. } | StmtKind::StoreElem { base, src, .. } => {
                    self.add_leak(&mut places, stmt, Leak::Kept { value: *src, holder: *base });
                }
                StmtKind::StoreStatic { src, .. } => publish(*src),
                StmtKind::Throw { value } | StmtKind::Return { value: Some(value) } => publish(*value),
                StmtKind::Lambda { captures, .. } => captures.iter().for_each(|&var| publish(var)),
                StmtKind::Dynamic { args, .. } => args.iter().for_each(|&var| publish(var)),
                StmtKind::Call { args, .. } => {
                    for leak in leaks.at_call(world, act, flow, stmt, args) {
                        self.add_leak(&mut places, stmt, leak);
                    }
                }
                _ => {}
            }
        }
        places.close();
        self.holders = places.inside.values().flatten().copied().collect();
        for (var, made) in &mut self.made {
            if let Some(stmts) = places.events.get(var) {
                made.published = after(flow, stmts, flow.body.vars[*var].def);
            }
        }
    }

    fn add_leak(&self, places: &mut Places, stmt: StmtId, leak: Leak) {
        let may_be = |var: Var| self.values.get(&var).map_or(&[][..], |value| &value.may_be);
        match leak {
            Leak::Published(var) => {
                for &value in may_be(var) {
                    places.events.entry(value).or_default().insert(stmt);
                }
                let bases = self.values.get(&var).into_iter().flat_map(|value| &value.loaded_from);
                for &holder in bases.flat_map(|&base| may_be(base)) {
                    places.contents.entry(holder).or_default().insert(stmt);
                }
            }
            Leak::Contents(var) => {
                for &holder in may_be(var) {
                    places.contents.entry(holder).or_default().insert(stmt);
                }
            }
            Leak::Kept { value, holder } => {
                let fresh_holder = self.values.get(&holder).filter(|holder| {
                    holder.only && holder.may_be.iter().all(|made| self.made.contains_key(made))
                });
                let Some(fresh_holder) = fresh_holder else {
                    self.add_leak(places, stmt, Leak::Published(value));
                    return;
                };
                for &value in may_be(value) {
                    places.inside.entry(value).or_default().extend(&fresh_holder.may_be);
                }
                let bases = self.values.get(&value).into_iter().flat_map(|value| &value.loaded_from);
                for &base in bases.flat_map(|&base| may_be(base)) {
                    places.shared_contents.entry(base).or_default().extend(&fresh_holder.may_be);
                }
            }
        }
    }
}

/// Where fresh values go.
#[derive(Default)]
struct Places {
    /// Statements that publish a value.
    events: BTreeMap<Var, BTreeSet<StmtId>>,
    /// Fresh values a value is kept in: published with them.
    inside: BTreeMap<Var, BTreeSet<Var>>,
    /// Statements that publish what a value holds.
    contents: BTreeMap<Var, BTreeSet<StmtId>>,
    /// What the value holds is held by these as well.
    shared_contents: BTreeMap<Var, BTreeSet<Var>>,
}

impl Places {
    fn close(&mut self) {
        let mut grown = true;
        while grown {
            grown = false;
            for (value, holders) in &mut self.inside {
                let mut more: BTreeSet<Var> = BTreeSet::new();
                let mut stmts: BTreeSet<StmtId> = BTreeSet::new();
                for holder in holders.iter() {
                    more.extend(self.shared_contents.get(holder).into_iter().flatten());
                    stmts.extend(self.events.get(holder).into_iter().flatten());
                    stmts.extend(self.contents.get(holder).into_iter().flatten());
                }
                for holder in more {
                    grown |= holders.insert(holder);
                }
                let (events, contents) = (self.events.entry(*value).or_default(), &mut self.contents);
                for stmt in stmts {
                    grown |= events.insert(stmt);
                    // What it holds goes with it.
                    grown |= contents.entry(*value).or_default().insert(stmt);
                }
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
