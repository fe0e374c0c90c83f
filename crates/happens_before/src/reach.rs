//! The one primitive of order: which statements an origin can reach from given points without passing a kill.
//! Knows calls and flow; what the starts and kills mean is the asker's affair.

use crate::bits::Bits;
use crate::flow::Flow;
use crate::world::World;
use arena::Id;
use ir::{BlockId, StmtId, StmtKind};
use pointsto::{Act, Obj};
use rustc_hash::{FxHashMap, FxHashSet};

/// Where reachability starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Start {
    /// At the first statement of an activation; its end is the end.
    Entry(Act),
    /// Just after a statement; at the end of its method, after the callers' calls, and so on. With a subject,
    /// only callers that pass that object in (if the method gets it from its callers at all).
    After(Act, StmtId, Option<Obj>),
    /// Just after a statement, up to the end of its method.
    Inside(Act, StmtId),
}

/// Statements and edges that end every path. Sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kills {
    pub stmts: Vec<(Act, StmtId)>,
    pub edges: Vec<(Act, BlockId, BlockId)>,
}

impl Kills {
    pub fn is_empty(&self) -> bool {
        self.stmts.is_empty() && self.edges.is_empty()
    }

    pub fn sort(&mut self) {
        self.stmts.sort_unstable();
        self.stmts.dedup();
        self.edges.sort_unstable();
        self.edges.dedup();
    }

    pub fn union(&self, other: &Kills) -> Kills {
        let mut both = self.clone();
        both.stmts.extend(&other.stmts);
        both.edges.extend(&other.edges);
        both.sort();
        both
    }

    fn acts(&self) -> impl Iterator<Item = Act> + '_ {
        self.stmts.iter().map(|&(act, _)| act).chain(self.edges.iter().map(|&(act, ..)| act))
    }

    fn has_stmt(&self, act: Act, stmt: StmtId) -> bool {
        self.stmts.binary_search(&(act, stmt)).is_ok()
    }

    fn has_edge(&self, act: Act, from: BlockId, to: BlockId) -> bool {
        self.edges.binary_search(&(act, from, to)).is_ok()
    }
}

/// The statements reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReachSet {
    /// Activations reached as a whole.
    whole: Bits,
    /// Statements reached of activations that are reached in part.
    parts: FxHashMap<Act, Bits>,
    /// The end of the origin is reached.
    pub ends: bool,
}

impl ReachSet {
    #[inline]
    pub fn contains(&self, act: Act, stmt: StmtId) -> bool {
        self.whole.contains(act.index())
            || self.parts.get(&act).is_some_and(|stmts| stmts.contains(stmt.index()))
    }
}

/// How control leaves an activation without passing a kill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Exits {
    normal: bool,
    thrown: bool,
}

/// Reached statements of `origin`, an entry activation with all it executes:
///
/// - in a body, along normal and exceptional edges, up to kills;
/// - a call reaches its callees from their entry, and what follows it iff some callee has an exit that is
///   reachable from its entry without a kill, or nothing analysed is called;
/// - a path that began inside a method and comes to its end goes on after every call of it.
pub fn reach(world: &World<'_>, entry: Act, runs: &Bits, starts: &[Start], kills: &Kills) -> ReachSet {
    Search::new(world, entry, runs, kills).run(starts)
}

struct Search<'a, 'w> {
    world: &'a World<'w>,
    entry: Act,
    runs: &'a Bits,
    kills: &'a Kills,
    /// Activations with a kill in them or below, with how control passes them.
    affected: FxHashMap<Act, Exits>,
    /// Affected activations already reached from their entry.
    entered: Bits,
    result: ReachSet,
}

/// Where a walk through one body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Seed {
    Entry,
    After(StmtId),
    /// The handlers of a call that has thrown.
    Thrown(StmtId),
}

impl<'a, 'w> Search<'a, 'w> {
    fn new(world: &'a World<'w>, entry: Act, runs: &'a Bits, kills: &'a Kills) -> Self {
        let mut search = Search {
            world,
            entry,
            runs,
            kills,
            affected: FxHashMap::default(),
            entered: Bits::new(),
            result: ReachSet::default(),
        };
        search.find_affected();
        search
    }

    /// Callers of kills, transitively; then how control passes each, as a least fixpoint.
    fn find_affected(&mut self) {
        let mut left: Vec<Act> = Vec::new();
        for act in self.kills.acts() {
            if self.runs.contains(act.index()) && !self.affected.contains_key(&act) {
                self.affected.insert(act, Exits::default());
                left.push(act);
            }
        }
        let mut at = 0;
        while at < left.len() {
            for &(caller, _) in self.world.pointsto.callers(left[at]) {
                if self.runs.contains(caller.index()) && !self.affected.contains_key(&caller) {
                    self.affected.insert(caller, Exits::default());
                    left.push(caller);
                }
            }
            at += 1;
        }
        let mut queued: FxHashSet<Act> = left.iter().copied().collect();
        left.reverse();
        while let Some(act) = left.pop() {
            queued.remove(&act);
            let (_, exits) = self.walk(act, &[Seed::Entry]);
            if self.affected[&act] != exits {
                self.affected.insert(act, exits);
                for &(caller, _) in self.world.pointsto.callers(act) {
                    if self.affected.contains_key(&caller) && queued.insert(caller) {
                        left.push(caller);
                    }
                }
            }
        }
    }

    fn run(mut self, starts: &[Start]) -> ReachSet {
        let mut ascending: Vec<(Act, Seed, Option<Obj>)> = Vec::new();
        for &start in starts {
            match start {
                Start::Entry(act) => {
                    self.descend(act);
                    let passes = self.affected.get(&act).is_none_or(|exits| exits.normal || exits.thrown);
                    self.result.ends |= passes && act == self.entry;
                }
                Start::After(act, stmt, subject) => ascending.push((act, Seed::After(stmt), subject)),
                Start::Inside(act, stmt) => {
                    self.enter(act, Seed::After(stmt));
                }
            }
        }
        let mut seen: FxHashSet<(Act, Seed, Option<Obj>)> = FxHashSet::default();
        while let Some((act, seed, subject)) = ascending.pop() {
            if !self.runs.contains(act.index()) || !seen.insert((act, seed, subject)) {
                continue;
            }
            let exits = self.enter(act, seed);
            if !exits.normal && !exits.thrown {
                continue;
            }
            self.result.ends |= act == self.entry;
            let subject = subject.filter(|&obj| gets(self.world, act, obj));
            for &(caller, stmt) in self.world.pointsto.callers(act) {
                if subject.is_some_and(|obj| !passes_in(self.world, caller, stmt, act, obj)) {
                    continue;
                }
                if exits.normal && !self.kills.has_stmt(caller, stmt) {
                    ascending.push((caller, Seed::After(stmt), subject));
                }
                if exits.thrown {
                    ascending.push((caller, Seed::Thrown(stmt), subject));
                }
            }
        }
        self.result
    }

    /// Walks one body, records what it reaches there and below.
    fn enter(&mut self, act: Act, seed: Seed) -> Exits {
        let (stmts, exits) = self.walk(act, &[seed]);
        let mut below: Vec<Act> = Vec::new();
        for (stmt, callee) in self.world.pointsto.calls(act) {
            if stmts.contains(stmt.index()) {
                below.push(callee);
            }
        }
        self.result.parts.entry(act).or_default().union_with(&stmts);
        for callee in below {
            self.descend(callee);
        }
        exits
    }

    /// Everything reached from the entry of an activation.
    fn descend(&mut self, act: Act) {
        let mut left = vec![act];
        while let Some(act) = left.pop() {
            if !self.affected.contains_key(&act) {
                if self.result.whole.insert(act.index()) {
                    left.extend(self.world.pointsto.calls(act).map(|(_, callee)| callee));
                }
            } else if self.entered.insert(act.index()) {
                let (stmts, _) = self.walk(act, &[Seed::Entry]);
                let known = self.result.parts.entry(act).or_default();
                for (stmt, callee) in self.world.pointsto.calls(act) {
                    if stmts.contains(stmt.index()) && !known.contains(stmt.index()) {
                        left.push(callee);
                    }
                }
                known.union_with(&stmts);
            }
        }
    }

    /// Statements of one body reached from the seeds, and how control leaves it.
    fn walk(&self, act: Act, seeds: &[Seed]) -> (Bits, Exits) {
        let Some(flow) = self.world.flow(act) else {
            return (Bits::new(), Exits { normal: true, thrown: true });
        };
        let mut walk = Walk {
            search: self,
            act,
            flow,
            affected: self.affected.contains_key(&act),
            from: vec![u32::MAX; flow.body.blocks.len()],
            left: Vec::new(),
            reached: Bits::with_len(flow.body.stmts.len()),
            exits: Exits::default(),
        };
        for &seed in seeds {
            match seed {
                Seed::Entry if flow.body.blocks.is_empty() => walk.exits.normal = true,
                Seed::Entry => walk.visit(BlockId(0), flow.body.blocks[BlockId(0)].first),
                Seed::After(stmt) => walk.visit(flow.body.stmts[stmt].block, stmt.0 + 1),
                Seed::Thrown(stmt) => walk.throw(stmt),
            }
        }
        walk.run();
        (walk.reached, walk.exits)
    }
}

/// Does the activation get this object from its callers?
pub fn gets(world: &World<'_>, act: Act, obj: Obj) -> bool {
    let Some(flow) = world.flow(act) else { return false };
    flow.body.params.iter().any(|&param| world.pointsto.pts(act, param).contains(obj))
}

/// May the callee, if it gets this object from its callers, get it from this call?
pub fn passes_in(world: &World<'_>, caller: Act, stmt: StmtId, callee: Act, obj: Obj) -> bool {
    let (Some(flow), Some(called)) = (world.flow(caller), world.flow(callee)) else { return true };
    let StmtKind::Call { args, .. } = &flow.body.stmts[stmt].kind else { return true };
    args.len() != called.body.params.len()
        || !gets(world, callee, obj)
        || args.iter().any(|&arg| world.pointsto.pts(caller, arg).contains(obj))
}

struct Walk<'a, 'w> {
    search: &'a Search<'a, 'w>,
    act: Act,
    flow: &'a Flow,
    affected: bool,
    /// Per block, the first statement reached so far.
    from: Vec<u32>,
    left: Vec<(BlockId, u32)>,
    reached: Bits,
    exits: Exits,
}

impl Walk<'_, '_> {
    fn visit(&mut self, block: BlockId, from: u32) {
        if from < self.from[block.index()] {
            self.left.push((block, from));
        }
    }

    fn run(&mut self) {
        while let Some((block, from)) = self.left.pop() {
            let until = self.from[block.index()];
            if from >= until {
                continue;
            }
            self.from[block.index()] = from;
            self.block(block, from);
        }
    }

    fn block(&mut self, block: BlockId, from: u32) {
        let flow = self.flow;
        let info = &flow.body.blocks[block];
        for at in from..info.end {
            let stmt = StmtId(at);
            self.reached.insert(stmt.index());
            let passes = if self.affected { self.passes(stmt) } else { Exits { normal: true, thrown: true } };
            if passes.thrown {
                for &(_, handler) in flow.handlers(stmt) {
                    self.edge(block, handler);
                }
            }
            match &flow.body.stmts[stmt].kind {
                StmtKind::Return { .. } => self.exits.normal = true,
                StmtKind::Throw { .. } => self.exits.thrown |= info.handlers.is_empty(),
                StmtKind::Call { .. } if self.affected && passes.thrown => {
                    self.exits.thrown |= info.handlers.is_empty() && self.throws_out(stmt);
                }
                _ => {}
            }
            if !passes.normal {
                return;
            }
        }
        for &to in &info.succs {
            self.edge(block, to);
        }
    }

    /// A call has thrown: to its handlers, or out.
    fn throw(&mut self, stmt: StmtId) {
        let block = self.flow.body.stmts[stmt].block;
        let handlers = self.flow.handlers(stmt);
        for &(_, handler) in handlers {
            self.edge(block, handler);
        }
        self.exits.thrown |= self.flow.body.blocks[block].handlers.is_empty();
    }

    fn edge(&mut self, from: BlockId, to: BlockId) {
        if self.affected && self.search.kills.has_edge(self.act, from, to) {
            return;
        }
        self.visit(to, self.flow.body.blocks[to].first);
    }

    /// How control passes one statement.
    fn passes(&self, stmt: StmtId) -> Exits {
        if self.search.kills.has_stmt(self.act, stmt) {
            return Exits::default();
        }
        if !matches!(self.flow.body.stmts[stmt].kind, StmtKind::Call { .. }) {
            return Exits { normal: true, thrown: true };
        }
        let callees = self.search.world.pointsto.callees(self.act, stmt);
        if callees.is_empty() {
            return Exits { normal: true, thrown: true };
        }
        let mut passes = Exits::default();
        for callee in callees {
            match self.search.affected.get(callee) {
                Some(exits) => {
                    passes.normal |= exits.normal;
                    passes.thrown |= exits.thrown;
                }
                None => passes = Exits { normal: true, thrown: true },
            }
        }
        passes
    }

    /// Does a call whose exception nobody here catches count as an exit? Only if a callee with kills throws, or
    /// a checked exception is declared.
    fn throws_out(&self, stmt: StmtId) -> bool {
        let world = self.search.world;
        let callees = world.pointsto.callees(self.act, stmt);
        callees.iter().any(|callee| match self.search.affected.get(callee) {
            Some(exits) => exits.thrown,
            None => !world.program.method(world.pointsto.method(*callee)).throws.is_empty(),
        })
    }
}
