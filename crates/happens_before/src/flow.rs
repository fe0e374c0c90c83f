//! The control flow of one body as order sees it: which statements may enter which handlers, and loops.
//! Knows declared exceptions; knows no model and no points-to.

use crate::bits::Bits;
use crate::resolver::Resolver;
use arena::Id;
use ir::cfg::{Dominators, Edges, Loop, Loops};
use ir::{BlockId, Body, FieldId, MethodId, Program, StmtId, StmtKind, Var};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use track::Reads;

/// One body with its exceptional edges, loops and resolved fields.
#[derive(Debug)]
pub struct Flow {
    pub method: MethodId,
    pub body: Arc<Body>,
    /// Numbers that no statement has, sorted.
    free: Vec<StmtId>,
    /// The field of each load and store, by statement.
    fields: Vec<Option<FieldId>>,
    /// Which statements may enter which handlers, sorted.
    throws: Vec<(StmtId, BlockId)>,
    /// Handlers that any call may enter, sorted.
    open: Vec<BlockId>,
    /// Calls that declare InterruptedException, sorted.
    interruptible: Vec<StmtId>,
    /// Which of them may enter which handlers with what else they declare, sorted.
    failures: Vec<(StmtId, BlockId)>,
    loops: Loops,
    /// What it is made from besides the body.
    pub reads: Reads,
    /// The constructor call on each newly allocated variable.
    constructors: FxHashMap<Var, StmtId>,
}

impl Flow {
    pub fn new(resolver: &Resolver<'_>, method: MethodId, body: Arc<Body>) -> Flow {
        let (mut flow, reads) = track::record(|| Flow::make(resolver, method, body));
        flow.reads = reads;
        flow
    }

    /// Does it say the same of the same body?
    pub fn is_same(&self, other: &Flow) -> bool {
        (&self.fields, &self.throws, &self.open) == (&other.fields, &other.throws, &other.open)
            && (&self.interruptible, &self.failures) == (&other.interruptible, &other.failures)
    }

    fn make(resolver: &Resolver<'_>, method: MethodId, body: Arc<Body>) -> Flow {
        let all = (0..body.stmts.bound()).map(StmtId::new);
        let fields = all.clone().map(|stmt| resolver.field_of(&body.stmts[stmt].kind)).collect();
        let free = all.filter(|&stmt| body.stmts.get(stmt).is_none()).collect();
        let loops = Loops::new(&body, &Dominators::new(&body, Edges::All), Edges::All);
        let (throws, open) = throws(resolver, &body);
        let is_interruptible = |kind: &StmtKind| match kind {
            StmtKind::Call { target, .. } => resolver.is_interruptible(*target),
            _ => false,
        };
        let calls = body.stmts.iter().filter(|(_, stmt)| is_interruptible(&stmt.kind));
        let interruptible: Vec<StmtId> = calls.map(|(stmt, _)| stmt).collect();
        let failures = failures(resolver, &body, &interruptible);
        Flow {
            method,
            free,
            fields,
            throws,
            open,
            interruptible,
            failures,
            loops,
            reads: Reads::default(),
            constructors: constructors(resolver.program, &body),
            body,
        }
    }

    /// Adds the statements from one number to before another.
    pub fn add_range(&self, stmts: &mut Bits, from: u32, to: u32) {
        stmts.insert_range(from as usize, to as usize);
        let free = &self.free[self.free.partition_point(|stmt| stmt.0 < from)..];
        for stmt in free.iter().take_while(|stmt| stmt.0 < to) {
            stmts.remove(stmt.index());
        }
    }

    pub fn field(&self, stmt: StmtId) -> Option<FieldId> {
        self.fields[stmt.index()]
    }

    /// Handlers this statement may enter, as `(statement, handler)`.
    pub fn handlers(&self, stmt: StmtId) -> &[(StmtId, BlockId)] {
        let from = self.throws.partition_point(|&(at, _)| at < stmt);
        let to = self.throws.partition_point(|&(at, _)| at <= stmt);
        &self.throws[from..to]
    }

    /// The same for all statements of a block from one on, in order.
    pub fn handlers_in(&self, block: BlockId, from: StmtId) -> &[(StmtId, BlockId)] {
        if self.throws.is_empty() {
            return &[];
        }
        let end = self.body.blocks[block].end;
        let first = self.throws.partition_point(|&(at, _)| at < from);
        let last = self.throws.partition_point(|&(at, _)| at.0 < end);
        &self.throws[first..last.max(first)]
    }

    /// Which statements may enter which handlers, sorted.
    pub fn throws(&self) -> &[(StmtId, BlockId)] {
        &self.throws
    }

    /// May any call enter the handler?
    pub fn is_open(&self, handler: BlockId) -> bool {
        self.open.binary_search(&handler).is_ok()
    }

    pub fn is_interruptible(&self, stmt: StmtId) -> bool {
        self.interruptible.binary_search(&stmt).is_ok()
    }

    /// Handlers that an interruptible call may enter other than by an interrupt, as `(statement, handler)`.
    pub fn failures(&self, stmt: StmtId) -> &[(StmtId, BlockId)] {
        let from = self.failures.partition_point(|&(at, _)| at < stmt);
        let to = self.failures.partition_point(|&(at, _)| at <= stmt);
        &self.failures[from..to]
    }

    /// Edges out of a block that an interrupt may take.
    pub fn interrupts(&self, block: BlockId) -> impl Iterator<Item = (BlockId, BlockId)> + '_ {
        let info = &self.body.blocks[block];
        let is_here = self.interruptible.iter().any(|stmt| (info.first..info.end).contains(&stmt.0));
        info.handlers.iter().filter(move |_| is_here).map(move |&handler| (block, handler))
    }

    pub fn in_loop(&self, stmt: StmtId) -> bool {
        self.loops.innermost(self.body.stmts[stmt].block).is_some()
    }

    /// Loops around a statement, innermost first.
    pub fn loops_around(&self, stmt: StmtId) -> impl Iterator<Item = &Loop> + '_ {
        self.loops_with(self.body.stmts[stmt].block)
    }

    /// Loops that a block is in, innermost first.
    pub fn loops_with(&self, block: BlockId) -> impl Iterator<Item = &Loop> + '_ {
        self.loops.loops.iter().rev().filter(move |around| around.blocks.contains(&block))
    }

    /// The constructor call on the object that `var` was allocated for.
    pub fn constructor(&self, var: Var) -> Option<StmtId> {
        self.constructors.get(&var).copied()
    }

    /// Successors of a block, exceptional ones included.
    pub fn successors(&self, block: BlockId) -> Vec<BlockId> {
        let info = &self.body.blocks[block];
        let mut all = info.succs.clone();
        for &(_, handler) in self.handlers_in(block, StmtId(info.first)) {
            if !all.contains(&handler) {
                all.push(handler);
            }
        }
        all
    }

    /// Edges that leave a loop.
    pub fn exits(&self, around: &Loop) -> Vec<(BlockId, BlockId)> {
        let mut exits = Vec::new();
        for &from in &around.blocks {
            let leaving = self.successors(from).into_iter().filter(|to| !around.blocks.contains(to));
            exits.extend(leaving.map(|to| (from, to)));
        }
        exits
    }

    /// Follows copies and casts to where the value was made.
    pub fn source(&self, mut var: Var) -> Var {
        while let Some(def) = self.body.vars[var].def {
            match self.body.stmts[def].kind {
                StmtKind::Copy { src, .. } | StmtKind::Cast { src, .. } if src != var => var = src,
                _ => break,
            }
        }
        var
    }

    pub fn definition(&self, var: Var) -> Option<(StmtId, &StmtKind)> {
        let def = self.body.vars[var].def?;
        Some((def, &self.body.stmts[def].kind))
    }
}

/// Statements reachable from just after `from` without passing `kill`, inside the body.
pub fn after(flow: &Flow, from: impl IntoIterator<Item = StmtId>, kill: Option<StmtId>) -> Bits {
    let places = from.into_iter().map(|stmt| (flow.body.stmts[stmt].block, stmt.0 + 1)).collect();
    reachable(flow, places, kill)
}

/// Statements reachable from the entry without passing `kill`, inside the body.
pub fn from_entry(flow: &Flow, kill: Option<StmtId>) -> Bits {
    let places = flow.body.blocks.ids().take(1).map(|entry| (entry, flow.body.blocks[entry].first)).collect();
    reachable(flow, places, kill)
}

fn reachable(flow: &Flow, mut left: Vec<(BlockId, u32)>, kill: Option<StmtId>) -> Bits {
    if left.is_empty() {
        return Bits::new();
    }
    let mut reached = Bits::with_len(flow.body.stmts.bound());
    let mut entered = Bits::with_len(flow.body.blocks.len());
    while let Some((block, first)) = left.pop() {
        let info = &flow.body.blocks[block];
        if first == info.first && !entered.insert(block.index()) {
            continue;
        }
        match kill.filter(|kill| (first..info.end).contains(&kill.0)) {
            Some(kill) => flow.add_range(&mut reached, first, kill.0),
            None => {
                flow.add_range(&mut reached, first, info.end);
                let handlers = flow.handlers_in(block, StmtId(info.first)).iter().map(|(_, handler)| handler);
                let next = info.succs.iter().chain(handlers);
                left.extend(next.map(|&to| (to, flow.body.blocks[to].first)));
            }
        }
    }
    reached
}

/// Which statement may enter which handler. An exception is rare and an interrupt rarer:
/// - a handler of a checked type is entered by throws, and by calls that declare a compatible type;
/// - a handler of any other type is entered by throws and all calls, or by whatever may fail if there are none;
/// - a call that declares InterruptedException enters a handler only if nothing else does, and then only the
///   last such call does: `try { a.join(); b.join(); } catch (InterruptedException e) {}` has joined both.
///
/// The second list has the handlers that any call may enter.
fn throws(resolver: &Resolver<'_>, body: &Body) -> (Vec<(StmtId, BlockId)>, Vec<BlockId>) {
    let mut covered: Vec<Vec<BlockId>> = vec![Vec::new(); body.blocks.len()];
    for (block, info) in body.blocks.iter() {
        for &handler in &info.handlers {
            if !covered[handler.index()].contains(&block) {
                covered[handler.index()].push(block);
            }
        }
    }
    let mut throws = Vec::new();
    let mut open = Vec::new();
    for (handler, info) in body.blocks.iter() {
        let blocks = &covered[handler.index()];
        if blocks.is_empty() {
            continue;
        }
        let caught = match body.stmts.get(StmtId(info.first)).map(|stmt| &stmt.kind) {
            Some(&StmtKind::Catch { class, .. }) => class,
            _ => None,
        };
        let checked = caught.filter(|&class| resolver.is_checked(class));
        if checked.is_none() {
            open.push(handler);
        }
        let stmts = || blocks.iter().flat_map(|&block| body.block_stmts(block)).map(|(stmt, _)| stmt);
        let mut sources: Vec<StmtId> = Vec::new();
        let mut last_blocking = None;
        for stmt in stmts() {
            match &body.stmts[stmt].kind {
                StmtKind::Throw { .. } => sources.push(stmt),
                StmtKind::Call { target, .. } => {
                    if resolver.is_interruptible(*target) {
                        last_blocking = last_blocking.max(Some(stmt));
                    } else if checked.is_none_or(|class| resolver.compatible(*target, class)) {
                        sources.push(stmt);
                    }
                }
                _ => {}
            }
        }
        if sources.is_empty() {
            sources.extend(last_blocking);
        }
        if sources.is_empty() {
            sources.extend(stmts().filter(|&stmt| may_fail(&body.stmts[stmt].kind)));
        }
        if sources.is_empty() {
            sources.extend(stmts().next_back());
        }
        throws.extend(sources.into_iter().map(|stmt| (stmt, handler)));
    }
    throws.sort_unstable();
    throws.dedup();
    (throws, open)
}

/// What interruptible calls throw when they are not interrupted: that their time is over, say.
fn failures(resolver: &Resolver<'_>, body: &Body, calls: &[StmtId]) -> Vec<(StmtId, BlockId)> {
    let mut failures = Vec::new();
    for &stmt in calls {
        let StmtKind::Call { target, .. } = body.stmts[stmt].kind else { continue };
        for &handler in &body.blocks[body.stmts[stmt].block].handlers {
            let caught = match body.stmts[StmtId(body.blocks[handler].first)].kind {
                StmtKind::Catch { class, .. } => class,
                _ => None,
            };
            if caught.is_none_or(|class| resolver.catches_failure(target, class)) {
                failures.push((stmt, handler));
            }
        }
    }
    failures.sort_unstable();
    failures
}

fn may_fail(kind: &StmtKind) -> bool {
    !matches!(
        kind,
        StmtKind::Const { .. }
            | StmtKind::Copy { .. }
            | StmtKind::Phi { .. }
            | StmtKind::Catch { .. }
            | StmtKind::Branch { .. }
            | StmtKind::Switch { .. }
            | StmtKind::Return { .. }
    )
}

fn constructors(program: &Program, body: &Body) -> FxHashMap<Var, StmtId> {
    let mut constructors = FxHashMap::default();
    for (stmt, info) in body.stmts.iter() {
        if let StmtKind::Call { target, args, .. } = &info.kind
            && let Some(&base) = args.first()
            && let Some(def) = body.vars[base].def
            && matches!(body.stmts[def].kind, StmtKind::New { .. })
            && program.selector_text(target.selector).0 == "<init>"
        {
            constructors.entry(base).or_insert(stmt);
        }
    }
    constructors
}

#[cfg(test)]
pub mod testing {
    //! Bodies made by hand.

    use super::*;
    use classfile::{ClassBytes, ClassSource};
    use ir::{Block, Cond, Const, Stmt, VarInfo};
    use std::collections::BTreeSet;

    struct NoClasses;

    impl ClassSource for NoClasses {
        fn find(&self, _: &str) -> Option<ClassBytes> {
            None
        }

        fn app_classes(&self) -> Vec<String> {
            Vec::new()
        }

        fn resources(&self, _: &str) -> Vec<Vec<u8>> {
            Vec::new()
        }
    }

    /// Blocks by number of statements, successors and handlers. A block without successors returns, one with
    /// two branches; every other statement is a cast, which may fail.
    pub fn flow(blocks: &[(u32, &[u32], &[u32])]) -> Flow {
        let mut body = Body::default();
        let var = body.vars.push(VarInfo { name: None, is_ref: true, def: None });
        let handlers: BTreeSet<u32> =
            blocks.iter().flat_map(|(_, _, handlers)| handlers.iter().copied()).collect();
        for (at, &(count, succs, covering)) in blocks.iter().enumerate() {
            let first = body.stmts.bound() as u32;
            for n in 0..count {
                let kind = match (n + 1 == count, succs.len()) {
                    (true, 0) => StmtKind::Return { value: None },
                    (true, 2) => StmtKind::Branch { cond: Cond::Eq, a: var, b: None },
                    _ if n == 0 && handlers.contains(&(at as u32)) => {
                        StmtKind::Catch { dst: var, class: None }
                    }
                    _ if covering.is_empty() => StmtKind::Const { dst: var, value: Const::Null },
                    _ => StmtKind::Cast { dst: var, src: var, class: ir::ClassId(0) },
                };
                body.stmts.push(Stmt { kind, block: BlockId::new(at), line: 0, pc: 0 });
            }
            let to_blocks = |blocks: &[u32]| blocks.iter().map(|&block| BlockId(block)).collect();
            body.blocks.push(Block {
                first,
                end: first + count,
                succs: to_blocks(succs),
                handlers: to_blocks(covering),
                preds: Vec::new(),
            });
        }
        let program = Program::new(Arc::new(NoClasses));
        Flow::new(&Resolver::new(&program), MethodId(0), Arc::new(body))
    }
}
