//! One activation as freshness sees it: the values that are fresh when they appear, which variables may be them,
//! and where they go. Knows the summaries of callees; whether arguments are fresh is decided by the asker.

use super::leaks::{Effect, Leak, Leaks};
use crate::flow::Flow;
use crate::owners::Owners;
use crate::types::Freshness;
use crate::world::World;
use arena::Id;
use classfile::Layer;
use ir::{StmtId, StmtKind, Var};
use models::{Operand, Root as OperandRoot, Step};
use pointsto::{Act, Obj, Slot};
use rustc_hash::{FxHashMap, FxHashSet};
use track::{Kind, Read, note};

/// Longer chains of copies are not followed.
const MOST_STEPS: usize = 64;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub roots: Vec<Root>,
    /// By variable.
    values: Vec<Value>,
    /// What values refer to.
    lists: Vec<u32>,
    pub moves: Vec<(StmtId, Move)>,
}

/// What is known of the heap as a whole.
#[derive(Clone, Copy)]
pub struct Heap<'a> {
    pub owners: &'a Owners,
    /// What origins are given: a thread is known to itself.
    pub received: &'a FxHashSet<Obj>,
}

impl Heap<'_> {
    /// Is it a private part that nobody gets but from what holds it?
    fn is_part(&self, obj: Obj) -> bool {
        note(Read::of(Kind::Received, obj));
        !self.received.contains(&obj) && self.owners.wholes(obj).is_some()
    }
}

/// Objects that origins are given when they begin.
pub fn received(world: &World<'_>, entries: impl IntoIterator<Item = Act>) -> FxHashSet<Obj> {
    let mut received = FxHashSet::default();
    for act in entries {
        for &param in world.flow(act).map_or(&[][..], |flow| &flow.body.params) {
            received.extend(world.pointsto.pts(act, param).iter());
        }
    }
    received
}

/// A value that is fresh when it appears.
#[derive(Debug, PartialEq, Eq)]
pub struct Root {
    pub var: Var,
    pub kind: Freshness,
    /// Only fresh if the callers' arguments are: the parameter.
    pub param: Option<usize>,
}

/// Where the value of a variable may come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Value {
    roots: Span,
    holders: Span,
    /// The phi that it is a copy of.
    pub phi: Option<Var>,
    /// It is one of its roots.
    pub only: bool,
    /// It is one of its roots, or a private part of one of its holders.
    pub part: bool,
    /// It is one of its roots, or was loaded from one of its holders.
    pub known: bool,
}

type Span = (u32, u32);

/// Where a fresh value goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// Others know it from now on.
    Publish(u32),
    /// Others know what it holds.
    PublishContents(u32),
    /// Into another one, or into something loaded from that.
    Keep { value: u32, holder: u32, loaded: bool },
    /// What it holds goes into another one, or into something loaded from that.
    KeepContents { value: u32, holder: u32, loaded: bool },
}

impl Look {
    pub fn new(world: &World<'_>, leaks: &Leaks, heap: &Heap<'_>, act: Act, flow: &Flow) -> Look {
        let calls = flow.body.stmts.iter().filter(|(_, info)| matches!(info.kind, StmtKind::Call { .. }));
        let effects = calls.map(|(stmt, _)| (stmt, leaks.at_call(world, act, flow, stmt))).collect();
        let mut maker = Maker {
            world,
            heap,
            act,
            flow,
            effects,
            root_of: vec![None; flow.body.vars.len()],
            made_here: FxHashMap::default(),
            look: Look::default(),
        };
        maker.find_roots();
        if !maker.look.roots.is_empty() {
            maker.find_values();
            maker.find_moves();
        }
        maker.look
    }

    pub fn value(&self, var: Var) -> Value {
        self.values.get(var.index()).copied().unwrap_or_default()
    }

    /// Fresh values it may be.
    pub fn roots_of(&self, value: Value) -> &[u32] {
        &self.lists[value.roots.0 as usize..value.roots.1 as usize]
    }

    /// Fresh values it may have been loaded from.
    pub fn holders_of(&self, value: Value) -> &[u32] {
        &self.lists[value.holders.0 as usize..value.holders.1 as usize]
    }

    fn add_list(&mut self, list: &mut Vec<u32>) -> Span {
        list.sort_unstable();
        list.dedup();
        let first = self.lists.len() as u32;
        self.lists.append(list);
        (first, self.lists.len() as u32)
    }
}

struct Maker<'a, 'w> {
    world: &'a World<'w>,
    heap: &'a Heap<'a>,
    act: Act,
    flow: &'a Flow,
    effects: Vec<(StmtId, Effect)>,
    root_of: Vec<Option<u32>>,
    made_here: FxHashMap<Obj, u32>,
    look: Look,
}

impl Maker<'_, '_> {
    fn effect(&self, stmt: StmtId) -> Option<&Effect> {
        let at = self.effects.binary_search_by_key(&stmt, |&(at, _)| at).ok()?;
        Some(&self.effects[at].1)
    }

    fn is_ref(&self, var: Var) -> bool {
        self.flow.body.vars[var].is_ref
    }

    fn find_roots(&mut self) {
        let flow = self.flow;
        for (param, &var) in flow.body.params.iter().enumerate() {
            if self.is_ref(var) {
                self.add_root(var, Freshness::Unpublished, Some(param));
            }
        }
        for (stmt, info) in flow.body.stmts.iter() {
            match info.kind {
                StmtKind::New { dst, .. } | StmtKind::NewArray { dst, .. } => {
                    let root = self.add_root(dst, Freshness::Unpublished, None);
                    let objects = self.world.pointsto.pts(self.act, dst).iter();
                    self.made_here.extend(objects.map(|obj| (obj, root)));
                }
                StmtKind::Lambda { dst, .. } => _ = self.add_root(dst, Freshness::Unpublished, None),
                StmtKind::Call { dst: Some(dst), .. } if self.is_ref(dst) => {
                    if self.world.steps(self.act, stmt).any(is_take) {
                        let mut objects = self.world.pointsto.pts(self.act, dst).iter();
                        if objects.all(|obj| is_handed_over(self.world, self.heap.owners, obj)) {
                            self.add_root(dst, Freshness::Taken, None);
                        }
                    } else if let Some(fresh) = self.effect(stmt).map(|effect| effect.fresh)
                        && fresh != Freshness::No
                    {
                        self.add_root(dst, fresh, None);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_root(&mut self, var: Var, kind: Freshness, param: Option<usize>) -> u32 {
        let root = self.look.roots.len() as u32;
        self.look.roots.push(Root { var, kind, param });
        self.root_of[var.index()] = Some(root);
        root
    }

    fn find_values(&mut self) {
        let vars = self.flow.body.vars.len();
        self.look.values = vec![Value::default(); vars];
        let mut search = Search::default();
        for at in 0..vars {
            let var = Var::new(at);
            if self.is_ref(var) {
                self.look.values[at] = self.find_value(&mut search, var);
            }
        }
    }

    /// Follows copies, casts, phis, results of calls, and loads. What a fresh object of this method holds is
    /// known if all of it was made here. A part that was chosen in a loop may be one of an earlier round.
    fn find_value(&mut self, search: &mut Search, var: Var) -> Value {
        search.begin(var);
        let (mut only, mut known, mut part) = (true, true, true);
        while let Some((next, held)) = search.left.pop() {
            if search.seen.contains(&(next, held)) {
                continue;
            }
            search.seen.push((next, held));
            if search.seen.len() > MOST_STEPS {
                // Lost track: it may be any of them.
                (only, known, part) = (false, false, false);
                search.roots = (0..self.look.roots.len() as u32).collect();
                break;
            }
            if let Some(root) = self.root_of[next.index()] {
                if held { &mut search.holders } else { &mut search.roots }.push(root);
                continue;
            }
            match self.flow.definition(next) {
                Some((_, StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. })) => {
                    search.left.push((*src, held))
                }
                Some((stmt, StmtKind::Phi { srcs, .. })) => {
                    search.left.extend(srcs.iter().map(|&src| (src, held)));
                    part &= !self.flow.in_loop(stmt);
                }
                Some((_, StmtKind::Const { .. })) => {}
                Some((stmt, &StmtKind::Load { base, .. })) => {
                    search.left.push((base, true));
                    part &= self.loads_part(stmt, next);
                    only &= !held && self.add_made_here(search, next, base);
                }
                Some((_, &StmtKind::LoadElem { base, .. })) => {
                    search.left.push((base, true));
                    (only, part) = (false, false);
                }
                Some((stmt, StmtKind::Call { .. })) => match self.effect(stmt) {
                    Some(effect) => {
                        search.left.extend(effect.returned.iter().map(|&arg| (arg, held)));
                        search.left.extend(effect.returned_from.iter().map(|&arg| (arg, true)));
                        known &= effect.known;
                        only &= effect.known && effect.returned_from.is_empty();
                        part &= effect.known && effect.returned_from.is_empty();
                    }
                    None => (only, known, part) = (false, false, false),
                },
                _ => (only, known, part) = (false, false, false),
            }
        }
        only &= !search.roots.is_empty();
        part &= !search.holders.is_empty();
        let roots = self.look.add_list(&mut search.roots);
        let holders = self.look.add_list(&mut search.holders);
        let source = self.flow.source(var);
        let is_phi = matches!(self.flow.definition(source), Some((_, StmtKind::Phi { .. })));
        Value { roots, holders, phi: is_phi.then_some(source), only, part, known }
    }

    fn loads_part(&self, load: StmtId, loaded: Var) -> bool {
        let mut objects = self.world.pointsto.pts(self.act, loaded).iter();
        self.flow.field(load).is_some_and(|field| self.heap.owners.is_private(field))
            && objects.all(|obj| self.heap.is_part(obj))
    }

    fn add_made_here(&self, search: &mut Search, loaded: Var, base: Var) -> bool {
        let objects = self.world.pointsto.pts(self.act, loaded);
        let first = search.roots.len();
        if self.root_of[self.flow.source(base).index()].is_none() || objects.is_empty() {
            return false;
        }
        for obj in objects.iter() {
            let Some(&root) = self.made_here.get(&obj) else {
                search.roots.truncate(first);
                return false;
            };
            search.roots.push(root);
        }
        true
    }

    fn find_moves(&mut self) {
        let flow = self.flow;
        let effects = std::mem::take(&mut self.effects);
        let mut effects = effects.iter();
        for (stmt, info) in flow.body.stmts.iter() {
            match &info.kind {
                StmtKind::Store { base, src, .. } | StmtKind::StoreElem { base, src, .. } => {
                    self.keep(stmt, *src, *base);
                }
                StmtKind::StoreStatic { src, .. } => self.publish(stmt, *src),
                StmtKind::Throw { value } => self.publish(stmt, *value),
                StmtKind::Lambda { dst, captures, .. } => {
                    captures.iter().for_each(|&var| self.keep(stmt, var, *dst));
                }
                StmtKind::Dynamic { args, .. } => args.iter().for_each(|&var| self.publish(stmt, var)),
                StmtKind::Call { .. } => {
                    let leaks = effects.next().map_or(&[][..], |(_, effect)| &effect.leaks);
                    for leak in leaks {
                        match *leak {
                            Leak::Published(var) => self.publish(stmt, var),
                            Leak::Contents(var) => self.publish_contents(stmt, var),
                            Leak::Kept { value, holder } => self.keep(stmt, value, holder),
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn publish(&mut self, stmt: StmtId, var: Var) {
        let value = self.look.value(var);
        for at in value.roots.0..value.roots.1 {
            let root = self.look.lists[at as usize];
            self.look.moves.push((stmt, Move::Publish(root)));
        }
        for at in value.holders.0..value.holders.1 {
            let root = self.look.lists[at as usize];
            self.look.moves.push((stmt, Move::PublishContents(root)));
        }
    }

    fn publish_contents(&mut self, stmt: StmtId, var: Var) {
        let value = self.look.value(var);
        for at in value.roots.0..value.roots.1 {
            let root = self.look.lists[at as usize];
            self.look.moves.push((stmt, Move::PublishContents(root)));
        }
    }

    fn keep(&mut self, stmt: StmtId, var: Var, holder: Var) {
        let into = self.look.value(holder);
        if !into.known && !into.only {
            self.publish(stmt, var);
            return;
        }
        let value = self.look.value(var);
        let holders = if into.only { (0, 0) } else { into.holders };
        let holders = (holders.0..holders.1).map(|at| (at, true));
        for (at, loaded) in (into.roots.0..into.roots.1).map(|at| (at, false)).chain(holders) {
            let holder = self.look.lists[at as usize];
            for at in value.roots.0..value.roots.1 {
                let value = self.look.lists[at as usize];
                self.look.moves.push((stmt, Move::Keep { value, holder, loaded }));
            }
            for at in value.holders.0..value.holders.1 {
                let value = self.look.lists[at as usize];
                self.look.moves.push((stmt, Move::KeepContents { value, holder, loaded }));
            }
        }
    }
}

/// What is still to be followed from one variable.
#[derive(Default)]
struct Search {
    /// Variables, and whether only what they hold matters.
    left: Vec<(Var, bool)>,
    seen: Vec<(Var, bool)>,
    roots: Vec<u32>,
    holders: Vec<u32>,
}

impl Search {
    fn begin(&mut self, var: Var) {
        self.left.clear();
        self.seen.clear();
        self.left.push((var, false));
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
    matches!(step, Step::Take { value: Operand { root: OperandRoot::Ret, path } } if path.is_empty())
}
