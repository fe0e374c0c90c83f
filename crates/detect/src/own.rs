//! Does a thread reach an object only from its own task object, by fields that no two objects share? Then two
//! instances of it that each have a task of their own never meet there. Knows calls and loads, no order.

use crate::Stages;
use crate::anchor::{argument, plain, runs_on_task};
use happens_before::Origin;
use ir::{StmtKind, Var};
use pointsto::{Act, Obj, Slot};
use rustc_hash::{FxHashMap, FxHashSet};

/// Places looked at for one object before it counts as anybody's.
const MOST: usize = 4000;

type Known = (Act, Var, Obj);

pub(crate) struct Own<'a> {
    stages: &'a Stages<'a>,
    known: FxHashMap<(Origin, Known), bool>,
}

impl<'a> Own<'a> {
    pub(crate) fn new(stages: &'a Stages<'a>) -> Own<'a> {
        Own { stages, known: FxHashMap::default() }
    }

    /// Is what `base` refers to the origin's own task, or a part of it, wherever this origin runs this code?
    pub(crate) fn is_own(&mut self, origin: Origin, act: Act, base: Var, obj: Obj) -> bool {
        let info = &self.stages.happens_before.origins()[origin];
        if !info.own_task || !runs_on_task(self.stages, info) {
            return false;
        }
        if let Some(&known) = self.known.get(&(origin, (act, base, obj))) {
            return known;
        }
        let mut seen = FxHashSet::from_iter([(act, base, obj)]);
        let mut left = vec![(act, base, obj)];
        let mut own = true;
        while let Some(next) = left.pop() {
            own &= self.known.get(&(origin, next)).copied() != Some(false) && seen.len() <= MOST;
            let Some(sources) = self.sources(origin, next).filter(|_| own) else {
                own = false;
                break;
            };
            left.extend(sources.into_iter().filter(|&source| seen.insert(source)));
        }
        // What leads to an own object only is own as well.
        let answered = if own { seen.into_iter().collect() } else { vec![(act, base, obj)] };
        self.known.extend(answered.into_iter().map(|known| ((origin, known), own)));
        own
    }

    /// Where the variable has the object from; `None` if that may be somewhere else.
    fn sources(&self, origin: Origin, (act, base, obj): Known) -> Option<Vec<Known>> {
        let Stages { program, pointsto, happens_before, .. } = *self.stages;
        let body = program.lowered(pointsto.method(act))?;
        let base = plain(body, base);
        if let Some(param) = body.params.iter().position(|&param| param == base) {
            let info = &happens_before.origins()[origin];
            if act == info.entry && (param != 0 || Some(obj) != info.task) {
                return None;
            }
            let mut sources = Vec::new();
            for &(caller, stmt) in pointsto.callers(act) {
                if !happens_before.executes(origin).contains(caller) {
                    continue;
                }
                let arg = argument(self.stages, caller, stmt, act, param)?;
                if pointsto.pts(caller, arg).contains(obj) {
                    sources.push((caller, arg, obj));
                }
            }
            return Some(sources);
        }
        match &body.stmts[body.vars[base].def?].kind {
            StmtKind::Phi { srcs, .. } => {
                let sources = srcs.iter().filter(|&&src| pointsto.pts(act, src).contains(obj));
                Some(sources.map(|&src| (act, src, obj)).collect())
            }
            &StmtKind::Load { base: owner, field, .. } => {
                let field = program.find_field(field).filter(|&field| happens_before.is_private(field))?;
                let owners = pointsto.pts(act, owner).iter();
                let holds = |whole: &Obj| pointsto.held(Slot::Field(*whole, field)).contains(obj);
                Some(owners.filter(holds).map(|whole| (act, owner, whole)).collect())
            }
            _ => None,
        }
    }
}
