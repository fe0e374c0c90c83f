//! What methods let escape of what they are given, and what they return: one summary per activation. Knows what
//! a call does with its operands; what these are is decided by the asker.

use super::look::Look;
use super::places::Places;
use crate::bits::Bits;
use crate::flow::Flow;
use crate::types::Freshness;
use crate::world::{Binding, World};
use arena::{IndexVec, Interner, define_id};
use classfile::Layer;
use ir::{StmtId, StmtKind, Var};
use models::{Operand, Root, Source, Step};
use pointsto::Act;
use std::collections::BTreeSet;
use track::{Kind, Read, Sizes, note};

/// One way a value gets out of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leak {
    /// Others know it from now on.
    Published(Var),
    /// Others know what it holds.
    Contents(Var),
    /// It is kept inside another value.
    Kept { value: Var, holder: Var },
}

/// What a call does with its arguments, and what its result is.
#[derive(Debug, Default)]
pub struct Effect {
    pub leaks: Vec<Leak>,
    /// Arguments that may be the result.
    pub returned: Vec<Var>,
    /// Arguments that may hold the result.
    pub returned_from: Vec<Var>,
    /// The result is nothing else.
    pub known: bool,
    /// Is the result an object made by the callees, or handed over to them, that nobody else knows?
    pub fresh: Freshness,
}

define_id! {
    /// A summary, interned.
    SummaryId
}

/// Grows only, so that there is a least solution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Summary {
    /// Parameters that become known to others.
    leaked: Bits,
    /// Parameters whose contents become known to others.
    contents: Bits,
    /// Parameters that end up inside another parameter, or inside what they hold themselves.
    inside: BTreeSet<(usize, usize)>,
    /// Parameters that end up inside an object that is made here and returned.
    in_result: Bits,
    /// Parameters that may be returned.
    returned: Bits,
    /// Parameters whose contents may be returned.
    returned_from: Bits,
    /// An object made here, or handed over to here, that nobody else knows may be returned.
    returns_fresh: bool,
    /// One that was handed over may.
    returns_taken: bool,
    /// Something else may be returned.
    returns_other: bool,
}

impl Summary {
    fn add(&mut self, other: &Summary) {
        self.leaked.union_with(&other.leaked);
        self.contents.union_with(&other.contents);
        self.inside.extend(&other.inside);
        self.in_result.union_with(&other.in_result);
        self.returned.union_with(&other.returned);
        self.returned_from.union_with(&other.returned_from);
        self.returns_fresh |= other.returns_fresh;
        self.returns_taken |= other.returns_taken;
        self.returns_other |= other.returns_other;
    }

    fn fresh(&self) -> Freshness {
        let is_fresh = !self.returns_other && self.returned.is_empty() && self.returned_from.is_empty();
        match (is_fresh, self.returns_taken) {
            (false, _) => Freshness::No,
            (true, false) => Freshness::Unpublished,
            (true, true) => Freshness::Taken,
        }
    }
}

#[derive(Default)]
pub struct Leaks {
    /// `None` for library code, and where there is no body.
    by_act: IndexVec<Act, Option<SummaryId>>,
    /// There are few different ones.
    all: Interner<SummaryId, Summary>,
}

impl Leaks {
    /// What is known of an activation so far.
    fn of(&self, act: Act) -> Option<&Summary> {
        note(Read::of(Kind::Summary, act));
        Some(&self.all[self.id(act)?])
    }

    /// A number for that: the same for the same.
    pub fn id(&self, act: Act) -> Option<SummaryId> {
        self.by_act.get(act).copied().flatten()
    }

    pub fn set(&mut self, act: Act, summary: Option<SummaryId>) -> Option<SummaryId> {
        std::mem::replace(self.by_act.at(act), summary)
    }

    /// Nothing is known yet.
    pub fn nothing(&mut self) -> SummaryId {
        self.all.intern(Summary::default())
    }

    /// What a look at the activation tells its callers.
    pub fn summarize(&mut self, flow: &Flow, look: &Look) -> SummaryId {
        let mut found = Summary::default();
        summarize(flow, look, &mut found);
        self.all.intern(found)
    }

    /// Both together.
    pub fn join(&mut self, a: SummaryId, b: SummaryId) -> SummaryId {
        if a == b {
            return a;
        }
        let mut both = self.all[a].clone();
        both.add(&self.all[b]);
        self.all.intern(both)
    }

    pub fn at_call(&self, world: &World<'_>, act: Act, flow: &Flow, stmt: StmtId) -> Effect {
        let StmtKind::Call { dst, args, target, .. } = &flow.body.stmts[stmt].kind else {
            return Effect::default();
        };
        let is_ref = |var: &Var| flow.body.vars[*var].is_ref;
        let dst = dst.filter(is_ref);
        let mut effect = Effect { known: true, ..Effect::default() };
        let has_models = !world.pointsto.models_at(act, stmt).is_empty();
        let callees = world.pointsto.callees(act, stmt);
        let refs = || args.iter().copied().filter(is_ref);
        let mut modelled = false;
        if has_models {
            modelled = add_model(world, act, stmt, &mut effect);
        } else if callees.is_empty() {
            // Nobody knows what becomes of them; a constructor is trusted with what it constructs.
            let constructs = world.is_constructor_call(flow, stmt);
            if constructs && world.program.class(target.class).layer == Layer::Jdk {
                add_library(args, is_ref, true, &mut effect);
            } else {
                let args = args.iter().skip(usize::from(constructs)).copied();
                effect.leaks.extend(args.filter(is_ref).map(Leak::Published));
            }
        }
        effect.known &= modelled || !callees.is_empty();
        if !has_models {
            effect.fresh = self.fresh_result(callees);
        }
        for &callee in callees {
            let plain = world.bindings_are_plain(act, stmt, callee);
            let summary = self.of(callee);
            match summary {
                Some(summary) if plain => add_callee(summary, args, dst, &mut effect),
                Some(summary) => {
                    // A callee that the model runs says nothing about the result of the call.
                    if !modelled {
                        effect.returned.extend(refs());
                        effect.known = false;
                    }
                    for binding in world.bindings(act, stmt, callee) {
                        if binding.capture.is_none() && summary.leaked.contains(binding.param) {
                            effect.leaks.push(Leak::Published(binding.var));
                        }
                        if binding.capture.is_none() && summary.contents.contains(binding.param) {
                            effect.leaks.push(Leak::Contents(binding.var));
                        }
                    }
                    // Run on what one of the arguments holds.
                    if !summary.leaked.is_empty() || !summary.inside.is_empty() {
                        effect.leaks.extend(refs().map(Leak::Contents));
                    }
                }
                None => {
                    let params = world.program.method(world.pointsto.method(callee)).params.len();
                    let given = given(&world.bindings(act, stmt, callee), params);
                    let given = given.filter(|_| modelled && !plain);
                    if given.is_none() {
                        effect.returned.extend(refs());
                        effect.known = false;
                    }
                    if world.is_jdk(callee) {
                        let has_receiver = (plain || given.is_some()) && !world.is_static(callee);
                        add_library(given.as_ref().unwrap_or(args), is_ref, has_receiver, &mut effect);
                    }
                }
            }
        }
        if callees.len() > 1 {
            effect.leaks.sort_unstable();
            effect.leaks.dedup();
        }
        effect
    }

    /// What all callees return is fresh if each of them returns what is; handed over if one of them may be.
    fn fresh_result(&self, callees: &[Act]) -> Freshness {
        let summaries = callees.iter().map(|&callee| self.of(callee));
        let results = summaries.map(|summary| summary.map_or(Freshness::No, Summary::fresh));
        let is_fresh = results.clone().all(|result| result != Freshness::No);
        results.max().filter(|_| is_fresh).unwrap_or(Freshness::No)
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("summaries", self.all.len());
    }
}

/// What a callee that a model runs is given, if it is known: `p0` of `call p0.toString()`, and nothing else of the call.
fn given(bindings: &[Binding], params: usize) -> Option<Vec<Var>> {
    let is_plain = |(param, binding): (usize, &Binding)| binding.param == param && binding.capture.is_none();
    let is_known = bindings.len() == params && bindings.iter().enumerate().all(is_plain);
    is_known.then(|| bindings.iter().map(|binding| binding.var).collect())
}

/// Library code keeps what it is given in its receiver.
fn add_library(args: &[Var], is_ref: impl Fn(&Var) -> bool, has_receiver: bool, effect: &mut Effect) {
    match args.split_first() {
        Some((&holder, rest)) if has_receiver => {
            let rest = rest.iter().copied().filter(is_ref);
            effect.leaks.extend(rest.map(|value| Leak::Kept { value, holder }));
        }
        _ => effect.leaks.extend(args.iter().copied().filter(is_ref).map(Leak::Published)),
    }
}

fn add_callee(summary: &Summary, args: &[Var], dst: Option<Var>, effect: &mut Effect) {
    let arg = |param: usize| args.get(param).copied();
    effect.leaks.extend(summary.leaked.iter().filter_map(arg).map(Leak::Published));
    effect.leaks.extend(summary.contents.iter().filter_map(arg).map(Leak::Contents));
    for &(value, holder) in &summary.inside {
        if let (Some(value), Some(holder)) = (arg(value), arg(holder)) {
            effect.leaks.push(Leak::Kept { value, holder });
        }
    }
    if let Some(holder) = dst {
        let values = summary.in_result.iter().filter_map(arg);
        effect.leaks.extend(values.map(|value| Leak::Kept { value, holder }));
        effect.returned.extend(summary.returned.iter().filter_map(arg));
        effect.returned_from.extend(summary.returned_from.iter().filter_map(arg));
        effect.known &= !summary.returns_other && !summary.returns_fresh;
    }
}

/// What the models of a call do. True if they say what it returns.
fn add_model(world: &World<'_>, act: Act, stmt: StmtId, effect: &mut Effect) -> bool {
    let var = |operand: &Operand| {
        let whole = Operand { root: operand.root, path: Vec::new() };
        world.operand_var(act, stmt, &whole)
    };
    let mut returns = false;
    for step in world.steps(act, stmt) {
        match step {
            Step::Spawn(spawn) => {
                let operands = std::iter::once(&spawn.receiver).chain(&spawn.args);
                effect.leaks.extend(operands.filter_map(var).map(Leak::Published));
            }
            Step::Give { value } | Step::Publish { value } | Step::Escape { value } => {
                effect.leaks.extend(var(value).map(Leak::Published));
            }
            Step::Assign { dst: Operand { root: Root::Ret, path }, src } if path.is_empty() => {
                returns = true;
                match src {
                    Source::Value(value) => {
                        let known = var(value);
                        effect.known &= known.is_some();
                        if value.path.is_empty() {
                            effect.returned.extend(known);
                        } else {
                            effect.returned_from.extend(known);
                        }
                    }
                    _ => effect.known = false,
                }
            }
            Step::Assign { dst, src: Source::Value(src) } if src.path.is_empty() => {
                if !dst.path.is_empty()
                    && let (Some(holder), Some(value)) = (var(dst), var(src))
                {
                    effect.leaks.push(Leak::Kept { value, holder });
                }
            }
            Step::StoreHandle { base, src, .. } | Step::StoreUnsafe { base, src } => {
                if let (Some(holder), Some(value)) = (var(base), var(src)) {
                    effect.leaks.push(Leak::Kept { value, holder });
                }
            }
            _ => {}
        }
    }
    returns
}

/// Adds what a look at the activation tells its callers.
fn summarize(flow: &Flow, look: &Look, found: &mut Summary) {
    let places = Places::new(look, |_, _| true);
    let param_of = |root: u32| look.roots[root as usize].param;
    let mut in_params = Bits::new();
    let mut in_locals: Vec<(usize, u32)> = Vec::new();
    for (at, root) in look.roots.iter().enumerate() {
        let mut goes_into = places.goes_into(at as u32, |holder| param_of(holder).is_none());
        let Some(param) = root.param else {
            if goes_into.any(|holder| param_of(holder).is_some()) {
                in_params.insert(at);
            }
            continue;
        };
        if !places.events[at].is_empty() {
            found.leaked.insert(param);
        }
        if !places.contents[at].is_empty() {
            found.contents.insert(param);
        }
        for holder in goes_into {
            match param_of(holder) {
                Some(holder) => _ = found.inside.insert((param, holder)),
                None => in_locals.push((param, holder)),
            }
        }
    }
    let mut results = Bits::new();
    for (_, info) in flow.body.stmts.iter() {
        let StmtKind::Return { value: Some(var) } = info.kind else { continue };
        if !flow.body.vars[var].is_ref {
            continue;
        }
        let value = look.value(var);
        found.returns_other |= !value.known;
        for &root in look.roots_of(value) {
            let at = root as usize;
            if let Some(param) = param_of(root) {
                found.returned.insert(param);
                continue;
            }
            results.insert(at);
            let is_shared = in_params.contains(at) || !places.events[at].is_empty();
            found.returns_other |= is_shared;
            found.returns_fresh |= !is_shared;
            found.returns_taken |= look.roots[at].kind == Freshness::Taken;
        }
        for &root in look.holders_of(value) {
            match param_of(root) {
                Some(param) => _ = found.returned_from.insert(param),
                None => found.returns_other = true,
            }
        }
    }
    let in_results = in_locals.iter().filter(|&&(_, holder)| results.contains(holder as usize));
    found.in_result.insert_all(in_results.map(|&(param, _)| param));
}
