//! Is the lock that is wanted found by way of the one that is held: a child by its parent, a node by the one
//! before? Follows values back through fields, elements and results of calls; knows no object.

use super::narrowed::lock_var;
use super::paths::Paths;
use crate::flow::Flow;
use crate::types::HeldLock;
use crate::world::World;
use ir::{CallKind, StmtId, StmtKind, Var};
use pointsto::Act;
use std::collections::BTreeSet;

/// From the wanted lock up the calls to the holder, where the held lock, or the object whose field it is, has to
/// be among what the wanted one comes from.
pub fn is_reached(
    world: &World<'_>,
    paths: &Paths,
    held: &HeldLock,
    wanted: &HeldLock,
    calls: &[(Act, StmtId)],
) -> bool {
    let reached = || {
        let holder = calls.first().map_or(wanted.act, |&(act, _)| act);
        let mut flow = world.flow(wanted.act)?;
        let mut callee = wanted.act;
        let wanted_var = flow.source(lock_var(world, wanted)?);
        let mut from = sources(flow, BTreeSet::from([wanted_var]));
        for &(caller, stmt) in calls.iter().rev() {
            from = passed(world, flow, &from, (caller, stmt, callee))?;
            flow = world.flow(caller)?;
            from = sources(flow, from);
            callee = caller;
        }
        let held_var = flow.source(lock_var(world, held).filter(|_| held.act == holder)?);
        let is_among = |var: Var| {
            let path = paths.path(flow, holder, var);
            let others = from.iter().filter(|&&other| !calls.is_empty() || other != wanted_var);
            others.into_iter().any(|&other| paths.path(flow, holder, other) == path)
        };
        let owner = match flow.definition(held_var) {
            Some((_, &StmtKind::Load { base, .. })) => is_among(base),
            _ => false,
        };
        Some(owner || is_among(held_var))
    };
    reached().unwrap_or(false)
}

/// The variables that values come from, themselves included.
fn sources(flow: &Flow, vars: BTreeSet<Var>) -> BTreeSet<Var> {
    let mut left: Vec<Var> = vars.iter().copied().collect();
    let mut found = vars;
    while let Some(var) = left.pop() {
        let from = match flow.definition(var).map(|(_, kind)| kind) {
            Some(StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. }) => vec![*src],
            Some(StmtKind::Load { base, .. } | StmtKind::LoadElem { base, .. }) => vec![*base],
            Some(StmtKind::Phi { srcs, .. }) => srcs.to_vec(),
            Some(StmtKind::Call { args, kind, .. }) if *kind != CallKind::Static => args[..1].to_vec(),
            _ => Vec::new(),
        };
        left.extend(from.into_iter().filter(|&var| found.insert(var)));
    }
    found
}

/// What a call passes for those of the variables that are parameters.
fn passed(
    world: &World<'_>,
    called: &Flow,
    vars: &BTreeSet<Var>,
    (caller, stmt, callee): (Act, StmtId, Act),
) -> Option<BTreeSet<Var>> {
    let flow = world.flow(caller)?;
    let StmtKind::Call { args, .. } = &flow.body.stmts[stmt].kind else { return None };
    if !world.bindings_are_plain(caller, stmt, callee) {
        return None;
    }
    let bound = args.iter().zip(&called.body.params);
    Some(bound.filter(|(_, param)| vars.contains(param)).map(|(&arg, _)| arg).collect())
}
