//! Fields that are filled when first needed, with the same value whoever does it: harmless where the value is
//! one word and immutable. Knows bodies only.

use crate::Stages;
use crate::access::{Access, Accesses, Touched, What};
use ir::cfg::{Dominators, Edges};
use ir::{Body, Cond, FieldId, MethodId, StmtId, StmtKind, Var};
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Changes, Kind, Memo, Sizes};

/// A field is a cache if all its writes after publication are in one method, each after a test whether the field is
/// still zero or null, of a value that is computed rather than a mark that somebody was here.
pub(crate) struct Caches {
    known: Memo<FieldId, bool>,
    /// Statements that write a field after publication, with the number of accesses that are such.
    writes: FxHashMap<FieldId, BTreeMap<(MethodId, StmtId), u32>>,
    /// Fields with other writes than before.
    touched: BTreeSet<FieldId>,
}

impl Caches {
    pub(crate) fn new(follows: bool) -> Caches {
        let known = Memo::new(Kind::Cache, follows);
        Caches { known, writes: FxHashMap::default(), touched: BTreeSet::new() }
    }

    fn add(&mut self, access: &Access) {
        if let Some(field) = written(access) {
            let writes = self.writes.entry(field).or_default();
            *writes.entry((access.method, access.stmt)).or_default() += 1;
            self.touched.insert(field);
        }
    }

    fn remove(&mut self, access: &Access) {
        let Some(field) = written(access) else { return };
        let statement = (access.method, access.stmt);
        if let Some(writes) = self.writes.get_mut(&field)
            && let Some(count) = writes.get_mut(&statement)
        {
            *count -= 1;
            if *count == 0 {
                writes.remove(&statement);
            }
        }
        self.touched.insert(field);
    }

    /// Follows activations that touch other memory than before.
    pub(crate) fn update(
        &mut self,
        stages: &Stages<'_>,
        accesses: &Accesses,
        differing: &[(Act, Touched)],
        changes: &mut Changes,
    ) {
        for (act, before) in differing {
            before.accesses.iter().for_each(|access| self.remove(access));
            accesses.of(*act).accesses.iter().for_each(|access| self.add(access));
        }
        let mut fields = std::mem::take(&mut self.touched);
        fields.extend(self.known.stale(changes));
        let fields: Vec<FieldId> = fields.into_iter().collect();
        let writes = &self.writes;
        self.known
            .update(&fields, changes, |field| is_cache(stages, field, writes.get(&field)?).then_some(true));
    }

    pub(crate) fn contains(&self, field: FieldId) -> bool {
        self.known.get(field).is_some()
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.known.sizes(sizes);
        sizes.add("written fields", self.writes.len());
    }
}

fn written(access: &Access) -> Option<FieldId> {
    match access.what {
        What::Field(field) | What::Static(field) if access.write && access.published => Some(field),
        _ => None,
    }
}

fn is_cache(stages: &Stages<'_>, field: FieldId, writes: &BTreeMap<(MethodId, StmtId), u32>) -> bool {
    let Some((&(method, _), _)) = writes.first_key_value() else { return false };
    is_one_immutable_word(stages, field)
        && writes.keys().all(|&(other, _)| other == method)
        && stages.program.lowered(method).is_some_and(|body| {
            let dominators = Dominators::new(body, Edges::All);
            writes.keys().all(|&(_, stmt)| fills(stages, body, &dominators, field, stmt))
        })
}

fn is_one_immutable_word(stages: &Stages<'_>, field: FieldId) -> bool {
    let descriptor = &stages.program.names[stages.program.field_ref(field).descriptor];
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
