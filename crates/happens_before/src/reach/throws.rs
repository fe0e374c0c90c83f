//! Exceptions that the program throws on purpose: which statements they come from, which handlers they enter,
//! which methods they leave. Knows types and declarations; what fails by accident is left to the rule in `flow`.

use crate::flow::Flow;
use crate::world::World;
use arena::Id;
use classfile::Layer;
use ir::{BlockId, ClassId, MethodId, StmtId, StmtKind, Var};
use rustc_hash::{FxHashMap, FxHashSet};
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
    /// Least solution. What leaves a method goes on to each call of it, class by class; nothing is asked again.
    pub fn new(world: &World<'_>) -> Throws {
        let calls = Calls::new(world);
        let methods = calls.methods.iter();
        let mut searches: FxHashMap<MethodId, Search<'_, '_>> =
            methods.filter_map(|&method| Some((method, Search::new(world, &calls, method)?))).collect();
        let mut told = Vec::new();
        for &method in &calls.methods {
            if let Some(search) = searches.get_mut(&method) {
                let first = search.flow.body.blocks.ids().next();
                first.into_iter().for_each(|first| search.reach(first));
                search.settle();
                told.extend(search.news().map(|class| (method, class)));
            }
        }
        while let Some((method, class)) = told.pop() {
            for &(_, caller, stmt) in calls.of(method) {
                if let Some(search) = searches.get_mut(&caller) {
                    search.leaves_callee(stmt, class);
                    told.extend(search.news().map(|class| (caller, class)));
                }
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
    /// Every method outside the JDK. Sorted.
    methods: Vec<MethodId>,
    /// Callee, caller and statement. Sorted.
    calls: Vec<(MethodId, MethodId, StmtId)>,
    /// Statements that call something outside the JDK.
    calling: FxHashSet<(MethodId, StmtId)>,
}

impl Calls {
    fn new(world: &World<'_>) -> Calls {
        let mut calls = Calls::default();
        for act in world.pointsto.acts().filter(|&act| !world.is_jdk(act)) {
            let method = world.pointsto.method(act);
            calls.methods.push(method);
            for (stmt, callee) in world.pointsto.calls(act) {
                if !world.is_jdk(callee) {
                    calls.calls.push((world.pointsto.method(callee), method, stmt));
                    calls.calling.insert((method, stmt));
                }
            }
        }
        calls.methods.sort_unstable();
        calls.methods.dedup();
        calls.calls.sort_unstable();
        calls.calls.dedup();
        calls
    }

    fn of(&self, callee: MethodId) -> &[(MethodId, MethodId, StmtId)] {
        let first = self.calls.partition_point(|&(method, ..)| method < callee);
        let count = self.calls[first..].partition_point(|&(method, ..)| method == callee);
        &self.calls[first..first + count]
    }
}

impl MethodThrows {
    pub fn leaves(&self, stmt: StmtId) -> bool {
        self.leaving.binary_search(&stmt).is_ok()
    }
}

/// A statement that may throw on purpose.
struct Source {
    stmt: StmtId,
    block: BlockId,
    /// What it throws itself, or declares.
    own: Vec<ClassId>,
    /// What leaves its callees.
    callees: Vec<ClassId>,
    /// It throws on what this handler has caught.
    caught: Option<BlockId>,
}

struct Search<'a, 'w> {
    world: &'a World<'w>,
    method: MethodId,
    flow: &'a Flow,
    /// By statement.
    sources: Vec<Source>,
    has_handlers: bool,
    /// Blocks that are reached unless something fails by accident.
    reached: Vec<bool>,
    /// By handler: who enters it with what.
    entered: BTreeMap<BlockId, BTreeSet<(StmtId, ClassId)>>,
    /// Statements that something leaves the method from.
    left: BTreeSet<StmtId>,
    /// What leaves it.
    escaped: FxHashSet<ClassId>,
    /// What leaves it, and callers have not been told.
    news: Vec<ClassId>,
    /// Sources, and what they throw, that nothing was done about yet.
    thrown: Vec<(usize, ClassId)>,
}

impl<'a, 'w> Search<'a, 'w> {
    /// `None` if nothing is thrown or caught there.
    fn new(world: &'a World<'w>, calls: &'a Calls, method: MethodId) -> Option<Search<'a, 'w>> {
        let body = world.program.lowered(method)?;
        let has_handlers = body.blocks.iter().any(|(_, block)| !block.handlers.is_empty());
        let calls_own = |stmt: StmtId| calls.calling.contains(&(method, stmt));
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
            method,
            flow,
            sources: Vec::new(),
            has_handlers,
            reached: vec![false; flow.body.blocks.len()],
            entered: BTreeMap::new(),
            left: BTreeSet::new(),
            escaped: FxHashSet::default(),
            news: Vec::new(),
            thrown: Vec::new(),
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
        let mut source = Source { stmt, block, own: Vec::new(), callees: Vec::new(), caught: None };
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

    /// What leaves it since this was asked last, for its callers: they are told about the user's own code only.
    fn news(&mut self) -> impl Iterator<Item = ClassId> {
        let program = self.world.program;
        let is_own = program.class(program.method(self.method).class).layer == Layer::App;
        let news = std::mem::take(&mut self.news);
        news.into_iter().filter(move |_| is_own)
    }

    /// What is thrown in blocks that are reached from here is thrown from now on.
    fn reach(&mut self, from: BlockId) {
        let mut left = vec![from];
        let mut newly = BTreeSet::new();
        while let Some(block) = left.pop() {
            if !std::mem::replace(&mut self.reached[block.index()], true) {
                newly.insert(block);
                left.extend(&self.flow.body.blocks[block].succs);
            }
        }
        for at in 0..self.sources.len() {
            if newly.contains(&self.sources[at].block) {
                self.throw_all(at);
            }
        }
    }

    fn throw_all(&mut self, at: usize) {
        let source = &self.sources[at];
        let mut classes = [&source.own[..], &source.callees[..]].concat();
        let caught = source.caught.and_then(|handler| self.entered.get(&handler));
        classes.extend(caught.into_iter().flatten().map(|&(_, class)| class));
        self.thrown.extend(classes.into_iter().map(|class| (at, class)));
    }

    /// A callee of the statement is left with this.
    fn leaves_callee(&mut self, stmt: StmtId, class: ClassId) {
        let Ok(at) = self.sources.binary_search_by_key(&stmt, |source| source.stmt) else { return };
        let source = &mut self.sources[at];
        if !source.callees.contains(&class) {
            source.callees.push(class);
            if self.reached[source.block.index()] {
                self.thrown.push((at, class));
                self.settle();
            }
        }
    }

    fn settle(&mut self) {
        while let Some((at, class)) = self.thrown.pop() {
            self.throw(at, class);
        }
    }

    /// To the first handler that catches it, and to those before that may; else out.
    fn throw(&mut self, at: usize, class: ClassId) {
        let (flow, program) = (self.flow, self.world.program);
        let Source { stmt, block, .. } = self.sources[at];
        for &handler in &flow.body.blocks[block].handlers {
            let first = flow.body.block_stmts(handler).next().map(|(_, first)| &first.kind);
            let caught = match first {
                Some(&StmtKind::Catch { class, .. }) => class,
                _ => None,
            };
            let catches = caught.is_none_or(|caught| program.is_subtype_loaded(class, caught));
            if catches || caught.is_some_and(|caught| program.is_subtype_loaded(caught, class)) {
                self.enter(handler, stmt, class);
            }
            if catches {
                return;
            }
        }
        self.left.insert(stmt);
        if self.escaped.insert(class) {
            self.news.push(class);
        }
    }

    fn enter(&mut self, handler: BlockId, stmt: StmtId, class: ClassId) {
        if !self.entered.entry(handler).or_default().insert((stmt, class)) {
            return;
        }
        self.reach(handler);
        for at in 0..self.sources.len() {
            let source = &self.sources[at];
            if source.caught == Some(handler) && self.reached[source.block.index()] {
                self.thrown.push((at, class));
            }
        }
    }

    fn into_throws(self) -> MethodThrows {
        MethodThrows { entering: self.entering(), leaving: self.left.iter().copied().collect() }
    }

    /// A handler that any call may enter is entered by those that throw on purpose; if there are none, by the last
    /// call: whoever fails by accident fails at the end. Other handlers are entered as ever.
    fn entering(&self) -> Vec<(StmtId, BlockId)> {
        let flow = self.flow;
        let mut entering: Vec<(StmtId, BlockId)> = Vec::new();
        let mut handlers: Vec<BlockId> = flow.throws().iter().map(|&(_, handler)| handler).collect();
        handlers.sort_unstable();
        handlers.dedup();
        for handler in handlers {
            let covered = |block: &BlockId| {
                self.reached[block.index()] && flow.body.blocks[*block].handlers.contains(&handler)
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
