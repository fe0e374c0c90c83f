//! What methods let escape of what they are given, and what they return: one summary per activation. Knows
//! flow only as far as copies go; when something escapes is decided by the asker.

use crate::bits::Bits;
use crate::flow::Flow;
use crate::world::World;
use ir::{StmtId, StmtKind, Var};
use models::{Operand, Root, Source, Step};
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Longer chains of copies are not followed.
const MOST_STEPS: usize = 64;

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

/// Where a value comes from: parameters, and variables whose definitions are not mere copies.
pub struct Sources {
    pub vars: BTreeSet<Var>,
    /// Followed to the end.
    pub all: bool,
}

pub struct Leaks {
    by_act: FxHashMap<Act, Summary>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Summary {
    /// Parameters that become known to others.
    leaked: Bits,
    /// Parameters whose contents become known to others.
    contents: Bits,
    /// Parameters that end up inside another parameter.
    inside: BTreeSet<(usize, usize)>,
    /// Parameters that may be returned.
    may_return: Bits,
    /// The parameter every return returns.
    returned: Option<usize>,
    /// Every return returns an object that was made inside and is known to nobody else.
    fresh: bool,
}

impl Leaks {
    /// Least solution over the call graph, callees first: a method comes again when a callee's summary has grown.
    pub fn new(world: &World<'_>) -> Leaks {
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

    /// Follows copies, casts, phis, and calls that return an argument, up to `is_root`.
    pub fn sources(
        &self,
        world: &World<'_>,
        act: Act,
        flow: &Flow,
        var: Var,
        is_root: impl Fn(Var) -> bool,
    ) -> Sources {
        let mut sources = Sources { vars: BTreeSet::new(), all: true };
        let mut seen = BTreeSet::new();
        let mut left = vec![var];
        while let Some(next) = left.pop() {
            if !seen.insert(next) {
                continue;
            }
            if seen.len() > MOST_STEPS {
                sources.all = false;
                break;
            }
            if is_root(next) {
                sources.vars.insert(next);
                continue;
            }
            match flow.definition(next) {
                Some((_, StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. })) => left.push(*src),
                Some((_, StmtKind::Phi { srcs, .. })) => left.extend(srcs),
                Some((_, StmtKind::Const { .. })) => {}
                Some((stmt, StmtKind::Call { args, .. })) => {
                    let (returned, only) = self.returned_args(world, act, flow, stmt, args);
                    left.extend(returned);
                    if !only {
                        sources.vars.insert(next);
                    }
                }
                _ => {
                    sources.vars.insert(next);
                }
            }
        }
        sources
    }

    /// Arguments a call may return, and whether it returns nothing else.
    fn returned_args(
        &self,
        world: &World<'_>,
        act: Act,
        flow: &Flow,
        stmt: StmtId,
        args: &[Var],
    ) -> (Vec<Var>, bool) {
        let is_ref = |&var: &Var| flow.body.vars[var].is_ref;
        let mut returned: Vec<Var> = Vec::new();
        let mut only = true;
        let mut modelled = false;
        for step in world.steps(act, stmt) {
            if let Step::Assign { dst: Operand { root: Root::Ret, path }, src } = step
                && path.is_empty()
            {
                modelled = true;
                match src {
                    Source::Value(value) if value.path.is_empty() => {
                        let value = world.operand_var(act, stmt, value);
                        only &= value.is_some();
                        returned.extend(value);
                    }
                    _ => only = false,
                }
            }
        }
        let callees = world.pointsto.callees(act, stmt);
        only &= modelled || !callees.is_empty();
        for &callee in callees {
            match self.by_act.get(&callee) {
                Some(summary) if world.bindings_are_plain(act, stmt, callee) => {
                    let may = args.iter().enumerate().filter(|(at, _)| summary.may_return.contains(*at));
                    returned.extend(may.map(|(_, &arg)| arg));
                    only &= summary.returned.is_some();
                }
                // A callee that the model runs says nothing about the result of the call.
                Some(_) if modelled => {}
                _ => {
                    returned.extend(args.iter().copied().filter(is_ref));
                    only = false;
                }
            }
        }
        (returned, only)
    }

    /// Every callee returns an object of its own making that nobody else knows.
    pub fn returns_fresh(&self, world: &World<'_>, act: Act, stmt: StmtId) -> bool {
        let callees = world.pointsto.callees(act, stmt);
        let is_fresh = |callee: &Act| self.by_act.get(callee).is_some_and(|summary| summary.fresh);
        !callees.is_empty() && world.pointsto.models_at(act, stmt).is_empty() && callees.iter().all(is_fresh)
    }

    /// What gets out of the arguments of a call.
    pub fn at_call(&self, world: &World<'_>, act: Act, flow: &Flow, stmt: StmtId, args: &[Var]) -> Vec<Leak> {
        let mut leaks = Vec::new();
        let is_ref = |&var: &Var| flow.body.vars[var].is_ref;
        if !args.iter().any(is_ref) {
            return leaks;
        }
        let has_models = self.at_model(world, act, stmt, &mut leaks);
        let callees = world.pointsto.callees(act, stmt);
        if callees.is_empty() && !has_models {
            // Nobody knows what becomes of them; a constructor is trusted with what it constructs.
            let skipped = usize::from(world.is_constructor_call(flow, stmt));
            leaks.extend(args.iter().skip(skipped).copied().filter(is_ref).map(Leak::Published));
        }
        for &callee in callees {
            let plain = world.bindings_are_plain(act, stmt, callee);
            if world.is_jdk(callee) {
                // Library code keeps what it is given in its receiver.
                match args.split_first() {
                    Some((&holder, rest)) if plain && !world.is_static(callee) => {
                        let rest = rest.iter().copied().filter(is_ref);
                        leaks.extend(rest.map(|value| Leak::Kept { value, holder }));
                    }
                    _ => leaks.extend(args.iter().copied().filter(is_ref).map(Leak::Published)),
                }
                continue;
            }
            let Some(summary) = self.by_act.get(&callee) else { continue };
            for binding in world.bindings(act, stmt, callee) {
                if binding.capture.is_none() && summary.leaked.contains(binding.param) {
                    leaks.push(Leak::Published(binding.var));
                }
                if binding.capture.is_none() && summary.contents.contains(binding.param) {
                    leaks.push(Leak::Contents(binding.var));
                }
            }
            if plain {
                for &(value, holder) in &summary.inside {
                    if let (Some(&value), Some(&holder)) = (args.get(value), args.get(holder)) {
                        leaks.push(Leak::Kept { value, holder });
                    }
                }
            } else if summary.leaked.iter().next().is_some() {
                // Run on what one of the arguments holds.
                leaks.extend(args.iter().copied().filter(is_ref).map(Leak::Contents));
            }
        }
        leaks.sort_unstable();
        leaks.dedup();
        leaks
    }

    /// What the models of a call let out. False if it has none.
    fn at_model(&self, world: &World<'_>, act: Act, stmt: StmtId, leaks: &mut Vec<Leak>) -> bool {
        let var = |operand: &Operand| {
            let whole = Operand { root: operand.root, path: Vec::new() };
            world.operand_var(act, stmt, &whole)
        };
        let mut any = false;
        for step in world.steps(act, stmt) {
            any = true;
            match step {
                Step::Spawn(spawn) => {
                    let operands = std::iter::once(&spawn.receiver).chain(&spawn.args);
                    leaks.extend(operands.filter_map(var).map(Leak::Published));
                }
                Step::Give { value } | Step::Publish { value } | Step::Escape { value } => {
                    leaks.extend(var(value).map(Leak::Published));
                }
                Step::Assign { dst, src: Source::Value(src) } if src.path.is_empty() => {
                    if !dst.path.is_empty()
                        && let (Some(holder), Some(value)) = (var(dst), var(src))
                    {
                        leaks.push(Leak::Kept { value, holder });
                    }
                }
                Step::StoreHandle { base, src, .. } | Step::StoreUnsafe { base, src } => {
                    if let (Some(holder), Some(value)) = (var(base), var(src)) {
                        leaks.push(Leak::Kept { value, holder });
                    }
                }
                _ => {}
            }
        }
        any || !world.pointsto.models_at(act, stmt).is_empty()
    }

    fn summary(&self, world: &World<'_>, act: Act, flow: &Flow) -> Summary {
        let mut found = self.by_act.get(&act).cloned().unwrap_or_default();
        let mut returned: Vec<Var> = Vec::new();
        for (stmt, info) in flow.body.stmts.iter() {
            let mut publish =
                |value: Var| self.add_leak(world, act, flow, &mut found, Leak::Published(value));
            match &info.kind {
                StmtKind::Store { base, src, .. } | StmtKind::StoreElem { base, src, .. } => {
                    let leak = Leak::Kept { value: *src, holder: *base };
                    self.add_leak(world, act, flow, &mut found, leak);
                }
                StmtKind::StoreStatic { src, .. } => publish(*src),
                StmtKind::Throw { value } => publish(*value),
                StmtKind::Lambda { captures, .. } => captures.iter().for_each(|&var| publish(var)),
                StmtKind::Dynamic { args, .. } => args.iter().for_each(|&var| publish(var)),
                StmtKind::Call { args, .. } => {
                    for leak in self.at_call(world, act, flow, stmt, args) {
                        self.add_leak(world, act, flow, &mut found, leak);
                    }
                }
                StmtKind::Return { value: Some(value) } if flow.body.vars[*value].is_ref => {
                    returned.push(*value)
                }
                _ => {}
            }
        }
        self.add_returned(world, act, flow, &mut found, &returned);
        found
    }

    fn add_leak(&self, world: &World<'_>, act: Act, flow: &Flow, found: &mut Summary, leak: Leak) {
        let (value, holder) = match leak {
            Leak::Published(value) => (value, None),
            Leak::Contents(value) => {
                found.contents.insert_all(self.params_of(world, act, flow, value));
                return;
            }
            Leak::Kept { value, holder } => (value, self.owner(world, act, flow, holder)),
        };
        if !flow.body.vars[value].is_ref {
            return;
        }
        let params = self.params_of(world, act, flow, value);
        match holder {
            Some(holder) => found.inside.extend(params.into_iter().map(|param| (param, holder))),
            // Kept in something made here, or gone: taken to be gone.
            None => {
                found.leaked.insert_all(params);
                let loaded = self.sources(world, act, flow, value, |_| false);
                for var in loaded.vars {
                    if let Some((_, StmtKind::Load { base, .. } | StmtKind::LoadElem { base, .. })) =
                        flow.definition(var)
                        && let Some(owner) = self.owner(world, act, flow, *base)
                    {
                        found.contents.insert(owner);
                    }
                }
            }
        }
    }

    fn add_returned(&self, world: &World<'_>, act: Act, flow: &Flow, found: &mut Summary, returned: &[Var]) {
        found.returned = None;
        found.fresh = false;
        let Some(&first) = returned.first() else { return };
        for &value in returned {
            found.may_return.insert_all(self.params_of(world, act, flow, value));
        }
        let source = flow.source(first);
        if returned.iter().all(|&value| flow.source(value) == source) {
            found.returned = flow.body.params.iter().position(|&param| param == source);
            found.fresh = self.is_made_and_kept(world, act, flow, source);
        }
    }

    /// Allocated here and never published before it is returned.
    fn is_made_and_kept(&self, world: &World<'_>, act: Act, flow: &Flow, var: Var) -> bool {
        let is_new = match flow.definition(var) {
            Some((_, StmtKind::New { .. } | StmtKind::NewArray { .. })) => true,
            Some((stmt, StmtKind::Call { .. })) => self.returns_fresh(world, act, stmt),
            _ => false,
        };
        let is = |other: Var| flow.source(other) == var;
        let gets_out = |leak: Leak| match leak {
            Leak::Published(value) | Leak::Kept { value, .. } => is(value),
            Leak::Contents(_) => false,
        };
        is_new
            && !flow.body.stmts.iter().any(|(stmt, info)| match &info.kind {
                StmtKind::Store { src, .. } | StmtKind::StoreElem { src, .. } => is(*src),
                StmtKind::StoreStatic { src, .. } => is(*src),
                StmtKind::Throw { value } => is(*value),
                StmtKind::Phi { srcs, .. } => srcs.iter().any(|&src| is(src)),
                StmtKind::Lambda { captures, .. } => captures.iter().any(|&src| is(src)),
                StmtKind::Dynamic { args, .. } => args.iter().any(|&arg| is(arg)),
                StmtKind::Call { args, .. } => {
                    let (may_return, _) = self.returned_args(world, act, flow, stmt, args);
                    may_return.into_iter().any(is)
                        || self.at_call(world, act, flow, stmt, args).into_iter().any(gets_out)
                }
                _ => false,
            })
    }

    /// The parameters a value may be.
    fn params_of(&self, world: &World<'_>, act: Act, flow: &Flow, value: Var) -> Vec<usize> {
        let sources = self.sources(world, act, flow, value, |_| false);
        let params = flow.body.params.iter().enumerate();
        params.filter(|(_, param)| !sources.all || sources.vars.contains(param)).map(|(at, _)| at).collect()
    }

    /// The parameter a value is, or is loaded from.
    fn owner(&self, world: &World<'_>, act: Act, flow: &Flow, value: Var) -> Option<usize> {
        let mut var = flow.source(value);
        for _ in 0..8 {
            if let Some(param) = flow.body.params.iter().position(|&param| param == var) {
                return Some(param);
            }
            var = match flow.definition(var)? {
                (_, StmtKind::Load { base, .. } | StmtKind::LoadElem { base, .. }) => flow.source(*base),
                (stmt, StmtKind::Call { args, .. }) => {
                    let (returned, only) = self.returned_args(world, act, flow, stmt, args);
                    match returned[..] {
                        [arg] if only => flow.source(arg),
                        _ => return None,
                    }
                }
                _ => return None,
            };
        }
        None
    }
}
