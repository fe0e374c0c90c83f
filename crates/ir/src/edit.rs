//! Bodies with one statement less, for measuring what an edit costs. Says nothing of how such a body would have come
//! from source.

use crate::body::{Block, BlockId, Body, Stmt, StmtId, StmtKind, Var, VarInfo};
use arena::Id;

impl Body {
    /// The body without this statement, what it defined being undefined. Control flow stays as it is, so there is
    /// none without a phi, a catch or a statement that decides where to go on; handlers stay even if nothing is left
    /// that could throw.
    pub fn without(&self, stmt: StmtId) -> Option<Body> {
        if !self.can_be_without(stmt) {
            return None;
        }
        let mut body = self.clone();
        let ids = (0..self.stmts.bound()).map(StmtId::new).filter(|&id| id != stmt);
        body.stmts = ids.map(|id| self.stmts[id].clone()).collect();
        for info in body.vars.iter_mut() {
            info.def = info.def.filter(|&def| def != stmt).map(|def| StmtId(def.0 - u32::from(def > stmt)));
        }
        for block in body.blocks.iter_mut() {
            block.first -= u32::from(block.first as usize > stmt.index());
            block.end -= u32::from(block.end as usize > stmt.index());
        }
        Some(body)
    }

    /// Whether there is this statement, and a body without it.
    pub fn can_be_without(&self, stmt: StmtId) -> bool {
        !matches!(
            self.stmts[stmt].kind,
            StmtKind::Phi { .. }
                | StmtKind::Catch { .. }
                | StmtKind::Branch { .. }
                | StmtKind::Switch { .. }
                | StmtKind::Throw { .. }
                | StmtKind::Return { .. }
                | StmtKind::Nothing
        )
    }

    /// A body with the same parameters that only returns, nothing if the method has a result.
    pub fn emptied(&self) -> Body {
        let line = self.stmts.iter().next().map_or(0, |(_, stmt)| stmt.line);
        let kind = StmtKind::Return { value: None };
        let undefined = |(_, info): (Var, &VarInfo)| VarInfo { def: None, ..info.clone() };
        Body {
            vars: self.vars.iter().map(undefined).collect(),
            params: self.params.clone(),
            stmts: [Stmt { kind, block: BlockId(0), line, pc: 0 }].into_iter().collect(),
            blocks: [Block { end: 1, ..Block::default() }].into_iter().collect(),
            problems: Vec::new(),
        }
    }

    /// Whether both are the same but for lines, offsets, names and problems.
    pub(crate) fn means_the_same(&self, other: &Body) -> bool {
        let same_vars =
            |(left, right): (&VarInfo, &VarInfo)| left.is_ref == right.is_ref && left.def == right.def;
        let same_stmts = |((at, left), (also, right)): ((StmtId, &Stmt), (StmtId, &Stmt))| {
            at == also && left.kind == right.kind && left.block == right.block
        };
        self.params == other.params
            && self.blocks == other.blocks
            && self.vars.len() == other.vars.len()
            && self.vars.as_slice().iter().zip(other.vars.as_slice()).all(same_vars)
            && self.stmts.bound() == other.stmts.bound()
            && self.stmts.iter().zip(other.stmts.iter()).all(same_stmts)
    }
}
