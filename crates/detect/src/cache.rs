//! Fields that are filled when first needed, with the same value whoever does it: harmless where the value is
//! one word and immutable. Knows bodies only.

use crate::Stages;
use crate::access::{Accesses, What};
use ir::cfg::{Dominators, Edges};
use ir::{Body, Cond, FieldId, MethodId, StmtId, StmtKind, Var};
use std::collections::{BTreeMap, BTreeSet};

/// A field is a cache if all its writes after publication are in one method, each after a test whether the field is
/// still zero or null, of a value that is computed rather than a mark that somebody was here.
pub(crate) fn caches(stages: &Stages<'_>, accesses: &Accesses) -> BTreeSet<FieldId> {
    let mut writes: BTreeMap<FieldId, BTreeSet<(MethodId, StmtId)>> = BTreeMap::new();
    for (_, access) in accesses.all.iter().filter(|(_, access)| access.write && access.published) {
        if let What::Field(field) | What::Static(field) = access.what {
            writes.entry(field).or_default().insert((access.method, access.stmt));
        }
    }
    let is_cache = |field: FieldId, writes: &BTreeSet<(MethodId, StmtId)>| {
        let Some(&(method, _)) = writes.first() else { return false };
        is_one_immutable_word(stages, field)
            && writes.iter().all(|&(other, _)| other == method)
            && stages.program.lowered(method).is_some_and(|body| {
                let dominators = Dominators::new(body, Edges::All);
                writes.iter().all(|&(_, stmt)| fills(stages, body, &dominators, field, stmt))
            })
    };
    writes.iter().filter(|(field, writes)| is_cache(**field, writes)).map(|(&field, _)| field).collect()
}

fn is_one_immutable_word(stages: &Stages<'_>, field: FieldId) -> bool {
    let descriptor = &stages.program.names[stages.program.field(field).descriptor];
    matches!(descriptor, "I" | "S" | "B" | "C" | "F" | "Ljava/lang/String;")
}

fn fills(stages: &Stages<'_>, body: &Body, dominators: &Dominators, field: FieldId, write: StmtId) -> bool {
    let (StmtKind::Store { src, .. } | StmtKind::StoreStatic { src, .. }) = body.stmts[write].kind else {
        return false;
    };
    let is_mark = matches!(body.vars[src].def.map(|def| &body.stmts[def].kind), Some(StmtKind::Const { .. }));
    let is_load = |var: Var| match body.vars[var].def.map(|def| &body.stmts[def].kind) {
        Some(&StmtKind::Load { field: loaded, .. } | &StmtKind::LoadStatic { field: loaded, .. }) => {
            stages.program.find_field(loaded) == Some(field)
        }
        _ => false,
    };
    let is_test = |kind: &StmtKind| match *kind {
        StmtKind::Branch { cond: Cond::Eq | Cond::Ne, a, b: None } => is_load(a),
        _ => false,
    };
    let block = body.stmts[write].block;
    let mut tests = body.stmts.iter().filter(|(_, stmt)| is_test(&stmt.kind));
    !is_mark && tests.any(|(_, test)| test.block != block && dominators.dominates(test.block, block))
}
