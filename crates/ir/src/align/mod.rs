//! Which statements and variables of a changed body are those it had before. Owns identity across an edit: both keep
//! their numbers where they can, and nothing else may say that two of them are the same.

mod place;
mod shape;
mod subsequence;

use crate::body::{Body, Stmt, StmtId, StmtKind, Var};
use arena::IndexVec;
use std::ops::Range;

/// Statements go together only in order and only if they are the same instruction, their variables aside. Calls that
/// find something else looking back from their arguments through copies, casts, constants and receivers, as models do,
/// are told besides.
#[derive(Debug, Clone, Default)]
pub struct Alignment {
    /// For each statement of the new body the one of the old body that it is, if any.
    pub stmts: IndexVec<StmtId, Option<StmtId>>,
    /// The same for variables: parameters by position, the others by their definitions.
    pub vars: IndexVec<Var, Option<Var>>,
    changed_old: Vec<StmtId>,
    changed_new: Vec<StmtId>,
    look_otherwise: Vec<(StmtId, StmtId)>,
}

/// Statements of the old and of the new body between two that go together.
type Gap = (Range<usize>, Range<usize>);

impl Alignment {
    pub fn of(old: &Body, new: &Body) -> Alignment {
        let mut alignment = Alignment::default();
        alignment.match_stmts(old, new);
        alignment.look_at(old, new);
        alignment
    }

    /// The new body with numbers by which its statements and variables are those of the old one wherever they can be.
    pub fn in_place(old: &Body, new: &Body) -> (Body, Alignment) {
        let mut alignment = Alignment::default();
        alignment.match_stmts(old, new);
        alignment.match_vars(old, new);
        let placed = place::place(new, &alignment.stmts, &place::var_numbers(new, &alignment.vars));
        let kept = new.stmts.ids().map(|id| alignment.stmts[id]);
        let mut stmts: IndexVec<StmtId, Option<StmtId>> = (0..placed.stmts.bound()).map(|_| None).collect();
        for (id, before) in placed.stmts.ids().zip(kept) {
            stmts[id] = before;
        }
        alignment.stmts = stmts;
        alignment.look_at(old, &placed);
        (placed, alignment)
    }

    /// What there is to know once it is known which statements go together.
    fn look_at(&mut self, old: &Body, new: &Body) {
        let (old_looks, new_looks) = shape::looks(old, new);
        self.match_vars(old, new);
        self.compare(old, new);
        let look_otherwise = self.kept_stmts().filter(|&(before, after)| {
            match (&old.stmts[before].kind, &new.stmts[after].kind) {
                (StmtKind::Call { args: before, .. }, StmtKind::Call { args: after, .. }) => {
                    before.iter().zip(after).any(|(&before, &after)| old_looks[before] != new_looks[after])
                }
                _ => false,
            }
        });
        self.look_otherwise = look_otherwise.collect();
    }

    /// Statements of the old body that are gone or have other operands now; those that merely moved are not among
    /// them. Ascending.
    pub fn changed_old(&self) -> &[StmtId] {
        &self.changed_old
    }

    /// Statements of the new body that are new or had other operands. Ascending.
    pub fn changed_new(&self) -> &[StmtId] {
        &self.changed_new
    }

    /// Calls, old and new place, that are the same but for what is found looking back from their arguments. Objects
    /// named after them may have been made from what is no longer there.
    pub fn look_otherwise(&self) -> &[(StmtId, StmtId)] {
        &self.look_otherwise
    }

    /// The old statement that this new one is, if it has the same operands as well.
    pub fn unchanged(&self, new: StmtId) -> Option<StmtId> {
        self.stmts[new].filter(|_| self.changed_new.binary_search(&new).is_err())
    }

    /// Pairs of the old and the new place of the statements in both bodies, ascending in both.
    pub fn kept_stmts(&self) -> impl Iterator<Item = (StmtId, StmtId)> + '_ {
        self.stmts.iter().filter_map(|(new, &old)| Some((old?, new)))
    }

    /// Pairs of the old and the new number of the variables in both bodies, ascending by the new one.
    pub fn kept_vars(&self) -> impl Iterator<Item = (Var, Var)> + '_ {
        self.vars.iter().filter_map(|(new, &old)| Some((old?, new)))
    }

    fn match_stmts(&mut self, old: &Body, new: &Body) {
        let (olds, news): (Vec<StmtId>, Vec<StmtId>) = (old.stmts.ids().collect(), new.stmts.ids().collect());
        self.stmts = (0..new.stmts.bound()).map(|_| None).collect();
        // Numbers tell what bodies were before; so they are compared only if they say everything.
        let matches = at_ends(old, new, &olds, &news).unwrap_or_else(|| matches(&old.dense(), &new.dense()));
        for (before, after) in matches {
            self.stmts[news[after]] = Some(olds[before]);
        }
    }

    fn match_vars(&mut self, old: &Body, new: &Body) {
        self.vars = new.vars.iter().map(|_| None).collect();
        // A method that became static, or no longer is, has all its parameters moved.
        if old.params.len() == new.params.len() {
            for (&before, &after) in old.params.iter().zip(&new.params) {
                if old.vars[before].is_ref == new.vars[after].is_ref {
                    self.vars[after] = Some(before);
                }
            }
        }
        let mut undefined = Vec::new();
        for (before, after) in self.stmts.iter().filter_map(|(new, &old)| Some((old?, new))) {
            let (before, after) = (&old.stmts[before].kind, &new.stmts[after].kind);
            if let (Some(before), Some(after)) = (before.def(), after.def()) {
                self.vars[after] = Some(before);
            }
            undefined.extend(
                before
                    .uses()
                    .zip(after.uses())
                    .filter(|&(before, after)| is_undefined(old, before) && is_undefined(new, after)),
            );
        }
        // What nothing defines is known by its users.
        let mut taken: IndexVec<Var, bool> = old.vars.iter().map(|_| false).collect();
        for (before, after) in undefined {
            if self.vars[after].is_none()
                && !taken[before]
                && old.vars[before].is_ref == new.vars[after].is_ref
            {
                self.vars[after] = Some(before);
                taken[before] = true;
            }
        }
    }

    fn compare(&mut self, old: &Body, new: &Body) {
        let mut is_kept: IndexVec<StmtId, bool> = (0..old.stmts.bound()).map(|_| false).collect();
        for (after, stmt) in new.stmts.iter() {
            match self.stmts[after] {
                Some(before) if self.has_same_operands(&old.stmts[before].kind, &stmt.kind) => {
                    is_kept[before] = true;
                }
                _ => self.changed_new.push(after),
            }
        }
        self.changed_old = old.stmts.ids().filter(|&id| !is_kept[id]).collect();
    }

    fn has_same_operands(&self, old: &StmtKind, new: &StmtKind) -> bool {
        let mut before: Vec<Option<Var>> = old.uses().map(Some).collect();
        let mut after: Vec<Option<Var>> = new.uses().map(|used| self.vars[used]).collect();
        // In which order edges come into a block says nothing.
        if let StmtKind::Phi { .. } = new {
            before.sort_unstable();
            after.sort_unstable();
        }
        before == after
    }
}

/// Pairs of statements that go together, by how many come before them; if all that happened is that statements were
/// taken out or put back in one place: then the rest is as it was to the number.
fn at_ends(old: &Body, new: &Body, olds: &[StmtId], news: &[StmtId]) -> Option<Vec<(usize, usize)>> {
    let (old_end, new_end) = (olds.len(), news.len());
    let same = |pair: &(&StmtId, &StmtId)| is_same((old, &old.stmts[*pair.0]), (new, &new.stmts[*pair.1]));
    let ahead = olds.iter().zip(news).take_while(same).count();
    let behind = olds.iter().rev().zip(news.iter().rev()).take_while(same).count();
    let shorter = old_end.min(new_end);
    (ahead + behind >= shorter).then(|| {
        let behind = (ahead..shorter).map(|at| (at + old_end - shorter, at + new_end - shorter));
        (0..ahead).map(|at| (at, at)).chain(behind).collect()
    })
}

/// The same for any two bodies, in no particular order.
fn matches(old: &Body, new: &Body) -> Vec<(usize, usize)> {
    let (old_end, new_end) = (old.stmts.bound(), new.stmts.bound());
    let (old_shapes, new_shapes) = shape::shapes(old, new);
    let mut found = Vec::new();
    let mut gaps = vec![(0..old_end, 0..new_end)];
    // The same number means little once variables were added or removed before it.
    if old.vars.len() == new.vars.len() {
        gaps = fill(gaps, &old_shapes.numbered, &new_shapes.numbered, &mut found);
    }
    gaps = fill(gaps, &old_shapes.with_neighbours, &new_shapes.with_neighbours, &mut found);
    fill(gaps, &old_shapes.plain, &new_shapes.plain, &mut found);
    found
}

/// Matches statements of the same shape inside each gap; the gaps that remain.
fn fill(gaps: Vec<Gap>, old_shapes: &[u32], new_shapes: &[u32], found: &mut Vec<(usize, usize)>) -> Vec<Gap> {
    let mut left = Vec::new();
    for (olds, news) in gaps {
        let (mut x, mut y) = (olds.start, news.start);
        subsequence::common(&old_shapes[olds.clone()], &new_shapes[news.clone()], |old, new| {
            let (old, new) = (olds.start + old, news.start + new);
            left.push((x..old, y..new));
            found.push((old, new));
            (x, y) = (old + 1, new + 1);
        });
        left.push((x..olds.end, y..news.end));
    }
    left.retain(|(olds, news)| !olds.is_empty() && !news.is_empty());
    left
}

/// The same instruction on the same variables by number, its result of the same kind.
fn is_same((old, before): (&Body, &Stmt), (new, after): (&Body, &Stmt)) -> bool {
    let is_ref = |body: &Body, kind: &StmtKind| kind.def().map(|var| body.vars[var].is_ref);
    before.kind == after.kind && is_ref(old, &before.kind) == is_ref(new, &after.kind)
}

fn is_undefined(body: &Body, var: Var) -> bool {
    body.vars[var].def.is_none() && !body.params.contains(&var)
}
