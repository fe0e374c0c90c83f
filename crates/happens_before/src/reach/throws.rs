//! Exceptions that the program throws on purpose: which statements they come from, which handlers they enter,
//! which methods they leave. Knows types and declarations; what fails by accident is left to the rule in `flow`.

use crate::flow::Flow;
use crate::world::World;
use arena::Id;
use classfile::Layer;
use ir::{BlockId, ClassId, MethodId, StmtId, StmtKind, Var};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// The throws of every method of the user's code and its dependencies that has any, or catches any. Contexts make
/// no difference: what one of them throws, all may.
#[derive(Debug, Default)]
pub struct Throws {
    methods: FxHashMap<MethodId, MethodThrows>,
}

/// The throws of one method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodThrows {
    /// Which statements enter which handlers. Sorted.
    pub entering: Vec<(StmtId, BlockId)>,
    /// Statements that throw something which nobody here catches. Sorted.
    pub leaving: Vec<StmtId>,
}

impl Throws {
    /// Least solution, callees first, until what leaves the methods stands still.
    pub fn new(world: &World<'_>) -> Throws {
        let calls = Calls::new(world);
        let mut escaping = FxHashMap::default();
        let mut searches: FxHashMap<MethodId, Search<'_, '_>> = FxHashMap::default();
        let in_order = |method: MethodId| (calls.order[&method], method);
        let mut left: BTreeSet<(u32, MethodId)> = calls.order.keys().copied().map(in_order).collect();
        while let Some((_, method)) = left.pop_first() {
            let search = match searches.entry(method) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let Some(search) = Search::new(world, &calls, method) else { continue };
                    place.insert(search)
                }
            };
            if search.run(&escaping) && search.is_told() {
                escaping.insert(method, search.escaped.clone());
                left.extend(calls.callers.get(&method).into_iter().flatten().copied().map(in_order));
            }
        }
        let is_news = |search: &Search<'_, '_>| search.has_handlers || !search.left.is_empty();
        let found = searches.into_iter().filter(|(_, search)| is_news(search));
        Throws { methods: found.map(|(method, search)| (method, search.into_throws())).collect() }
    }

    pub fn of(&self, method: MethodId) -> Option<&MethodThrows> {
        self.methods.get(&method)
    }
}

/// Who calls whom outside the JDK, by method.
#[derive(Default)]
struct Calls {
    /// Callees first; every method outside the JDK.
    order: FxHashMap<MethodId, u32>,
    callees: FxHashMap<(MethodId, StmtId), BTreeSet<MethodId>>,
    callers: FxHashMap<MethodId, BTreeSet<MethodId>>,
}

impl Calls {
    fn new(world: &World<'_>) -> Calls {
        let mut calls = Calls::default();
        for act in world.pointsto.acts().filter(|&act| !world.is_jdk(act)) {
            let method = world.pointsto.method(act);
            let order = calls.order.entry(method).or_default();
            *order = world.components.of(act).max(*order);
            for (stmt, callee) in world.pointsto.calls(act) {
                if !world.is_jdk(callee) {
                    let callee = world.pointsto.method(callee);
                    if calls.callees.entry((method, stmt)).or_default().insert(callee) {
                        calls.callers.entry(callee).or_default().insert(method);
                    }
                }
            }
        }
        calls
    }

    fn at(&self, method: MethodId, stmt: StmtId) -> Option<&BTreeSet<MethodId>> {
        self.callees.get(&(method, stmt))
    }
}

impl MethodThrows {
    pub fn leaves(&self, stmt: StmtId) -> bool {
        self.leaving.binary_search(&stmt).is_ok()
    }
}

/// What leaves methods, as far as callers are told.
type Escaping = FxHashMap<MethodId, BTreeSet<ClassId>>;

/// A statement that may throw on purpose.
struct Source {
    stmt: StmtId,
    block: BlockId,
    /// What it throws itself, or declares.
    own: Vec<ClassId>,
    /// It throws on what this handler has caught.
    caught: Option<BlockId>,
}

struct Search<'a, 'w> {
    world: &'a World<'w>,
    calls: &'a Calls,
    method: MethodId,
    flow: &'a Flow,
    sources: Vec<Source>,
    has_handlers: bool,
    /// By handler: who enters it with what.
    entered: BTreeMap<BlockId, BTreeSet<(StmtId, ClassId)>>,
    /// Statements that something leaves the method from.
    left: BTreeSet<StmtId>,
    /// What leaves it.
    escaped: BTreeSet<ClassId>,
}

impl<'a, 'w> Search<'a, 'w> {
    /// `None` if nothing is thrown or caught there.
    fn new(world: &'a World<'w>, calls: &'a Calls, method: MethodId) -> Option<Search<'a, 'w>> {
        let body = world.program.lowered(method)?;
        let has_handlers = body.blocks.iter().any(|(_, block)| !block.handlers.is_empty());
        let calls_own = |stmt: StmtId| calls.at(method, stmt).is_some();
        let may_throw = |stmt: StmtId, kind: &StmtKind| match kind {
            StmtKind::Throw { .. } => true,
            StmtKind::Call { .. } => has_handlers || calls_own(stmt),
            _ => false,
        };
        if !has_handlers && !body.stmts.iter().any(|(stmt, info)| may_throw(stmt, &info.kind)) {
            return None;
        }
        let flow = world.method_flow(method)?;
        let mut search = Search {
            world,
            calls,
            method,
            flow,
            sources: Vec::new(),
            has_handlers,
            entered: BTreeMap::new(),
            left: BTreeSet::new(),
            escaped: BTreeSet::new(),
        };
        for (stmt, info) in flow.body.stmts.iter() {
            let source = search.source(stmt, &info.kind, info.block);
            let is_news =
                |source: &Source| !source.own.is_empty() || source.caught.is_some() || calls_own(stmt);
            search.sources.extend(source.filter(is_news));
        }
        Some(search)
    }

    fn source(&self, stmt: StmtId, kind: &StmtKind, block: BlockId) -> Option<Source> {
        let mut source = Source { stmt, block, own: Vec::new(), caught: None };
        match kind {
            StmtKind::Throw { value } => self.made(*value, &mut source),
            StmtKind::Call { .. } if self.flow.is_interruptible(stmt) => {}
            StmtKind::Call { target, .. } => source.own.extend(self.world.declared(*target)),
            _ => return None,
        }
        Some(source)
    }

    /// What a thrown value may be: made for it, or caught before.
    fn made(&self, value: Var, source: &mut Source) {
        let made = self.flow.source(value);
        match self.flow.definition(made) {
            Some((_, StmtKind::New { class, .. })) => source.own.push(*class),
            Some((def, StmtKind::Catch { .. })) => source.caught = Some(self.flow.body.stmts[def].block),
            // What was caught in one of several places is not followed.
            Some((_, StmtKind::Phi { .. })) => {}
            _ => {
                let pointsto = self.world.pointsto;
                let acts = self.world.acts_of(self.method).iter();
                let objects = acts.flat_map(|&act| pointsto.pts(act, made).iter());
                source.own.extend(objects.map(|obj| pointsto.object(obj).class));
                source.own.sort_unstable();
                source.own.dedup();
            }
        }
    }

    /// Are callers told what leaves it?
    fn is_told(&self) -> bool {
        let program = self.world.program;
        !self.left.is_empty() && program.class(program.method(self.flow.method).class).layer == Layer::App
    }

    /// Follows everything that is thrown in blocks that are reached. True if other classes leave than before.
    fn run(&mut self, escaping: &Escaping) -> bool {
        let before = self.escaped.len();
        loop {
            let reached = if self.has_handlers { Some(self.reached()) } else { None };
            let handlers = self.entered.len();
            let mut grown = false;
            for at in 0..self.sources.len() {
                let Source { stmt, block, .. } = self.sources[at];
                if reached.as_ref().is_some_and(|reached| !reached[block.index()]) {
                    continue;
                }
                for class in self.thrown(&self.sources[at], escaping) {
                    grown |= self.throw(block, stmt, class);
                }
            }
            if !grown && handlers == self.entered.len() {
                return self.escaped.len() > before;
            }
        }
    }

    fn thrown(&self, source: &Source, escaping: &Escaping) -> Vec<ClassId> {
        let mut classes = source.own.clone();
        let caught = source.caught.and_then(|handler| self.entered.get(&handler));
        classes.extend(caught.into_iter().flatten().map(|&(_, class)| class));
        for callee in self.calls.at(self.method, source.stmt).into_iter().flatten() {
            classes.extend(escaping.get(callee).into_iter().flatten());
        }
        classes
    }

    /// To the first handler that catches it, and to those before that may; else out. True if a handler has news.
    fn throw(&mut self, block: BlockId, stmt: StmtId, class: ClassId) -> bool {
        let (flow, program) = (self.flow, self.world.program);
        let mut entered = false;
        for &handler in &flow.body.blocks[block].handlers {
            let first = flow.body.block_stmts(handler).next().map(|(_, first)| &first.kind);
            let caught = match first {
                Some(&StmtKind::Catch { class, .. }) => class,
                _ => None,
            };
            let catches = caught.is_none_or(|caught| program.is_subtype_loaded(class, caught));
            if catches || caught.is_some_and(|caught| program.is_subtype_loaded(caught, class)) {
                entered |= self.entered.entry(handler).or_default().insert((stmt, class));
            }
            if catches {
                return entered;
            }
        }
        self.left.insert(stmt);
        self.escaped.insert(class);
        entered
    }

    /// Blocks that are reached unless something fails by accident.
    fn reached(&self) -> Vec<bool> {
        let body = &self.flow.body;
        let mut seen = vec![false; body.blocks.len()];
        let mut left: Vec<BlockId> = body.blocks.ids().take(1).chain(self.entered.keys().copied()).collect();
        while let Some(block) = left.pop() {
            if !std::mem::replace(&mut seen[block.index()], true) {
                left.extend(&body.blocks[block].succs);
            }
        }
        seen
    }

    fn into_throws(self) -> MethodThrows {
        MethodThrows { entering: self.entering(), leaving: self.left.iter().copied().collect() }
    }

    /// A handler that any call may enter is entered by those that throw on purpose; if there are none, by the last
    /// call: whoever fails by accident fails at the end. Other handlers are entered as ever.
    fn entering(&self) -> Vec<(StmtId, BlockId)> {
        let flow = self.flow;
        let reached = self.reached();
        let mut entering: Vec<(StmtId, BlockId)> = Vec::new();
        let mut handlers: Vec<BlockId> = flow.throws().iter().map(|&(_, handler)| handler).collect();
        handlers.sort_unstable();
        handlers.dedup();
        for handler in handlers {
            let covered = |block: &BlockId| {
                reached[block.index()] && flow.body.blocks[*block].handlers.contains(&handler)
            };
            let stmts = flow.body.blocks.ids().filter(covered).flat_map(|block| flow.body.block_stmts(block));
            let calls = stmts.filter(|(_, info)| matches!(info.kind, StmtKind::Call { .. }));
            match (self.entered.get(&handler), calls.map(|(stmt, _)| stmt).max()) {
                (Some(entered), _) if flow.is_open(handler) => {
                    entering.extend(entered.iter().map(|&(stmt, _)| (stmt, handler)));
                }
                (None, Some(last)) if flow.is_open(handler) => entering.push((last, handler)),
                _ => entering.extend(flow.throws().iter().filter(|&&(_, into)| into == handler)),
            }
        }
        entering.sort_unstable();
        entering.dedup();
        entering
    }
}
