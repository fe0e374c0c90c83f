//! What the threads of the program do to a field, and what they do while they hold a lock: asked by people, of the state
//! as it is. Judges nothing anew and leaves nothing behind: what is kept for a question of the moment would be followed
//! through every edit, so answers that others keep are worked out here once more.

mod lock;
mod locks;
mod spot;
mod threads;

pub use lock::{Covers, head_after};

use crate::access::{Location, What};
use crate::answer::Answer;
use crate::describe::Describe;
use crate::memory::TouchId;
use crate::pair::Pair;
use crate::view::values;
use crate::ways::Ways;
use crate::words::Words;
use crate::{Detect, Stages};
use arena::Name;
use classfile::Layer;
use findings::{Dismissed, PairVerdict, Part, Place};
use happens_before::Freshness;
use ir::{Body, ClassId, FieldId, MethodId, MethodRef, Program, StmtId, StmtKind, Var};
use pointsto::Act;
use rustc_hash::{FxHashMap, FxHashSet};
use spot::{Spots, Visits};
use std::collections::BTreeMap;
use track::Changes;

/// Of a field that more places touch, the pairs of the first are told.
const MOST_PLACES: usize = 40;

/// What is done to a field.
#[derive(Debug, Default)]
pub struct Uses {
    /// In the order of their places.
    pub accesses: Vec<findings::Access>,
    /// What keeps them apart; nothing if some are not kept apart.
    pub dismissed: Option<Dismissed>,
    /// The same for each two places.
    pub pairs: Vec<PairVerdict>,
    /// What it holds is locked somewhere.
    pub is_lock: bool,
}

/// The same while it is found out.
#[derive(Default)]
struct Found {
    spots: Spots,
    touches: FxHashSet<TouchId>,
    is_lock: bool,
}

impl Detect {
    /// What the threads of the program do to these fields, in classes that can touch them, by their names in class files.
    pub fn uses(
        &self,
        stages: &Stages<'_>,
        fields: &[FieldId],
        can_touch: &dyn Fn(&str) -> bool,
    ) -> Vec<Uses> {
        let (ways, words) = self.asides(stages);
        let describe = Describe::new(stages, &ways, &words);
        let mut visits = Visits::new(stages, &describe);
        let wanted = Wanted::of(stages.program, fields);
        let mut found: Vec<Found> = fields.iter().map(|_| Found::default()).collect();
        for method in methods(stages.program, can_touch) {
            self.look_into(method, &wanted, &visits, &mut found);
        }
        let told = |Found { spots, touches, is_lock }: Found| {
            let (accesses, dismissed) = (visits.tell(spots), self.dismissed(&touches));
            let pairs = self.pairs_of(stages, &touches);
            Uses { accesses, dismissed, pairs, is_lock }
        };
        found.into_iter().map(told).collect()
    }

    /// Ways and words for a question of the moment.
    fn asides(&self, stages: &Stages<'_>) -> (Ways, Words) {
        let mut ways = self.ways.clone();
        ways.update(stages, &mut Changes::default());
        (ways, Words::new(false))
    }

    fn look_into(&self, method: MethodId, wanted: &Wanted<'_>, visits: &Visits<'_>, found: &mut [Found]) {
        let stages = visits.stages;
        if stages.happens_before.acts_of(method).is_empty() {
            return;
        }
        let Some(body) = stages.program.lowered(method) else { return };
        let touched = wanted.touched(stages.program, body);
        if touched.is_empty() {
            return;
        }
        let loaded = loaded(body, &touched);
        for act in visits.acts(method) {
            for touch in &touched {
                let field = wanted.fields[touch.field];
                let Found { spots, touches, .. } = &mut found[touch.field];
                let is_fresh = touch.base.is_some_and(|base| is_fresh(stages, act, touch.stmt, base));
                visits.add(spots, (act, touch.stmt), touch.base, !is_fresh, (Part::Field, touch.writes));
                let what = if touch.base.is_some() { What::Field(field) } else { What::Static(field) };
                let location = Location { what, obj: None };
                touches.extend(self.memory.find(stages, location, (method, touch.stmt)));
            }
            if loaded.is_empty() {
                continue;
            }
            for acquisition in stages.happens_before.acquisitions_of(act) {
                let fields = acquisition.lock.keys.iter().filter_map(locks::field_of);
                let known = fields.filter_map(|field| wanted.fields.iter().position(|&known| known == field));
                known.for_each(|field| found[field].is_lock = true);
            }
            for access in self.accesses.find(act).map_or(&[][..], |touched| &touched.accesses) {
                let part = match access.what {
                    What::Elements => Part::Elements,
                    What::Contents => Part::Contents,
                    What::Field(_) | What::Static(_) => continue,
                };
                let held = access.base.into_iter().flat_map(|base| values(body, base));
                for touch in held.filter_map(|value| loaded.get(&value)) {
                    let Found { spots, touches, .. } = &mut found[touch.field];
                    let does = (part, access.write);
                    visits.add(spots, (act, access.stmt), touch.base, access.published, does);
                    touches.extend(
                        access
                            .locations()
                            .filter_map(|location| self.memory.find(stages, location, (method, access.stmt))),
                    );
                }
            }
        }
    }

    /// What is concluded about each two places.
    fn pairs_of(&self, stages: &Stages<'_>, touches: &FxHashSet<TouchId>) -> Vec<PairVerdict> {
        let mut places: BTreeMap<Place, Vec<TouchId>> = BTreeMap::new();
        for &touch in touches {
            let (method, stmt) = self.memory.statement(touch);
            let line =
                stages.program.lowered(method).and_then(|body| body.stmts.get(stmt)).map(|stmt| stmt.line);
            let file = stages.program.class_file(stages.program.method_ref(method).class);
            places.entry(Place { file, line: line.unwrap_or(0) }).or_default().push(touch);
        }
        let places: Vec<(Place, Vec<TouchId>)> = places.into_iter().take(MOST_PLACES).collect();
        let mut verdicts = Vec::new();
        for (at, (place, one)) in places.iter().enumerate() {
            for (other_place, other) in &places[at..] {
                let is_alike = |pair: &Pair| self.memory.kind_of(pair.0) == self.memory.kind_of(pair.1);
                let pairs = one.iter().flat_map(|&one| other.iter().map(move |&other| Pair::of(one, other)));
                let verdict = match self.answer(pairs.filter(is_alike)) {
                    Some(Answer::Race(sure)) => Ok(sure.confidence),
                    Some(Answer::Dismissed(why)) => Err(why),
                    Some(Answer::Unreached) | None => continue,
                };
                verdicts.push(PairVerdict { sides: [place.clone(), other_place.clone()], verdict });
            }
        }
        verdicts
    }

    /// What keeps the statements apart.
    fn dismissed(&self, touches: &FxHashSet<TouchId>) -> Option<Dismissed> {
        let judged = touches.iter().flat_map(|&touch| {
            let others = self.races.judged_with(self.memory.kind_of(touch), touch);
            others.map(move |(other, _)| Pair::of(touch, other))
        });
        match self.answer(judged.filter(|pair| touches.contains(&pair.0) && touches.contains(&pair.1))) {
            None => Some(Dismissed::DifferentObjects),
            Some(Answer::Dismissed(why)) => Some(why),
            Some(Answer::Race(_) | Answer::Unreached) => None,
        }
    }
}

/// Does a thread of the program run this method? Names are those of class files.
pub fn is_reached(stages: &Stages<'_>, class: &str, name: &str, descriptor: &str) -> bool {
    let program = stages.program;
    let method = program.find_class(class).and_then(|class| {
        let selector = program.find_selector(name, descriptor)?;
        program.declared_method(MethodRef { class, selector })
    });
    let acts = method.map_or(&[][..], |method| stages.happens_before.acts_of(method));
    acts.iter().any(|&act| !stages.happens_before.origins_of(act).is_empty())
}

/// Methods of these classes; the JDK knows no fields but its own.
fn methods(program: &Program, can_touch: &dyn Fn(&str) -> bool) -> impl Iterator<Item = MethodId> {
    let classes = (0..program.class_count()).map(|at| ClassId(at as u32));
    let classes = classes
        .filter(|&class| can_touch(program.class_name(class)) && program.class(class).layer != Layer::Jdk);
    classes.flat_map(|class| program.class(class).methods.iter().copied())
}

/// A statement that touches a field.
struct Touched {
    /// Which of those that were asked about.
    field: usize,
    stmt: StmtId,
    writes: bool,
    /// Whose field it is; nobody's if it is static.
    base: Option<Var>,
}

/// Fields that somebody asks about.
struct Wanted<'a> {
    fields: &'a [FieldId],
    /// Most others are called otherwise, and to see that takes no time.
    names: FxHashSet<Name>,
}

impl<'a> Wanted<'a> {
    fn of(program: &Program, fields: &'a [FieldId]) -> Wanted<'a> {
        let names = fields.iter().map(|&field| program.field_ref(field).name).collect();
        Wanted { fields, names }
    }

    fn touched(&self, program: &Program, body: &Body) -> Vec<Touched> {
        let touch = |(stmt, info): (StmtId, &ir::Stmt)| {
            let (field, base, writes) = match info.kind {
                StmtKind::Load { base, field, .. } => (field, Some(base), false),
                StmtKind::Store { base, field, .. } => (field, Some(base), true),
                StmtKind::LoadStatic { field, .. } => (field, None, false),
                StmtKind::StoreStatic { field, .. } => (field, None, true),
                _ => return None,
            };
            let found = self.names.contains(&field.name).then(|| program.find_field(field))??;
            let field = self.fields.iter().position(|&known| known == found)?;
            Some(Touched { field, stmt, writes, base })
        };
        body.stmts.iter().filter_map(touch).collect()
    }
}

/// Variables that hold what the fields do.
fn loaded<'t>(body: &Body, touched: &'t [Touched]) -> FxHashMap<Var, &'t Touched> {
    let loaded = touched.iter().filter_map(|touch| match body.stmts[touch.stmt].kind {
        StmtKind::Load { dst, .. } | StmtKind::LoadStatic { dst, .. } => Some((dst, touch)),
        _ => None,
    });
    loaded.filter(|(dst, _)| body.vars[*dst].is_ref).collect()
}

fn is_fresh(stages: &Stages<'_>, act: Act, stmt: StmtId, base: Var) -> bool {
    stages.happens_before.fresh(act, stmt, base) == Freshness::Unpublished
}
