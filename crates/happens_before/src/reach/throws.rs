//! Exceptions that the program throws on purpose: which statements they come from, which handlers they enter,
//! which methods they leave. Knows types and declarations; what fails by accident is left to the rule in `flow`.

use crate::flow::Flow;
use crate::world::World;
use arena::Id;
use classfile::Layer;
use ir::{BlockId, ClassId, MethodId, StmtId, StmtKind, Var};
use pointsto::PointsToDelta;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Read, Reads, Sizes, note};

/// The throws of every method of the user's code and its dependencies that has any, or catches any. Contexts make
/// no difference: what one of them throws, all may.
pub struct Throws {
    methods: Memo<MethodId, MethodThrows>,
    /// What leaves the methods of the user's own code, as their callers are told.
    escapes: Escapes,
    follows: bool,
}

/// What leaves each method, with the moment at which that was found out: it follows from what was known before.
#[derive(Debug, Default)]
struct Escapes {
    of: FxHashMap<MethodId, Vec<(ClassId, u32)>>,
    clock: u32,
}

impl Escapes {
    /// Returns those of the classes that were not known to leave the method.
    fn add_new(&mut self, method: MethodId, mut classes: Vec<ClassId>) -> Vec<ClassId> {
        if classes.is_empty() {
            return classes;
        }
        let known = self.of.entry(method).or_default();
        classes.retain(|class| !known.iter().any(|(other, _)| other == class));
        for &class in &classes {
            self.clock += 1;
            known.push((class, self.clock));
        }
        classes
    }

    /// What was known to leave the method before a moment.
    fn before(&self, method: MethodId, moment: u32) -> impl Iterator<Item = ClassId> + '_ {
        note(Read::of(Kind::Escapes, method));
        let known = self.of.get(&method).into_iter().flatten();
        known.filter(move |&&(_, at)| at < moment).map(|&(class, _)| class)
    }
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
    pub fn new(follows: bool) -> Throws {
        Throws { methods: Memo::new(Kind::Throws, follows), escapes: Escapes::default(), follows }
    }

    pub fn of(&self, method: MethodId) -> Option<&MethodThrows> {
        self.methods.get(method)
    }

    pub fn update(&mut self, world: &World<'_>, delta: &PointsToDelta, changes: &mut Changes) {
        let is_own = |method: &MethodId| !world.is_jdk_method(*method);
        let stale: BTreeSet<MethodId> = if changes.everything {
            *self = Throws::new(self.follows);
            world.methods().into_iter().filter(is_own).collect()
        } else {
            let acts = delta.acts.added.iter().chain(&delta.acts.removed);
            let methods = acts.map(|&act| world.pointsto.method(act)).filter(is_own);
            methods.chain(self.methods.stale(changes)).collect()
        };
        let doubtful = self.take_back(world, stale);
        self.put_back(world, doubtful, changes);
    }

    /// Takes back what may leave a method only because it was said to leave it. Returns the methods to look at again.
    fn take_back(&mut self, world: &World<'_>, stale: BTreeSet<MethodId>) -> BTreeSet<MethodId> {
        let mut again = stale.clone();
        // Methods, and the moment since when there are doubts.
        let mut left: BTreeMap<MethodId, u32> = stale.into_iter().map(|method| (method, 0)).collect();
        while let Some((method, moment)) = left.pop_first() {
            let gone = track::unnoted(|| self.gone(world, method, moment));
            let Some(first) = gone.iter().map(|&(_, at)| at).min() else { continue };
            if let Some(known) = self.escapes.of.get_mut(&method) {
                known.retain(|fact| !gone.contains(fact));
            }
            for caller in callers(world, method).into_keys() {
                again.insert(caller);
                let since = left.entry(caller).or_insert(first);
                *since = first.min(*since);
            }
        }
        again
    }

    /// What was found out at the moment or later and does not follow any more from what was known before.
    fn gone(&self, world: &World<'_>, method: MethodId, moment: u32) -> Vec<(ClassId, u32)> {
        let known = self.escapes.of.get(&method).map_or(&[][..], Vec::as_slice);
        // In the order in which it was found out.
        let known = &known[known.partition_point(|&(_, at)| at < moment)..];
        if known.is_empty() {
            return Vec::new();
        }
        let Some(mut search) = Search::new(world, &self.escapes, method, known[0].1) else {
            return known.to_vec();
        };
        search.begin();
        let mut later: Vec<(u32, StmtId, ClassId)> = Vec::new();
        for (&stmt, callees) in &search.calls {
            let facts = callees.iter().filter_map(|callee| self.escapes.of.get(callee)).flatten();
            later.extend(facts.filter(|&&(_, at)| at >= known[0].1).map(|&(class, at)| (at, stmt, class)));
        }
        later.sort_unstable();
        let mut later = later.into_iter().peekable();
        let mut gone = Vec::new();
        for &(class, at) in known {
            while let Some((_, stmt, class)) = later.next_if(|&(other, ..)| other < at) {
                search.leaves_callee(stmt, class);
            }
            if !search.escaped.contains(&class) {
                gone.push((class, at));
            }
        }
        gone
    }

    /// Least solution. What leaves a method goes on to each call of it, class by class.
    fn put_back(&mut self, world: &World<'_>, left: BTreeSet<MethodId>, changes: &mut Changes) {
        let mut open = Open::default();
        let mut told: Vec<(MethodId, ClassId)> = Vec::new();
        for method in left {
            told.extend(self.open(world, &mut open, method).into_iter().map(|class| (method, class)));
        }
        while let Some((method, class)) = told.pop() {
            for (caller, stmts) in callers(world, method) {
                let news = match open.get_mut(&caller) {
                    None => self.open(world, &mut open, caller),
                    Some((None, _)) => continue,
                    Some((Some(search), _)) => {
                        stmts.into_iter().for_each(|stmt| search.leaves_callee(stmt, class));
                        let news = search.news().collect();
                        self.escapes.add_new(caller, news)
                    }
                };
                told.extend(news.into_iter().map(|class| (caller, class)));
            }
        }
        for (method, (search, reads)) in open {
            let throws = search.and_then(Search::into_throws);
            if self.methods.peek(method) != throws.as_ref() {
                changes.add(Read::of(Kind::Throws, method));
            }
            self.methods.set(method, throws, reads);
        }
    }

    /// Begins to search a method, given what is known to leave those that it calls. Returns what is new for its callers.
    fn open<'a, 'w>(
        &mut self,
        world: &'a World<'w>,
        open: &mut Open<'a, 'w>,
        method: MethodId,
    ) -> Vec<ClassId> {
        let (mut search, reads) = self.methods.record(|| {
            // Whether one class is below another is asked later on, too.
            note(Read::all(Kind::Loaded));
            note(Read::all(Kind::Supers));
            Search::new(world, &self.escapes, method, u32::MAX)
        });
        let news = search.as_mut().map_or_else(Vec::new, |search| {
            search.begin();
            search.news().collect()
        });
        open.insert(method, (search, reads));
        self.escapes.add_new(method, news)
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.methods.sizes(sizes);
        sizes.add("escaping", self.escapes.of.len());
    }
}

/// Methods that are searched, with what is read for it.
type Open<'a, 'w> = BTreeMap<MethodId, (Option<Search<'a, 'w>>, Reads)>;

/// Methods outside the JDK that call this one in any context, with their statements.
fn callers(world: &World<'_>, method: MethodId) -> BTreeMap<MethodId, BTreeSet<StmtId>> {
    let mut callers: BTreeMap<MethodId, BTreeSet<StmtId>> = BTreeMap::new();
    for &act in world.acts_of(method) {
        for &(caller, stmt) in world.pointsto.callers(act) {
            if !world.is_jdk(caller) {
                callers.entry(world.pointsto.method(caller)).or_default().insert(stmt);
            }
        }
    }
    callers
}

/// What is called outside the JDK, by statement, in any context.
fn calls(world: &World<'_>, method: MethodId) -> BTreeMap<StmtId, BTreeSet<MethodId>> {
    let mut calls: BTreeMap<StmtId, BTreeSet<MethodId>> = BTreeMap::new();
    for &act in world.acts_of(method) {
        for (stmt, callee) in world.pointsto.calls(act) {
            if !world.is_jdk(callee) {
                calls.entry(stmt).or_default().insert(world.pointsto.method(callee));
            }
        }
    }
    calls
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
    calls: BTreeMap<StmtId, BTreeSet<MethodId>>,
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
    /// `None` if nothing is thrown or caught there. What leaves callees counts as far as it was known by the moment.
    fn new(world: &'a World<'w>, escapes: &Escapes, method: MethodId, moment: u32) -> Option<Search<'a, 'w>> {
        let body = world.program.lowered(method)?;
        if world.acts_of(method).is_empty() {
            return None;
        }
        let calls = calls(world, method);
        let has_handlers = body.blocks.iter().any(|(_, block)| !block.handlers.is_empty());
        let calls_own = |stmt: StmtId| calls.contains_key(&stmt);
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
            calls: BTreeMap::new(),
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
            let Some(mut source) = search.source(stmt, &info.kind, info.block) else { continue };
            if source.own.is_empty() && source.caught.is_none() && !calls_own(stmt) {
                continue;
            }
            for &callee in calls.get(&stmt).into_iter().flatten() {
                let known = escapes.before(callee, moment);
                source.callees.extend(known);
            }
            source.callees.sort_unstable();
            source.callees.dedup();
            search.sources.push(source);
        }
        search.calls = calls;
        Some(search)
    }

    /// From the entry on.
    fn begin(&mut self) {
        let first = self.flow.body.blocks.ids().next();
        first.into_iter().for_each(|first| self.reach(first));
        self.settle();
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
        let is_own = program.class(program.method_ref(self.method).class).layer == Layer::App;
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

    /// `None` where there is nothing to tell.
    fn into_throws(self) -> Option<MethodThrows> {
        let is_news = self.has_handlers || !self.left.is_empty();
        is_news
            .then(|| MethodThrows { entering: self.entering(), leaving: self.left.iter().copied().collect() })
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
