//! What locks are known by: keys that survive from method to method, and the translation between the terms of
//! a caller and those of a callee. Knows paths and objects; knows nothing of where locks are held.

use super::paths::{Path, PathRoot, Paths};
use super::sorted;
use super::swapped::swapped;
use super::views::Views;
use crate::flow::Flow;
use crate::owners::Owners;
use crate::types::{HeldLock, LockKey, LockKind, LockNode, PathStep};
use crate::unique::Unique;
use crate::world::World;
use arena::{Id, IdSet};
use ir::{StmtId, StmtKind, Var, access};
use models::Operand;
use pointsto::{Act, Obj, Site};
use std::collections::BTreeSet;

/// What locks are known by.
pub struct Keys<'a, 'w> {
    pub world: &'a World<'w>,
    pub unique: &'a Unique,
    pub paths: &'a Paths,
    pub owners: &'a Owners,
    pub views: &'a Views,
}

impl Keys<'_, '_> {
    /// The explicit lock in a variable.
    fn of_var(&self, act: Act, flow: &Flow, stmt: StmtId, var: Var, shared: bool) -> HeldLock {
        let path = self.paths.path(flow, act, var);
        let (objects, mode) = self.locked(self.world.pointsto.pts(act, var));
        let shared = shared || path.view.or(mode).unwrap_or(false);
        let kind = LockKind::Explicit;
        let mut keys = vec![explicit(key(path))];
        keys.extend(self.unique_key(&objects, kind));
        let nodes = self.nodes(act, flow, Some(var), &objects, kind);
        HeldLock { keys, shared, kind, objects: sorted(&objects), nodes, act, stmt: Some(stmt) }
    }

    /// The monitor of what is in a variable.
    pub fn monitor(&self, act: Act, flow: &Flow, stmt: StmtId, var: Var) -> HeldLock {
        let path = self.paths.path(flow, act, var);
        let objects = self.world.pointsto.pts(act, var);
        let kind = LockKind::Monitor;
        // The path to a view is that of what it is a view of.
        let mut keys: Vec<LockKey> =
            Some(path).filter(|path| path.view.is_none()).map(key).into_iter().collect();
        keys.extend(self.unique_key(objects, kind));
        let nodes = self.nodes(act, flow, Some(var), objects, kind);
        HeldLock { keys, shared: false, kind, objects: sorted(objects), nodes, act, stmt: Some(stmt) }
    }

    /// The same lock, if its variable refers to one of these objects only.
    pub fn among(&self, lock: &HeldLock, var: Var, objects: &IdSet<Obj>) -> HeldLock {
        let Some(flow) = self.world.flow(lock.act) else { return lock.clone() };
        let objects = match lock.kind {
            LockKind::Explicit => self.locked(objects).0,
            LockKind::Monitor => objects.clone(),
        };
        let mut keys = lock.keys.clone();
        keys.extend(self.unique_key(&objects, lock.kind).filter(|key| !lock.keys.contains(key)));
        let nodes = self.nodes(lock.act, flow, Some(var), &objects, lock.kind);
        HeldLock { keys, objects: sorted(&objects), nodes, ..lock.clone() }
    }

    /// A private part is known by its whole: by the one it was loaded from, or by all it may belong to.
    fn nodes(
        &self,
        act: Act,
        flow: &Flow,
        var: Option<Var>,
        objects: &IdSet<Obj>,
        kind: LockKind,
    ) -> Vec<LockNode> {
        let node = |of: Option<Obj>, object: Obj| match (kind, of) {
            (LockKind::Explicit, of) => LockNode::Explicit { of, object },
            (LockKind::Monitor, Some(of)) => LockNode::Part { of, object },
            (LockKind::Monitor, None) => LockNode::Object(object),
        };
        let mut nodes = Vec::new();
        for object in objects.iter() {
            if matches!(self.world.pointsto.object(object).site, Site::Merged | Site::Opaque) {
                continue;
            }
            if self.owners.wholes(object).is_none() {
                nodes.push(node(None, object));
                continue;
            }
            let wholes = var.and_then(|var| self.loaded_from(act, flow, var, object));
            let wholes = wholes.unwrap_or_else(|| self.owners.tops(object));
            nodes.extend(wholes.into_iter().map(|of| node(Some(of), object)));
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The wholes that a variable's object, a private part, was loaded from.
    fn loaded_from(&self, act: Act, flow: &Flow, var: Var, object: Obj) -> Option<Vec<Obj>> {
        let wholes = self.owners.wholes(object)?;
        let (stmt, &StmtKind::Load { base, .. }) = flow.definition(flow.source(var))? else { return None };
        if !self.owners.is_private(flow.field(stmt)?) {
            return None;
        }
        let mut found = Vec::new();
        for whole in self.world.pointsto.pts(act, base).iter().filter(|whole| wholes.contains(whole)) {
            match self.loaded_from(act, flow, base, whole) {
                Some(above) => found.extend(above),
                None => found.extend(self.owners.tops(whole)),
            }
        }
        Some(found)
    }

    pub fn of_operand(
        &self,
        act: Act,
        flow: &Flow,
        stmt: StmtId,
        operand: &Operand,
        shared: bool,
    ) -> HeldLock {
        match self.world.operand_var(act, stmt, operand) {
            Some(var) => self.of_var(act, flow, stmt, var, shared),
            None => {
                let (objects, mode) = self.locked(&self.world.operand(act, stmt, operand));
                let kind = LockKind::Explicit;
                let keys = self.unique_key(&objects, kind).into_iter().collect();
                let shared = shared || mode.unwrap_or(false);
                let nodes = self.nodes(act, flow, None, &objects, kind);
                HeldLock { keys, shared, kind, objects: sorted(&objects), nodes, act, stmt: Some(stmt) }
            }
        }
    }

    /// Two locks on the same way from two variables that are the same two values: the locks of these values.
    pub fn swapped(
        &self,
        act: Act,
        flow: &Flow,
        first: &HeldLock,
        second: &HeldLock,
    ) -> Option<[HeldLock; 2]> {
        let (a, steps) = own_path(first)?;
        let (b, others) = own_path(second)?;
        if a == b || steps != others {
            return None;
        }
        let [x, y] = swapped(self.paths, flow, act, a, b)?;
        let of = |value: Var| {
            // Both end in the same step, so that they are of one kind.
            let keys = vec![key(self.paths.extend(flow, act, value, steps)?)];
            Some(HeldLock { keys, shared: first.shared || second.shared, ..first.clone() })
        };
        Some([of(x)?, of(y)?])
    }

    /// What a synchronized method holds.
    pub fn of_method(&self, act: Act, flow: &Flow) -> Option<HeldLock> {
        let method = self.world.program.method(flow.method);
        if method.access & access::SYNCHRONIZED == 0 {
            return None;
        }
        let kind = LockKind::Monitor;
        if method.is_static() {
            return Some(match self.views.literal(method.class) {
                Some(obj) => {
                    let (keys, nodes) = (vec![LockKey::Unique(obj)], vec![LockNode::Object(obj)]);
                    HeldLock { keys, shared: false, kind, objects: vec![obj], nodes, act, stmt: None }
                }
                // Nobody mentions the class object, so that only its synchronized methods lock it.
                None => {
                    let class = method.class;
                    let (keys, nodes) = (vec![LockKey::Class(class)], vec![LockNode::Class(class)]);
                    HeldLock { keys, shared: false, kind, objects: Vec::new(), nodes, act, stmt: None }
                }
            });
        }
        let this = *flow.body.params.first()?;
        Some(HeldLock { stmt: None, ..self.monitor(act, flow, StmtId(0), this) })
    }

    fn unique_key(&self, objects: &IdSet<Obj>, kind: LockKind) -> Option<LockKey> {
        let key = match kind {
            LockKind::Monitor => LockKey::Unique,
            LockKind::Explicit => LockKey::UniqueExplicit,
        };
        objects.single().filter(|&obj| self.unique.contains(obj)).map(key)
    }

    /// Views replaced by what they stand for, and the mode they agree on.
    fn locked(&self, objects: &IdSet<Obj>) -> (IdSet<Obj>, Option<bool>) {
        let mut locked = IdSet::new();
        let mut modes = BTreeSet::new();
        for obj in objects.iter() {
            match self.views.of(obj) {
                Some((viewed, mode)) => {
                    locked.union_with(viewed);
                    modes.insert(*mode);
                }
                None => {
                    locked.insert(obj);
                    modes.insert(None);
                }
            }
        }
        let mode = if modes.len() == 1 { modes.first().copied().flatten() } else { None };
        // A lock that is sometimes shared excludes no more than a shared one.
        let mode = if modes.len() > 1 && modes.contains(&Some(true)) { Some(true) } else { mode };
        (locked, mode)
    }

    /// A caller's lock in the callee's terms. Keys that cannot be told there are lost.
    pub fn down(&self, caller: Act, stmt: StmtId, callee: Act, lock: &HeldLock) -> HeldLock {
        let is_path = |key: &LockKey| matches!(key, LockKey::Path { .. });
        let mut keys: Vec<LockKey> = lock.keys.iter().filter(|key| !is_path(key)).cloned().collect();
        if lock.keys.iter().any(is_path)
            && let Some(flow) = self.world.flow(caller)
        {
            let params = self.world.program.method(self.world.pointsto.method(callee)).params.len();
            for binding in self.world.bindings(caller, stmt, callee) {
                if binding.param >= params {
                    continue;
                }
                // Parameters are the first variables of every body.
                let param = Var::new(binding.param);
                for key in &lock.keys {
                    let LockKey::Path { root, steps } = key else { continue };
                    let found = self.ways_from(flow, caller, binding.var, binding.capture, *root, steps);
                    keys.extend(found.into_iter().map(|steps| LockKey::Path { root: param, steps }));
                }
            }
        }
        keys.sort_unstable();
        keys.dedup();
        HeldLock { keys, ..lock.clone() }
    }

    /// Ways from the value a parameter is bound to, to the lock.
    fn ways_from(
        &self,
        flow: &Flow,
        act: Act,
        var: Var,
        capture: Option<u16>,
        root: Var,
        steps: &[PathStep],
    ) -> Vec<Vec<PathStep>> {
        let captures = self.paths.captures(flow, var);
        match capture {
            Some(n) => {
                // Made here: what it has captured. Passed in: the way through its captures.
                let here = captures.iter().find(|(step, _)| *step == PathStep::Capture(n));
                if let Some(&(_, captured)) = here {
                    return self.paths.relative(flow, act, captured, root, steps).into_iter().collect();
                }
                let path = self.paths.path(flow, act, var);
                let through = path.steps.iter().copied().chain([PathStep::Capture(n)]).collect::<Vec<_>>();
                if path.root == PathRoot::Var(root) && steps.starts_with(&through) {
                    return vec![steps[through.len()..].to_vec()];
                }
                Vec::new()
            }
            None => {
                let mut ways: Vec<Vec<PathStep>> =
                    self.paths.relative(flow, act, var, root, steps).into_iter().collect();
                for (step, captured) in captures {
                    let path = self.paths.path(flow, act, captured);
                    if path.root == PathRoot::Var(root) && steps.starts_with(&path.steps) {
                        let rest = steps[path.steps.len()..].iter().copied();
                        ways.push(std::iter::once(step).chain(rest).collect());
                    }
                }
                ways
            }
        }
    }

    /// A callee's lock in the caller's terms.
    pub fn up(&self, caller: Act, stmt: StmtId, callee: Act, lock: &HeldLock) -> HeldLock {
        let mut keys = Vec::new();
        let (Some(flow), Some(called)) = (self.world.flow(caller), self.world.flow(callee)) else {
            return HeldLock { keys, ..lock.clone() };
        };
        let bindings = self.world.bindings(caller, stmt, callee);
        for key in &lock.keys {
            let LockKey::Path { root, steps } = key else {
                keys.push(key.clone());
                continue;
            };
            let Some(param) = called.body.params.iter().position(|param| param == root) else { continue };
            for binding in bindings.iter().filter(|binding| binding.param == param) {
                let var = match binding.capture {
                    None => binding.var,
                    Some(n) => {
                        let captures = self.paths.captures(flow, binding.var);
                        let found = captures.iter().find(|(step, _)| *step == PathStep::Capture(n));
                        let Some(&(_, captured)) = found else { continue };
                        captured
                    }
                };
                if let Some(path) = self.paths.extend(flow, caller, var, steps) {
                    keys.push(self::key(path));
                }
            }
        }
        keys.sort_unstable();
        keys.dedup();
        HeldLock { keys, ..lock.clone() }
    }
}

/// The path by which the lock is known where it was taken.
fn own_path(lock: &HeldLock) -> Option<(Var, &[PathStep])> {
    lock.keys.iter().find_map(|key| match key {
        LockKey::Path { root, steps } => Some((*root, steps.as_slice())),
        _ => None,
    })
}

fn key(path: Path) -> LockKey {
    match path.root {
        PathRoot::Var(root) => LockKey::Path { root, steps: path.steps },
        PathRoot::Static(field) => LockKey::Static { field, steps: path.steps },
        PathRoot::Text(text) => LockKey::Text(text),
    }
}

/// The explicit lock at the end of a path.
fn explicit(mut key: LockKey) -> LockKey {
    if let LockKey::Path { steps, .. } | LockKey::Static { steps, .. } = &mut key {
        steps.push(PathStep::Explicit);
    }
    key
}
