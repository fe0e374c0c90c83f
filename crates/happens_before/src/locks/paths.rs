//! Which variables certainly hold the same object: paths of fields that never change, from a root of the
//! method. Knows bodies and which fields are stable; knows no lock.

use crate::bits::Bits;
use crate::flow::Flow;
use crate::stores::Stores;
use crate::types::PathStep;
use crate::world::World;
use arena::{Id, Name};
use ir::{Const, FieldId, MethodId, MethodRef, StmtId, StmtKind, Var, access};
use models::Step;
use pointsto::{Act, PointsToDelta};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Asked, Changes, Kind, Memo, Read, Sizes, note};

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

#[derive(Debug)]
pub struct Paths {
    /// Fields that never change once their object is constructed (or their class initialised).
    stable: Bits,
    aliases: FxHashMap<FieldId, Alias>,
    /// By constructor: the fields that it fills, known by other paths as well.
    found_aliases: Memo<MethodId, Vec<(FieldId, Alias)>>,
    /// By constructor: fields in which it keeps a parameter.
    kept: Memo<MethodId, Vec<(FieldId, usize)>>,
    constructors: FxHashMap<MethodRef, MethodId>,
    /// What small methods return.
    returned: Asked<MethodId, Option<(Option<usize>, Path)>>,
    /// By activation: calls whose results are known by a path.
    results: Memo<Act, Vec<(StmtId, CallResult)>>,
    follows: bool,
}

/// A field that holds what is also known by another path from the same object.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Alias {
    steps: Vec<PathStep>,
    view: Option<bool>,
}

impl Alias {
    /// The first field of an alias may itself be known otherwise.
    fn by_others(&self, others: &FxHashMap<FieldId, &Alias>) -> Alias {
        let mut alias = self.clone();
        for _ in 0..HIGHEST {
            let Some(&PathStep::Field(first)) = alias.steps.first() else { break };
            let Some(other) = others.get(&first).filter(|other| other.view.is_none()) else { break };
            alias.steps.splice(..1, other.steps.iter().copied());
        }
        alias.steps.truncate(LONGEST);
        alias
    }
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

/// Whose call results, and which names of fields, a path may use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// Of this activation.
    Act(Act),
    /// The same, but not the other names of fields, which are still being found out.
    Unnamed(Act),
    /// Of nobody in particular: what the body says.
    Body,
}

impl Default for Paths {
    fn default() -> Paths {
        Paths::new(false)
    }
}

impl Paths {
    pub fn new(follows: bool) -> Paths {
        Paths {
            stable: Bits::new(),
            aliases: FxHashMap::default(),
            found_aliases: Memo::new(Kind::Other, follows),
            kept: Memo::new(Kind::Kept, follows),
            constructors: FxHashMap::default(),
            returned: Asked::new(Kind::Returned, follows),
            results: Memo::new(Kind::Results, follows),
            follows,
        }
    }

    /// `settled`: fields that are stable now, or no longer.
    pub fn update(
        &mut self,
        world: &World<'_>,
        stores: &Stores,
        settled: &[FieldId],
        delta: &PointsToDelta,
        changes: &mut Changes,
    ) {
        if changes.everything {
            *self = Paths::new(self.follows);
        }
        self.update_stable(world, stores, settled, changes);
        let (acts, methods) = if changes.everything {
            (world.pointsto.acts().collect(), world.methods())
        } else {
            let acts: BTreeSet<Act> = delta.acts.added.iter().chain(&delta.acts.removed).copied().collect();
            (acts, acts_to_methods(world, delta))
        };
        self.update_kept(world, stores, &methods, changes);
        let mut returned = std::mem::replace(&mut self.returned, Asked::new(Kind::Returned, self.follows));
        returned.refresh(changes, |&method| self.find_returned(world, method));
        self.returned = returned;
        let mut results = std::mem::replace(&mut self.results, Memo::new(Kind::Results, self.follows));
        let stale: Vec<Act> =
            acts.into_iter().chain(results.stale(changes)).collect::<BTreeSet<_>>().into_iter().collect();
        results.update(&stale, changes, |act| self.find_results(world, act));
        self.results = results;
        self.update_aliases(world, stores, methods, changes);
    }

    /// Final fields may be set where no body says so (natives, opaque classes).
    fn update_stable(
        &mut self,
        world: &World<'_>,
        stores: &Stores,
        settled: &[FieldId],
        changes: &mut Changes,
    ) {
        let is_final = |field: FieldId| world.program.field(field).access & access::FINAL != 0;
        let declared: Vec<FieldId> = changes.of(Kind::Field).collect();
        for field in settled.iter().copied().chain(declared) {
            let differs = match stores.is_stable(field) || is_final(field) {
                true => self.stable.insert(field.index()),
                false => self.stable.remove(field.index()),
            };
            if differs {
                changes.add(Read::of(Kind::Stable, field));
            }
        }
        if changes.contains(Read::all(Kind::Loaded)) {
            for at in 0..world.program.class_count() {
                for &field in &world.program.class(ir::ClassId::new(at)).fields {
                    if is_final(field) && self.stable.insert(field.index()) {
                        changes.add(Read::of(Kind::Stable, field));
                    }
                }
            }
        }
    }

    fn update_kept(
        &mut self,
        world: &World<'_>,
        stores: &Stores,
        methods: &[MethodId],
        changes: &mut Changes,
    ) {
        let mut kept = std::mem::replace(&mut self.kept, Memo::new(Kind::Kept, self.follows));
        let stale: Vec<MethodId> =
            methods.iter().copied().chain(kept.stale(changes)).collect::<BTreeSet<_>>().into_iter().collect();
        kept.update(&stale, changes, |method| self.find_kept(world, stores, method));
        for method in stale {
            let constructor = world.program.method_ref(method);
            if kept.peek(method).is_some() && self.constructors.insert(constructor, method).is_none() {
                changes.add(Read::all(Kind::Kept));
            }
        }
        self.kept = kept;
    }

    fn update_aliases(
        &mut self,
        world: &World<'_>,
        stores: &Stores,
        methods: Vec<MethodId>,
        changes: &mut Changes,
    ) {
        let mut found = std::mem::replace(&mut self.found_aliases, Memo::new(Kind::Other, self.follows));
        let stale: Vec<MethodId> =
            methods.into_iter().chain(found.stale(changes)).collect::<BTreeSet<_>>().into_iter().collect();
        let redone = found.redo(&stale, changes, |method| self.find_aliases(world, stores, method));
        self.found_aliases = found;
        if !redone.is_empty() {
            let all = self.found_aliases.iter().flat_map(|(_, aliases)| aliases);
            let plain: FxHashMap<FieldId, &Alias> = all.map(|(field, alias)| (*field, alias)).collect();
            let aliases: FxHashMap<FieldId, Alias> =
                plain.iter().map(|(&field, &alias)| (field, alias.by_others(&plain))).collect();
            let before = std::mem::take(&mut self.aliases);
            for field in before.keys().chain(aliases.keys()) {
                if before.get(field) != aliases.get(field) {
                    changes.add(Read::of(Kind::Alias, *field));
                }
            }
            self.aliases = aliases;
        }
    }

    pub fn is_stable(&self, field: FieldId) -> bool {
        note(Read::of(Kind::Stable, field));
        self.stable.contains(field.index())
    }

    /// The path of a variable. Equal paths of one execution of a method are equal objects.
    pub fn path(&self, flow: &Flow, act: Act, var: Var) -> Path {
        self.follow(flow, By::Act(act), var, DEEPEST)
    }

    fn follow(&self, flow: &Flow, by: By, var: Var, depth: usize) -> Path {
        let root = Path::of(var);
        let (Some((stmt, kind)), true) = (flow.definition(var), depth > 0) else { return root };
        match kind {
            StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. } => self.follow(flow, by, *src, depth - 1),
            StmtKind::Phi { srcs, .. } => self.follow_phi(flow, by, var, srcs, depth / 2),
            StmtKind::Load { base, .. } => match flow.field(stmt) {
                Some(field) if self.is_stable(field) => {
                    let base = self.follow(flow, by, *base, depth - 1);
                    self.load(flow, by, base, field, depth).unwrap_or(root)
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
            StmtKind::Call { .. } => match self.result(by, stmt) {
                Some(CallResult::View { of, shared }) => {
                    Path { view: Some(*shared), ..self.follow(flow, by, *of, depth - 1) }
                }
                Some(CallResult::FromArg { arg, steps }) => {
                    self.follow(flow, by, *arg, depth - 1).then(steps)
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
    fn follow_phi(&self, flow: &Flow, by: By, var: Var, srcs: &[Var], depth: usize) -> Path {
        let mut found: Option<Path> = None;
        for &src in srcs.iter().filter(|&&src| src != var) {
            let path = self.follow(flow, by, src, depth);
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
    fn load(&self, flow: &Flow, by: By, base: Path, field: FieldId, depth: usize) -> Option<Path> {
        // A new object's field is what its constructor was given for it.
        if let PathRoot::Var(root) = base.root
            && base.steps.is_empty()
            && let Some(arg) = self.kept_by(flow, root, field)
        {
            return Some(self.follow(flow, by, arg, depth - 1));
        }
        if base.steps.len() >= LONGEST || base.view.is_some() {
            return None;
        }
        let alias = if let By::Act(_) = by { self.alias(field) } else { None };
        Some(match alias {
            Some(alias) => Path { view: alias.view, ..base.then(&alias.steps) },
            None => base.then(&[PathStep::Field(field)]),
        })
    }

    fn alias(&self, field: FieldId) -> Option<&Alias> {
        note(Read::of(Kind::Alias, field));
        self.aliases.get(&field)
    }

    fn result(&self, by: By, stmt: StmtId) -> Option<&CallResult> {
        let (By::Act(act) | By::Unnamed(act)) = by else { return None };
        let results = self.results.get(act)?;
        let at = results.binary_search_by_key(&stmt, |&(at, _)| at).ok()?;
        Some(&results[at].1)
    }

    /// The path of what further steps from a variable lead to.
    pub fn extend(&self, flow: &Flow, act: Act, var: Var, steps: &[PathStep]) -> Option<Path> {
        let mut path = self.path(flow, act, var);
        for &step in steps {
            match step {
                PathStep::Field(field) => path = self.load(flow, By::Act(act), path, field, DEEPEST)?,
                PathStep::Explicit => path = path.then(&[step]),
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
        let &(_, param) = self.kept(target).iter().find(|(kept, _)| *kept == field)?;
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
                let kept = self.kept(target).iter();
                kept.filter_map(|&(field, param)| Some((PathStep::Field(field), *args.get(param)?))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Fields in which a constructor keeps a parameter.
    fn kept(&self, constructor: &MethodRef) -> &[(FieldId, usize)] {
        let Some(&method) = self.constructors.get(constructor) else {
            // Whether it ever will keep one is not known either.
            note(Read::all(Kind::Kept));
            return &[];
        };
        self.kept.get(method).map_or(&[], Vec::as_slice)
    }

    fn find_kept(
        &self,
        world: &World<'_>,
        stores: &Stores,
        method: MethodId,
    ) -> Option<Vec<(FieldId, usize)>> {
        if world.is_jdk_method(method) {
            return None;
        }
        let mut kept = Vec::new();
        for stored in stores.of(method) {
            if !self.is_stable(stored.field) || !stores.is_single(stored.field) {
                continue;
            }
            let flow = world.method_flow(method)?;
            if let StmtKind::Store { src, .. } = flow.body.stmts[stored.stmt].kind {
                let src = flow.source(src);
                let param = flow.body.params.iter().position(|&param| param == src);
                kept.extend(param.map(|param| (stored.field, param)));
            }
        }
        (!kept.is_empty()).then_some(kept)
    }

    /// `Lock lock() { return this.lock; }`: the result of a call is a path from its argument. What models call a
    /// view is one of their operand.
    fn find_results(&self, world: &World<'_>, act: Act) -> Option<Vec<(StmtId, CallResult)>> {
        if !world.pointsto.runs(act) {
            return None;
        }
        let mut results: BTreeMap<StmtId, CallResult> = BTreeMap::new();
        for &(stmt, step) in world.sync(act) {
            if let Step::View { of, shared } = step
                && let Some(of) = world.operand_var(act, stmt, of)
            {
                results.insert(stmt, CallResult::View { of, shared: *shared });
            }
        }
        if !world.is_jdk(act) {
            let body = world.program.lowered(world.pointsto.method(act))?;
            for (stmt, info) in body.stmts.iter() {
                let StmtKind::Call { dst: Some(dst), args, .. } = &info.kind else { continue };
                if body.vars[*dst].is_ref && !results.contains_key(&stmt) {
                    let result = self.find_result(world, act, stmt, args);
                    result.into_iter().for_each(|result| _ = results.insert(stmt, result));
                }
            }
        }
        (!results.is_empty()).then(|| results.into_iter().collect())
    }

    fn find_result(&self, world: &World<'_>, act: Act, stmt: StmtId, args: &[Var]) -> Option<CallResult> {
        let callees = world.pointsto.callees(act, stmt);
        let mut results = callees.iter().map(|&callee| {
            let is_plain = world.bindings_are_plain(act, stmt, callee);
            let method = world.pointsto.method(callee);
            if is_plain { self.returned.ask(&method, || self.find_returned(world, method)) } else { None }
        });
        let first = results.next()??;
        if !results.all(|other| other.as_ref() == Some(&first)) {
            return None;
        }
        let (param, path) = first;
        match (param, path.root) {
            (_, PathRoot::Static(field)) => Some(CallResult::FromStatic { field, steps: path.steps }),
            (Some(param), _) => args.get(param).map(|&arg| CallResult::FromArg { arg, steps: path.steps }),
            (None, _) => None,
        }
    }

    /// The path every return of a small method returns, from a parameter or a static field.
    fn find_returned(&self, world: &World<'_>, method: MethodId) -> Option<(Option<usize>, Path)> {
        let body = world.program.lowered(method)?;
        if body.stmts.count() > LARGEST_GETTER {
            return None;
        }
        let flow = world.method_flow(method)?;
        let mut found: Option<Path> = None;
        for (_, stmt) in body.stmts.iter() {
            if let StmtKind::Return { value: Some(value) } = stmt.kind {
                let path = self.follow(flow, By::Body, value, DEEPEST);
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
    fn find_aliases(
        &self,
        world: &World<'_>,
        stores: &Stores,
        method: MethodId,
    ) -> Option<Vec<(FieldId, Alias)>> {
        if world.is_jdk_method(method) {
            return None;
        }
        let mut aliases = Vec::new();
        let mut by_root: BTreeMap<Var, Vec<(FieldId, Path)>> = BTreeMap::new();
        for stored in stores.of(method) {
            let field = stored.field;
            if !self.is_stable(field) || !stores.is_single(field) {
                continue;
            }
            let flow = world.method_flow(method)?;
            let acts = world.acts_of(method).iter().copied();
            let act = acts.min_by(|&a, &b| world.content.acts(a, b))?;
            let StmtKind::Store { base, src, .. } = flow.body.stmts[stored.stmt].kind else { continue };
            let path = self.follow(flow, By::Unnamed(act), src, DEEPEST);
            match path.root {
                PathRoot::Var(root) if root == base => {
                    let itself = [PathStep::Field(field)];
                    if !path.steps.is_empty() && path.steps != itself {
                        aliases.push((field, Alias { steps: path.steps, view: path.view }));
                    }
                }
                PathRoot::Var(root) => by_root.entry(root).or_default().push((field, path)),
                PathRoot::Static(_) | PathRoot::Text(_) => {}
            }
        }
        for (root, fields) in by_root {
            if fields.len() > 1 || fields.iter().any(|(_, path)| path.view.is_some()) {
                for (field, path) in fields {
                    let steps = std::iter::once(PathStep::Made(method, root)).chain(path.steps).collect();
                    aliases.push((field, Alias { steps, view: path.view }));
                }
            }
        }
        (!aliases.is_empty()).then_some(aliases)
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.found_aliases.sizes(sizes);
        self.kept.sizes(sizes);
        self.returned.sizes(sizes);
        self.results.sizes(sizes);
        sizes.add("aliases", self.aliases.len());
        sizes.add("constructors", self.constructors.len());
    }
}

/// Methods of which activations came or went.
fn acts_to_methods(world: &World<'_>, delta: &PointsToDelta) -> Vec<MethodId> {
    let acts = delta.acts.added.iter().chain(&delta.acts.removed);
    acts.map(|&act| world.pointsto.method(act)).collect::<BTreeSet<_>>().into_iter().collect()
}
