//! Reachability inside one body, up to statements and edges that control may not pass.

use crate::bits::Bits;
use crate::flow::Flow;
use arena::Id;
use ir::{BlockId, StmtId, StmtKind};
use pointsto::Act;

/// How control leaves an activation without passing a kill.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exits {
    pub normal: bool,
    pub thrown: bool,
}

/// Where a walk through one body begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Seed {
    Entry,
    After(StmtId),
    /// The handlers of a call that has thrown.
    Thrown(StmtId),
}

/// A statement that control may not pass.
#[derive(Debug, Clone, Copy)]
pub struct Stop {
    pub stmt: StmtId,
    pub passes: Exits,
    /// An exception nobody here catches leaves the method.
    pub throws_out: bool,
}

/// Reachability inside one body, which can be continued from further seeds.
pub struct Walk<'a> {
    flow: &'a Flow,
    stops: Vec<Stop>,
    killed_edges: &'a [(Act, BlockId, BlockId)],
    /// Per block, the first statement reached so far.
    from: Vec<u32>,
    left: Vec<(BlockId, u32)>,
    pub reached: Bits,
    /// Statements whose callees have been reached.
    pub called: Bits,
    pub exits: Exits,
}

impl Exits {
    /// Nothing is known that keeps control inside.
    pub const ALL: Exits = Exits { normal: true, thrown: true };

    pub fn any(self) -> bool {
        self.normal || self.thrown
    }
}

impl<'a> Walk<'a> {
    pub fn new(flow: &'a Flow, stops: Vec<Stop>, killed_edges: &'a [(Act, BlockId, BlockId)]) -> Walk<'a> {
        Walk {
            flow,
            stops,
            killed_edges,
            from: vec![u32::MAX; flow.body.blocks.len()],
            left: Vec::new(),
            reached: Bits::with_len(flow.body.stmts.len()),
            called: Bits::new(),
            exits: Exits::default(),
        }
    }

    /// Follows everything reachable from a seed. True if that is more than before.
    pub fn go(&mut self, seed: Seed) -> bool {
        let body = &self.flow.body;
        match seed {
            Seed::Entry if body.blocks.is_empty() => self.exits.normal = true,
            Seed::Entry => self.visit(BlockId(0), body.blocks[BlockId(0)].first),
            Seed::After(stmt) => self.visit(body.stmts[stmt].block, stmt.0 + 1),
            Seed::Thrown(stmt) => self.throw(stmt),
        }
        self.finish()
    }

    /// Goes on at a statement that was reached and could not be passed before.
    pub fn go_on(&mut self, seed: Seed) {
        match seed {
            Seed::After(stmt) => self.block(self.flow.body.stmts[stmt].block, stmt.0 + 1, u32::MAX),
            Seed::Thrown(stmt) => self.throw(stmt),
            Seed::Entry => {}
        }
        self.finish();
    }

    pub fn set_stop(&mut self, stop: Stop) {
        if let Ok(at) = self.stops.binary_search_by_key(&stop.stmt, |stop| stop.stmt) {
            self.stops[at] = stop;
        }
    }

    fn finish(&mut self) -> bool {
        let mut grown = false;
        while let Some((block, from)) = self.left.pop() {
            let until = self.from[block.index()];
            if from < until {
                self.from[block.index()] = from;
                self.block(block, from, until);
                grown = true;
            }
        }
        grown
    }

    fn visit(&mut self, block: BlockId, from: u32) {
        if from < self.from[block.index()] {
            self.left.push((block, from));
        }
    }

    /// Statements `from..` of a block, of which those from `until` on were reached before.
    fn block(&mut self, block: BlockId, from: u32, until: u32) {
        let flow = self.flow;
        let info = &flow.body.blocks[block];
        let mut handlers = flow.handlers_in(block, StmtId(from)).iter().peekable();
        let first = self.stops.partition_point(|stop| stop.stmt.0 < from);
        for at in first..self.stops.len() {
            let stop = self.stops[at];
            if stop.stmt.0 >= info.end {
                break;
            }
            // Beyond it everything has been done.
            if stop.stmt.0 >= until {
                self.reached.insert_range(from as usize, until as usize);
                return;
            }
            while let Some(&(_, handler)) = handlers.next_if(|&&(at, _)| at < stop.stmt) {
                self.edge(block, handler);
            }
            while let Some(&(_, handler)) = handlers.next_if(|&&(at, _)| at == stop.stmt) {
                if stop.passes.thrown {
                    self.edge(block, handler);
                }
            }
            self.exits.thrown |= stop.throws_out && info.handlers.is_empty();
            if !stop.passes.normal {
                self.reached.insert_range(from as usize, stop.stmt.index() + 1);
                return;
            }
        }
        for &(_, handler) in handlers {
            self.edge(block, handler);
        }
        self.reached.insert_range(from as usize, info.end as usize);
        if let Some(last) = info.end.checked_sub(1).filter(|&last| last >= from) {
            match flow.body.stmts[StmtId(last)].kind {
                StmtKind::Return { .. } => self.exits.normal = true,
                StmtKind::Throw { .. } => self.exits.thrown |= info.handlers.is_empty(),
                _ => {}
            }
        }
        for &to in &info.succs {
            self.edge(block, to);
        }
    }

    /// A call has thrown: to its handlers, or out.
    fn throw(&mut self, stmt: StmtId) {
        let flow = self.flow;
        let block = flow.body.stmts[stmt].block;
        for &(_, handler) in flow.handlers(stmt) {
            self.edge(block, handler);
        }
        self.exits.thrown |= flow.body.blocks[block].handlers.is_empty();
    }

    fn edge(&mut self, from: BlockId, to: BlockId) {
        if !self.killed_edges.iter().any(|&(_, killed, into)| (killed, into) == (from, to)) {
            self.visit(to, self.flow.body.blocks[to].first);
        }
    }
}
