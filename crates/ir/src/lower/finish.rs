//! From a draft to a [`Body`]: trivial phis go, variables are numbered in order of definition, statements block
//! by block. Changes no meaning.

use super::blocks::{Graph, NodeKind};
use super::listing::Listing;
use super::machine::{Draft, DraftVar};
use super::ssa::{Phi, Replacements, UNDEFINED};
use crate::body::{Block, BlockId, Body, Stmt, StmtId, StmtKind, Var, VarInfo};
use arena::{Id, IndexVec};

pub(super) fn finish(draft: Draft, graph: Graph, listing: &Listing<'_>) -> Body {
    let Draft { stmts, ends, vars, params, joins, problems } = draft;
    let replaced = joins.simplify(vars.len());
    let phis: Vec<Phi> = joins.phis.iter().copied().filter(|phi| replaced.find(phi.var) == phi.var).collect();
    let mut numbering =
        Numbering { replaced, numbers: vec![UNDEFINED; vars.len()], undefined: None, drafts: vars };
    let mut body = Body { problems, ..Body::default() };
    for &param in &params {
        let var = numbering.define(&mut body.vars, param, None);
        body.params.push(var);
    }
    let mut placed: Vec<Stmt> = Vec::with_capacity(stmts.len() + phis.len());
    let (mut left, mut phis) = (stmts.into_iter(), phis.into_iter().peekable());
    let mut start = 0;
    for (at, (node, &end)) in graph.nodes.iter().zip(&ends).enumerate() {
        let block = BlockId::new(at);
        let first = placed.len() as u32;
        let mut place = |stmt: Stmt| {
            let defined = stmt.kind.def();
            if let Some(var) = defined {
                numbering.define(&mut body.vars, var, Some(StmtId::new(placed.len())));
            }
            placed.push(stmt);
        };
        // The exception comes first, then the locals as they were when it was thrown.
        let (before, after) = match node.kind {
            NodeKind::Catch(_) => ((end - start) as usize, 0),
            NodeKind::Code | NodeKind::Entry => (0, (end - start) as usize),
        };
        left.by_ref().take(before).for_each(&mut place);
        while let Some(phi) = phis.next_if(|phi| phi.node as usize == at) {
            let kind = StmtKind::Phi { dst: phi.var, srcs: joins.sources(phi).collect() };
            let (line, pc) = (listing.lines[node.first as usize].into(), listing.pcs[node.first as usize]);
            place(Stmt { kind, block, line, pc });
        }
        left.by_ref().take(after).for_each(&mut place);
        start = end;
        body.blocks.push(Block { first, end: placed.len() as u32, ..Block::default() });
    }
    for stmt in &mut placed {
        stmt.kind.rename(|var| *var = numbering.number(&mut body.vars, *var));
    }
    body.stmts = placed.into_iter().collect();
    for (at, node) in graph.nodes.into_iter().enumerate() {
        let blocks = |edges: Vec<u32>| edges.into_iter().map(BlockId).collect();
        let block = &mut body.blocks[BlockId::new(at)];
        block.succs = blocks(node.succs);
        block.handlers = blocks(node.handlers);
        block.preds = blocks(node.preds);
    }
    body
}

struct Numbering {
    replaced: Replacements,
    /// Final number by draft variable.
    numbers: Vec<Var>,
    /// One variable stands for every local that a phi finds unassigned on some way.
    undefined: Option<Var>,
    drafts: Vec<DraftVar>,
}

impl Numbering {
    fn define(&mut self, vars: &mut IndexVec<Var, VarInfo>, var: Var, def: Option<StmtId>) -> Var {
        let DraftVar { name, is_ref, .. } = self.drafts[var.index()];
        let number = vars.push(VarInfo { name, is_ref, def });
        self.numbers[var.index()] = number;
        number
    }

    fn number(&mut self, vars: &mut IndexVec<Var, VarInfo>, var: Var) -> Var {
        let var = self.replaced.find(var);
        if var == UNDEFINED {
            return *self
                .undefined
                .get_or_insert_with(|| vars.push(VarInfo { name: None, is_ref: false, def: None }));
        }
        match self.numbers[var.index()] {
            UNDEFINED => self.define(vars, var, None),
            number => number,
        }
    }
}
