//! Statements that edits have removed and after which objects, contexts and calls are still named. One that comes back
//! as it was gets all of them again: who comments a line out and in, or goes back and forth between two versions,
//! leaves nothing behind. Knows nothing of what is named.

use ir::{Body, MethodId, StmtId, StmtKind};
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

/// The constants of a body, which models look at.
#[derive(Clone, Copy)]
pub(crate) struct Constants(u64);

pub(crate) fn constants(body: &Body) -> Constants {
    let mut hasher = FxHasher::default();
    let kinds = body.stmts.iter().map(|(_, stmt)| &stmt.kind);
    kinds.filter(|kind| matches!(kind, StmtKind::Const { .. })).for_each(|kind| kind.hash(&mut hasher));
    Constants(hasher.finish())
}

/// By method and by what they are.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Removed {
    stmts: FxHashMap<(MethodId, u64), Vec<StmtId>>,
}

impl Removed {
    pub(crate) fn add(&mut self, method: MethodId, kind: &StmtKind, constants: Constants, removed: StmtId) {
        if names_something(kind) {
            self.stmts.entry((method, hash(kind, constants))).or_default().push(removed);
        }
    }

    /// One that was the same.
    pub(crate) fn take(&mut self, method: MethodId, kind: &StmtKind, constants: Constants) -> Option<StmtId> {
        if !names_something(kind) {
            return None;
        }
        let key = (method, hash(kind, constants));
        let stmts = self.stmts.get_mut(&key)?;
        let removed = stmts.pop();
        if stmts.is_empty() {
            self.stmts.remove(&key);
        }
        removed
    }

    pub(crate) fn len(&self) -> usize {
        self.stmts.values().map(Vec::len).sum()
    }
}

fn names_something(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::New { .. } | StmtKind::NewArray { .. } | StmtKind::Lambda { .. } | StmtKind::Call { .. }
    )
}

fn hash(kind: &StmtKind, constants: Constants) -> u64 {
    let mut hasher = FxHasher::default();
    (kind, constants.0).hash(&mut hasher);
    hasher.finish()
}
