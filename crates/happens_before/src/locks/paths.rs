//! Which variables certainly hold the same object: paths of fields that never change, from a root of the
//! method. Knows bodies and which fields are stable; knows no lock.

use crate::bits::Bits;
use crate::flow::Flow;
use crate::types::PathStep;
use crate::world::World;
use arena::{Id, Name};
use ir::{Const, FieldId, MethodId, MethodRef, StmtId, StmtKind, Var, access};
use models::Step;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Longer paths are cut: they would be new roots anyway.
const LONGEST: usize = 6;
/// Definitions followed to find a path.
const DEEPEST: usize = 24;
/// Longest way up from an object to an owner.
const HIGHEST: usize = 3;
/// Larger methods are not getters.
const LARGEST_GETTER: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Path {
    pub root: PathRoot,
    pub steps: Vec<PathStep>,
    /// The value is a view of what the path leads to, in shared mode or not.
    pub view: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PathRoot {
    Var(Var),
    Static(FieldId),
    /// A string constant.
    Text(Name),
}

#[derive(Debug, Clone, Default)]
pub struct Paths {
    /// Fields that never change once their object is constructed (or their class initialised).
    stable: Bits,
    aliases: FxHashMap<FieldId, Alias>,
    /// Fields in which a constructor keeps a parameter.
    kept: FxHashMap<MethodRef, Vec<(FieldId, usize)>>,
    results: FxHashMap<(Act, StmtId), CallResult>,
}

/// A field that holds what is also known by another path from the same object.
#[derive(Debug, Clone)]
struct Alias {
    steps: Vec<PathStep>,
    view: Option<bool>,
}

/// A call whose result is known by a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum CallResult {
    View { of: Var, shared: bool },
    FromArg { arg: Var, steps: Vec<PathStep> },
    FromStatic { field: FieldId, steps: Vec<PathStep> },
}

impl Path {
    fn of(root: Var) -> Path {
        Path { root: PathRoot::Var(root), steps: Vec::new(), view: None }
    }

    fn then(mut self, steps: &[PathStep]) -> Path {
        self.steps.extend_from_slice(steps);
        self
    }
}

impl Paths {
    pub fn new(world: &World<'_>) -> Paths {
        let mut paths = Paths::default();
        let stores = paths.find_stable(world);
        paths.find_views(world);
        paths.find_kept(world, &stores);
        paths.find_getters(world);
        paths.find_aliases(world, &stores);
        paths
    }

    pub fn is_stable(&self, field: FieldId) -> bool {
        self.stable.contains(field.index())
    }

    /// The path of a variable. Equal paths of one execution of a method are equal objects.
    pub fn path(&self, flow: &Flow, act: Act, var: Var) -> Path {
        self.follow(flow, Some(act), var, DEEPEST)
    }

    fn follow(&self, flow: &Flow, act: Option<Act>, var: Var, depth: usize) -> Path {
        let root = Path::of(var);
        let (Some((stmt, kind)), true) = (flow.definition(var), depth > 0) else { return root };
        match kind {
            StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. } => {
                self.follow(flow, act, *src, depth - 1)
            }
            StmtKind::Phi { srcs, .. } => self.follow_phi(flow, act, var, srcs, depth / 2),
            StmtKind::Load { base, .. } => match flow.field(stmt) {
                Some(field) if self.is_stable(field) => {
                    let base = self.follow(flow, act, *base, depth - 1);
                    self.load(flow, act, base, field, depth).unwrap_or(root)
                }
                _ => root,
            },
            StmtKind::LoadStatic { .. } => match flow.field(stmt) {
                Some(field) if self.is_stable(field) => {
                    Path { root: PathRoot::Static(field), steps: Vec::new(), view: None }
                }
                _ => root,
            },
            StmtKind::Const { value: Const::String(text), .. } => {
                Path { root: PathRoot::Text(*text), steps: Vec::new(), view: None }
            }
            StmtKind::Call { .. } => match act.and_then(|act| self.results.get(&(act, stmt))) {
                Some(CallResult::View { of, shared }) => {
                    Path { view: Some(*shared), ..self.follow(flow, act, *of, depth - 1) }
                }
                Some(CallResult::FromArg { arg, steps }) => {
                    self.follow(flow, act, *arg, depth - 1).then(steps)
                }
                Some(CallResult::FromStatic { field, steps }) => {
                    Path { root: PathRoot::Static(*field), steps: steps.clone(), view: None }
                }
                None => root,
            },
            _ => root,
        }
    }

    /// A phi of one value is that value.
    fn follow_phi(&self, flow: &Flow, act: Option<Act>, var: Var, srcs: &[Var], depth: usize) -> Path {
        let mut found: Option<Path> = None;
        for &src in srcs.iter().filter(|&&src| src != var) {
            let path = self.follow(flow, act, src, depth);
            if path.root == PathRoot::Var(var) {
                continue;
            }
            match &found {
                None => found = Some(path),
                Some(known) if *known == path => {}
                Some(_) => return Path::of(var),
            }
        }
        found.unwrap_or(Path::of(var))
    }

    /// base.field, by the name the object is best known by. `None` if that is too long.
    fn load(&self, flow: &Flow, act: Option<Act>, base: Path, field: FieldId, depth: usize) -> Option<Path> {
        // A new object's field is what its constructor was given for it.
        if let PathRoot::Var(root) = base.root
            && base.steps.is_empty()
            && let Some(arg) = self.kept_by(flow, root, field)
        {
            return Some(self.follow(flow, act, arg, depth - 1));
        }
        if base.steps.len() >= LONGEST || base.view.is_some() {
            return None;
        }
        Some(match self.aliases.get(&field) {
            Some(alias) => Path { view: alias.view, ..base.then(&alias.steps) },
            None => base.then(&[PathStep::Field(field)]),
        })
    }

    /// The path of what further steps from a variable lead to.
    pub fn extend(&self, flow: &Flow, act: Act, var: Var, steps: &[PathStep]) -> Option<Path> {
        let mut path = self.path(flow, act, var);
        for &step in steps {
            match step {
                PathStep::Field(field) => path = self.load(flow, Some(act), path, field, DEEPEST)?,
                _ if path.view.is_some() || path.steps.len() >= LONGEST => return None,
                PathStep::Capture(_) if path.steps.is_empty() => {
                    let PathRoot::Var(root) = path.root else { return None };
                    let captures = self.captures(flow, root);
                    match captures.iter().find(|(captured, _)| *captured == step) {
                        Some(&(_, var)) => path = self.path(flow, act, var),
                        None => path = path.then(&[step]),
                    }
                }
                _ => path = path.then(&[step]),
            }
        }
        Some(path)
    }

    /// The way from the object in `base` to the lock at `root.steps`: up to owners, then down.
    pub fn relative(
        &self,
        flow: &Flow,
        act: Act,
        base: Var,
        root: Var,
        steps: &[PathStep],
    ) -> Option<Vec<PathStep>> {
        let mut way = Vec::new();
        let mut base = base;
        while way.len() <= HIGHEST {
            let path = self.path(flow, act, base);
            if path.view.is_some() {
                return None;
            }
            let PathRoot::Var(from) = path.root else { return None };
            let common = if from == root {
                path.steps.iter().zip(steps).take_while(|(a, b)| a == b).count()
            } else {
                0
            };
            for step in path.steps[common..].iter().rev() {
                let PathStep::Field(field) = step else { return None };
                way.push(PathStep::Owner(*field));
            }
            if from == root {
                way.extend_from_slice(&steps[common..]);
                return (way.len() <= HIGHEST + steps.len()).then_some(way);
            }
            // The root was loaded from something that may change: its owner then.
            match flow.definition(from) {
                Some((stmt, &StmtKind::Load { base: owner, .. })) => {
                    way.push(PathStep::Owner(flow.field(stmt)?));
                    base = owner;
                }
                Some((_, &StmtKind::LoadElem { base: owner, .. })) => {
                    way.push(PathStep::OwnerArray);
                    base = owner;
                }
                _ => return None,
            }
        }
        None
    }

    fn kept_by(&self, flow: &Flow, var: Var, field: FieldId) -> Option<Var> {
        let StmtKind::Call { target, args, .. } = &flow.body.stmts[flow.constructor(var)?].kind else {
            return None;
        };
        let &(_, param) = self.kept.get(target)?.iter().find(|(kept, _)| *kept == field)?;
        args.get(param).copied()
    }

    /// What an object made in this method has captured: variables that its fields or captures hold.
    pub fn captures(&self, flow: &Flow, var: Var) -> Vec<(PathStep, Var)> {
        let var = flow.source(var);
        match flow.definition(var) {
            Some((_, StmtKind::Lambda { captures, .. })) => {
                let captures = captures.iter().enumerate();
                captures.map(|(n, &captured)| (PathStep::Capture(n as u16), captured)).collect()
            }
            Some((_, StmtKind::New { .. })) => {
                let Some(call) = flow.constructor(var) else { return Vec::new() };
                let StmtKind::Call { target, args, .. } = &flow.body.stmts[call].kind else {
                    return Vec::new();
                };
                let kept = self.kept.get(target).into_iter().flatten();
                kept.filter_map(|&(field, param)| Some((PathStep::Field(field), *args.get(param)?))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A field is stable if it is final, or stored only by constructors of its class on `this` (a static field:
    /// only by the class initialiser). Returns the one store of each field that has only one.
    fn find_stable(&mut self, world: &World<'_>) -> BTreeMap<FieldId, (MethodId, StmtId)> {
        let mut stores: BTreeMap<FieldId, (MethodId, StmtId)> = BTreeMap::new();
        let mut repeated = Bits::new();
        let mut unstable = Bits::new();
        for method in world.methods() {
            let Some(body) = world.program.lowered(method) else { continue };
            let info = world.program.method(method);
            let name = world.program.selector_text(info.selector).0;
            for (stmt, kind) in body.stmts.iter().map(|(stmt, info)| (stmt, &info.kind)) {
                let (field, maker, on_this) = match kind {
                    StmtKind::Store { base, field, .. } => {
                        (*field, "<init>", body.params.first() == Some(base))
                    }
                    StmtKind::StoreStatic { field, .. } => (*field, "<clinit>", true),
                    _ => continue,
                };
                let Some(field) = world.resolve_field(field) else { continue };
                if name != maker || !on_this || world.program.field(field).class != info.class {
                    unstable.insert(field.index());
                }
                if stores.insert(field, (method, stmt)).is_some() {
                    repeated.insert(field.index());
                }
            }
        }
        for &field in stores.keys() {
            if !unstable.contains(field.index()) {
                self.stable.insert(field.index());
            }
        }
        // Final fields may be set where no body says so (natives, opaque classes).
        for at in 0..world.program.class_count() {
            for &field in &world.program.class(ir::ClassId::new(at)).fields {
                if world.program.field(field).access & access::FINAL != 0 {
                    self.stable.insert(field.index());
                }
            }
        }
        stores.retain(|field, _| !repeated.contains(field.index()));
        stores
    }

    fn find_views(&mut self, world: &World<'_>) {
        for act in world.pointsto.acts() {
            for &(stmt, step) in world.sync(act) {
                if let Step::View { of, shared } = step
                    && let Some(of) = world.operand_var(act, stmt, of)
                {
                    self.results.insert((act, stmt), CallResult::View { of, shared: *shared });
                }
            }
        }
    }

    fn find_kept(&mut self, world: &World<'_>, stores: &BTreeMap<FieldId, (MethodId, StmtId)>) {
        for (&field, &(method, stmt)) in stores {
            if !self.is_stable(field) || world.is_jdk_method(method) {
                continue;
            }
            let info = world.program.method(method);
            let Some(flow) = world.method_flow(method) else { continue };
            if let StmtKind::Store { src, .. } = flow.body.stmts[stmt].kind {
                let src = flow.source(src);
                if let Some(param) = flow.body.params.iter().position(|&param| param == src) {
                    let constructor = MethodRef { class: info.class, selector: info.selector };
                    self.kept.entry(constructor).or_default().push((field, param));
                }
            }
        }
    }

    /// `Lock lock() { return this.lock; }`: the result of a call is a path from its argument.
    fn find_getters(&mut self, world: &World<'_>) {
        let mut returned: FxHashMap<MethodId, Option<(Option<usize>, Path)>> = FxHashMap::default();
        for act in world.pointsto.acts() {
            if world.is_jdk(act) {
                continue;
            }
            let Some(body) = world.program.lowered(world.pointsto.method(act)) else { continue };
            for (stmt, info) in body.stmts.iter() {
                let StmtKind::Call { dst: Some(dst), args, .. } = &info.kind else { continue };
                if !body.vars[*dst].is_ref || self.results.contains_key(&(act, stmt)) {
                    continue;
                }
                let callees = world.pointsto.callees(act, stmt);
                let mut results = callees.iter().map(|&callee| {
                    if world.bindings_are_plain(act, stmt, callee) {
                        let method = world.pointsto.method(callee);
                        returned.entry(method).or_insert_with(|| self.returned(world, method)).clone()
                    } else {
                        None
                    }
                });
                let Some(Some(first)) = results.next() else { continue };
                if !results.all(|other| other.as_ref() == Some(&first)) {
                    continue;
                }
                let (param, path) = first;
                let result = match (param, path.root) {
                    (_, PathRoot::Static(field)) => CallResult::FromStatic { field, steps: path.steps },
                    (Some(param), _) => match args.get(param) {
                        Some(&arg) => CallResult::FromArg { arg, steps: path.steps },
                        None => continue,
                    },
                    (None, _) => continue,
                };
                self.results.insert((act, stmt), result);
            }
        }
    }

    /// The path every return of a small method returns, from a parameter or a static field.
    fn returned(&self, world: &World<'_>, method: MethodId) -> Option<(Option<usize>, Path)> {
        let body = world.program.lowered(method)?;
        if body.stmts.len() > LARGEST_GETTER {
            return None;
        }
        let flow = world.method_flow(method)?;
        let mut found: Option<Path> = None;
        for (_, stmt) in body.stmts.iter() {
            if let StmtKind::Return { value: Some(value) } = stmt.kind {
                let path = self.follow(flow, None, value, DEEPEST);
                match &found {
                    Some(known) if *known != path => return None,
                    _ => found = Some(path),
                }
            }
        }
        let path = found.filter(|path| path.view.is_none())?;
        match path.root {
            PathRoot::Static(_) => Some((None, path)),
            PathRoot::Text(_) => None,
            PathRoot::Var(root) => {
                let param = body.params.iter().position(|&param| param == root)?;
                Some((Some(param), path))
            }
        }
    }

    /// `this.read = this.rw.readLock()`: the field is known as a view of the other. Fields that one constructor
    /// fills from one local variable are known as that variable.
    fn find_aliases(&mut self, world: &World<'_>, stores: &BTreeMap<FieldId, (MethodId, StmtId)>) {
        let mut by_root: BTreeMap<(MethodId, Var), Vec<(FieldId, Path)>> = BTreeMap::new();
        let mut stores: Vec<(FieldId, (MethodId, StmtId))> =
            stores.iter().map(|(&field, &store)| (field, store)).collect();
        // In the order of the stores: an alias may be known by another.
        stores.sort_by(|(_, a), (_, b)| world.content.methods(a.0, b.0).then(a.1.cmp(&b.1)));
        for (field, (method, stmt)) in stores {
            if !self.is_stable(field) || world.is_jdk_method(method) {
                continue;
            }
            let acts = world.acts_of(method).iter().copied();
            let first = acts.min_by(|&a, &b| world.content.acts(a, b));
            let (Some(flow), Some(act)) = (world.method_flow(method), first) else { continue };
            let StmtKind::Store { base, src, .. } = flow.body.stmts[stmt].kind else { continue };
            let path = self.path(flow, act, src);
            match path.root {
                PathRoot::Var(root) if root == base => {
                    let itself = [PathStep::Field(field)];
                    if !path.steps.is_empty() && path.steps != itself {
                        self.aliases.insert(field, Alias { steps: path.steps, view: path.view });
                    }
                }
                PathRoot::Var(root) => {
                    by_root.entry((method, root)).or_default().push((field, path));
                }
                PathRoot::Static(_) | PathRoot::Text(_) => {}
            }
        }
        for ((method, root), fields) in by_root {
            if fields.len() > 1 || fields.iter().any(|(_, path)| path.view.is_some()) {
                for (field, path) in fields {
                    let steps = std::iter::once(PathStep::Made(method, root)).chain(path.steps).collect();
                    self.aliases.insert(field, Alias { steps, view: path.view });
                }
            }
        }
    }
}
