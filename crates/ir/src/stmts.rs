//! The statements of a body by number. Knows that a number may stand for nothing; who gives numbers is next door, in
//! [`place`](crate::align).

use crate::body::{BlockId, Stmt, StmtId, StmtKind};
use arena::{Id, IndexVec};
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// Numbers ascend in the order of the body. Some are free: when statements come and go, the others keep theirs. What
/// stands at a free number does nothing, is neither the first nor the last of a block, and is left out of everything
/// that counts or lists statements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stmts(IndexVec<StmtId, Stmt>);

impl Stmts {
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (StmtId, &Stmt)> {
        self.0.iter().filter(|(_, stmt)| !stmt.is_nothing())
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stmt> {
        self.0.iter_mut().filter(|stmt| !stmt.is_nothing())
    }

    pub fn ids(&self) -> impl DoubleEndedIterator<Item = StmtId> + '_ {
        self.iter().map(|(id, _)| id)
    }

    /// `None` also for a free number.
    pub fn get(&self, id: StmtId) -> Option<&Stmt> {
        self.0.get(id).filter(|stmt| !stmt.is_nothing())
    }

    /// The next one, in its block or at the beginning of the one that follows.
    pub fn after(&self, id: StmtId) -> Option<StmtId> {
        (id.index() + 1..self.bound()).map(StmtId::new).find(|&next| self.get(next).is_some())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// All numbers are below this.
    pub fn bound(&self) -> usize {
        self.0.len()
    }

    /// How many come before this one: the same for the same body, whatever it was before.
    pub fn rank(&self, id: StmtId) -> usize {
        self.0.as_slice().iter().take(id.index()).filter(|stmt| !stmt.is_nothing()).count()
    }

    pub fn push(&mut self, stmt: Stmt) -> StmtId {
        self.0.push(stmt)
    }

    /// Makes sure that the next one gets this number, if that is still to come.
    pub(crate) fn skip_to(&mut self, id: StmtId, block: BlockId) {
        while self.0.len() < id.index() {
            self.0.push(Stmt { kind: StmtKind::Nothing, block, line: 0, pc: 0 });
        }
    }
}

impl Stmt {
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self.kind, StmtKind::Nothing)
    }
}

impl FromIterator<Stmt> for Stmts {
    fn from_iter<T: IntoIterator<Item = Stmt>>(stmts: T) -> Stmts {
        Stmts(stmts.into_iter().collect())
    }
}

impl Index<StmtId> for Stmts {
    type Output = Stmt;
    #[inline]
    fn index(&self, id: StmtId) -> &Stmt {
        &self.0[id]
    }
}

impl IndexMut<StmtId> for Stmts {
    #[inline]
    fn index_mut(&mut self, id: StmtId) -> &mut Stmt {
        &mut self.0[id]
    }
}
