//! Which objects get to a variable if only some get to the parameters of its method: points-to once more,
//! along one way of calls. Knows no lock.

use super::paths::{PathRoot, Paths};
use crate::types::PathStep;
use crate::world::World;
use arena::IdSet;
use ir::{FieldId, StmtId, StmtKind, Var};
use pointsto::{Act, Obj, Slot};

/// Sets larger than this are not narrowed.
const WIDE: usize = 24;
/// Loads followed back from a variable to a parameter.
const DEEPEST: usize = 6;

/// What each parameter may refer to; `None` for all that points-to says, as for all parameters if it is empty.
pub type Params = Vec<Option<IdSet<Obj>>>;

#[derive(Clone, Copy)]
pub struct Narrow<'a, 'w> {
    pub world: &'a World<'w>,
    pub paths: &'a Paths,
}

impl Narrow<'_, '_> {
    /// `None` if there is nothing to say beyond points-to.
    pub fn of(&self, act: Act, params: &Params, var: Var) -> Option<IdSet<Obj>> {
        let found = self.follow(act, params, var, DEEPEST)?;
        let all = self.world.pointsto.pts(act, var);
        Some(found.iter().filter(|&obj| all.contains(obj)).collect())
    }

    fn follow(&self, act: Act, params: &Params, var: Var, depth: usize) -> Option<IdSet<Obj>> {
        let flow = self.world.flow(act)?;
        let var = flow.source(var);
        if let Some(param) = flow.body.params.iter().position(|&param| param == var) {
            return params.get(param)?.clone();
        }
        let depth = depth.checked_sub(1)?;
        match flow.definition(var)? {
            (stmt, StmtKind::Load { base, .. }) => {
                self.fields(self.follow(act, params, *base, depth)?, flow.field(stmt)?)
            }
            (_, StmtKind::Call { .. }) => {
                let path = self.paths.path(flow, act, var);
                let root = match path.root {
                    PathRoot::Var(root) if root != var => root,
                    _ => return None,
                };
                let mut found = self.follow(act, params, root, depth)?;
                for step in path.steps {
                    let PathStep::Field(field) = step else { return None };
                    found = self.fields(found, field)?;
                }
                Some(found)
            }
            _ => None,
        }
    }

    fn fields(&self, of: IdSet<Obj>, field: FieldId) -> Option<IdSet<Obj>> {
        let mut found = IdSet::new();
        for obj in of.iter() {
            found.union_with(self.world.pointsto.held(Slot::Field(obj, field)));
            if found.len() > WIDE {
                return None;
            }
        }
        Some(found)
    }

    /// What the callee's parameters are at a call; `None` if no receiver gets there.
    pub fn enter(&self, caller: Act, params: &Params, stmt: StmtId, callee: Act) -> Option<Params> {
        let (Some(flow), Some(called)) = (self.world.flow(caller), self.world.flow(callee)) else {
            return Some(Params::new());
        };
        let StmtKind::Call { args, .. } = &flow.body.stmts[stmt].kind else { return Some(Params::new()) };
        if !self.world.bindings_are_plain(caller, stmt, callee) {
            return Some(Params::new());
        }
        let mut entered = Params::new();
        for (at, (&arg, &param)) in args.iter().zip(&called.body.params).enumerate() {
            let passed =
                called.body.vars[param].is_ref.then(|| self.passed(caller, params, arg, callee, param));
            let passed = passed.flatten();
            if at == 0 && !self.world.is_static(callee) && passed.as_ref().is_some_and(IdSet::is_empty) {
                return None;
            }
            entered.push(passed);
        }
        if entered.iter().all(Option::is_none) {
            entered.clear();
        }
        Some(entered)
    }

    fn passed(&self, caller: Act, params: &Params, arg: Var, callee: Act, param: Var) -> Option<IdSet<Obj>> {
        let narrowed = self.of(caller, params, arg);
        let passed = narrowed.as_ref().unwrap_or_else(|| self.world.pointsto.pts(caller, arg));
        if passed.len() > WIDE {
            return None;
        }
        let all = self.world.pointsto.pts(callee, param);
        let passed: IdSet<Obj> = passed.iter().filter(|&obj| all.contains(obj)).collect();
        (passed.len() < all.len()).then_some(passed)
    }
}

/// Adds what gets there on another way. True if that is more.
pub fn widen(known: &mut Params, other: &Params) -> bool {
    let mut more = known.len() > other.len();
    known.truncate(other.len());
    for (known, other) in known.iter_mut().zip(other) {
        let Some(set) = known else { continue };
        let before = set.len();
        if let Some(other) = other {
            set.union_with(other);
        }
        if other.is_none() || set.len() > WIDE {
            *known = None;
            more = true;
        } else {
            more |= set.len() > before;
        }
    }
    if known.iter().all(Option::is_none) {
        known.clear();
    }
    more
}
