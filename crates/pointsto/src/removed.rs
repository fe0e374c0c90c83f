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
    stmts: FxHashMap<MethodId, FxHashMap<u64, Vec<StmtId>>>,
}

impl Removed {
    pub(crate) fn add(&mut self, method: MethodId, kind: &StmtKind, constants: Constants, removed: StmtId) {
        if names_something(kind) {
            let stmts = self.stmts.entry(method).or_default();
            stmts.entry(hash(kind, constants)).or_default().push(removed);
        }
    }

    /// For some statements of a body those that were the same: the numbers they have had meanwhile, and those they get.
    pub(crate) fn take(
        &mut self,
        method: MethodId,
        body: &Body,
        which: impl Fn(&StmtId) -> bool,
    ) -> Vec<(StmtId, StmtId)> {
        let Some(stmts) = self.stmts.get_mut(&method) else { return Vec::new() };
        let constants = constants(body);
        let mut taken = Vec::new();
        for stmt in body.stmts.ids().filter(which) {
            let kind = &body.stmts[stmt].kind;
            if names_something(kind) {
                let same = stmts.get_mut(&hash(kind, constants));
                taken.extend(same.and_then(Vec::pop).map(|removed| (removed, stmt)));
            }
        }
        stmts.retain(|_, same| !same.is_empty());
        if stmts.is_empty() {
            self.stmts.remove(&method);
        }
        taken
    }

    pub(crate) fn len(&self) -> usize {
        self.stmts.values().flat_map(FxHashMap::values).map(Vec::len).sum()
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
