//! Reachability inside one body, up to statements and edges that control may not pass. Knows nothing of what is
//! called from there.

use super::throws::MethodThrows;
use crate::bits::Bits;
use crate::branches::Edge;
use crate::flow::Flow;
use arena::Id;
use ir::{BlockId, StmtId, StmtKind};

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
    /// It has waited only where it returns: what else it declares to throw is to be reckoned with.
    pub fails: bool,
}

/// Reachability inside one body, which can be continued from further seeds.
pub struct Walk<'a> {
    flow: &'a Flow,
    /// Which statements enter which handlers, sorted.
    throws: &'a [(StmtId, BlockId)],
    /// Throws and calls that leave the method; if not known, throws that have no handler do.
    leaving: Option<&'a MethodThrows>,
    stops: Vec<Stop>,
    killed_edges: Vec<Edge>,
    never_taken: &'a [Edge],
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
    pub fn new(
        flow: &'a Flow,
        throws: Option<&'a MethodThrows>,
        stops: Vec<Stop>,
        killed_edges: Vec<Edge>,
        never_taken: &'a [Edge],
    ) -> Walk<'a> {
        Walk {
            flow,
            throws: throws.map_or(flow.throws(), |throws| &throws.entering),
            leaving: throws,
            stops,
            killed_edges,
            never_taken,
            from: vec![u32::MAX; flow.body.blocks.len()],
            left: Vec::new(),
            reached: Bits::with_len(flow.body.stmts.bound()),
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
        let mut handlers = between(self.throws, from, info.end).iter().peekable();
        let first = self.stops.partition_point(|stop| stop.stmt.0 < from);
        for at in first..self.stops.len() {
            let stop = self.stops[at];
            if stop.stmt.0 >= info.end {
                break;
            }
            // Beyond it everything has been done.
            if stop.stmt.0 >= until {
                flow.add_range(&mut self.reached, from, until);
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
            if stop.fails {
                for &(_, handler) in flow.failures(stop.stmt) {
                    self.edge(block, handler);
                }
            }
            self.exits.thrown |= stop.throws_out;
            if !stop.passes.normal {
                flow.add_range(&mut self.reached, from, stop.stmt.0 + 1);
                return;
            }
        }
        for &(_, handler) in handlers {
            self.edge(block, handler);
        }
        flow.add_range(&mut self.reached, from, info.end);
        if let Some(last) = info.end.checked_sub(1).filter(|&last| last >= from) {
            match flow.body.stmts[StmtId(last)].kind {
                StmtKind::Return { .. } => self.exits.normal = true,
                StmtKind::Throw { .. } => {
                    let no_handler = info.handlers.is_empty();
                    self.exits.thrown |=
                        self.leaving.map_or(no_handler, |throws| throws.leaves(StmtId(last)));
                }
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
        for &(_, handler) in between(self.throws, stmt.0, stmt.0 + 1) {
            self.edge(block, handler);
        }
        let no_handler = flow.body.blocks[block].handlers.is_empty();
        self.exits.thrown |= no_handler || self.leaving.is_some_and(|throws| throws.leaves(stmt));
    }

    fn edge(&mut self, from: BlockId, to: BlockId) {
        if !self.never_taken.contains(&(from, to)) && !self.killed_edges.contains(&(from, to)) {
            self.visit(to, self.flow.body.blocks[to].first);
        }
    }
}

fn between(throws: &[(StmtId, BlockId)], from: u32, end: u32) -> &[(StmtId, BlockId)] {
    if throws.is_empty() {
        return throws;
    }
    let first = throws.partition_point(|&(at, _)| at.0 < from);
    let last = throws.partition_point(|&(at, _)| at.0 < end);
    &throws[first..last.max(first)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::testing::flow;

    /// Statements reached from a seed, with the given ones closed.
    fn reached(flow: &Flow, seed: Seed, closed: &[u32]) -> (Vec<usize>, Exits) {
        let stop =
            |&at: &u32| Stop { stmt: StmtId(at), passes: Exits::default(), throws_out: false, fails: false };
        let mut walk = Walk::new(flow, None, closed.iter().map(stop).collect(), Vec::new(), &[]);
        walk.go(seed);
        (walk.reached.iter().collect(), walk.exits)
    }

    #[test]
    fn what_precedes_a_statement_is_not_reached_from_it() {
        let flow = flow(&[(4, &[], &[])]);
        let (stmts, exits) = reached(&flow, Seed::After(StmtId(1)), &[]);
        assert_eq!(stmts, [2, 3]);
        assert!(exits.normal);
    }

    #[test]
    fn a_statement_in_a_loop_reaches_itself() {
        // 0 → 1 ⇄ 1, 1 → 2
        let flow = flow(&[(1, &[1], &[]), (3, &[1, 2], &[]), (1, &[], &[])]);
        let (stmts, _) = reached(&flow, Seed::After(StmtId(2)), &[]);
        assert_eq!(stmts, [1, 2, 3, 4]);
    }

    #[test]
    fn a_closed_statement_is_reached_and_not_passed() {
        let flow = flow(&[(4, &[], &[])]);
        let (stmts, exits) = reached(&flow, Seed::Entry, &[2]);
        assert_eq!(stmts, [0, 1, 2]);
        assert_eq!(exits, Exits::default());
    }

    #[test]
    fn a_closed_branch_leaves_the_other_one() {
        // 0 → 1, 2; 1 → 3; 2 → 3: closed in 1 only
        let flow = flow(&[(1, &[1, 2], &[]), (2, &[3], &[]), (1, &[3], &[]), (1, &[], &[])]);
        assert!(reached(&flow, Seed::Entry, &[1]).1.normal);
        assert!(!reached(&flow, Seed::Entry, &[1, 3]).1.normal);
    }

    #[test]
    fn a_killed_edge_is_not_taken() {
        // 0 → 1 ⇄ 1, 1 → 2: leaving the loop is killed
        let flow = flow(&[(1, &[1], &[]), (2, &[1, 2], &[]), (1, &[], &[])]);
        let mut walk = Walk::new(&flow, None, Vec::new(), vec![(BlockId(1), BlockId(2))], &[]);
        walk.go(Seed::Entry);
        assert_eq!(walk.reached.iter().collect::<Vec<_>>(), [0, 1, 2]);
        assert!(!walk.exits.normal);
    }

    #[test]
    fn a_handler_is_entered_from_what_may_fail_before_it_is_closed() {
        // 0 (covered by 2) → 1; nothing is a call, so that every statement may enter the handler
        let flow = flow(&[(2, &[1], &[2]), (1, &[], &[]), (1, &[], &[])]);
        assert_eq!(reached(&flow, Seed::Entry, &[1]).0, [0, 1, 3]);
        assert_eq!(reached(&flow, Seed::Entry, &[0]).0, [0]);
    }

    #[test]
    fn a_walk_can_be_continued_where_it_was_stopped() {
        let flow = flow(&[(4, &[1], &[]), (1, &[], &[])]);
        let closed = Stop { stmt: StmtId(1), passes: Exits::default(), throws_out: false, fails: false };
        let mut walk = Walk::new(&flow, None, vec![closed], Vec::new(), &[]);
        walk.go(Seed::Entry);
        assert!(!walk.exits.normal);
        walk.set_stop(Stop { passes: Exits::ALL, ..closed });
        walk.go_on(Seed::After(StmtId(1)));
        assert_eq!(walk.reached.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(walk.exits.normal);
    }
}
