//! What threads do while they hold a lock that is taken in one line, and where else it is taken. Knows lines of bodies,
//! and no source.

use super::spot::{Spots, Visits};
use crate::access::{Access, What};
use crate::describe::Describe;
use crate::view::values;
use crate::{Detect, Stages};
use findings::{Covered, LockUse, Part, Place};
use happens_before::{Acquisition, HeldLock, LockNode, Origin, Point};
use ir::{Body, ClassId, FieldId, MethodId, Program, StmtId, StmtKind, Var};
use pointsto::Act;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Activations looked at below the one that takes the lock.
const MOST: usize = 512;

/// A lock, and what is done under it.
#[derive(Debug)]
pub struct Covers {
    pub lock: LockUse,
    pub method: String,
    pub origins: Vec<findings::Origin>,
    pub elsewhere: Vec<Place>,
    pub covered: Vec<Covered>,
}

impl Detect {
    /// What is done under the lock that is taken in a line; by a synchronized method, in its first line with code.
    pub fn covers(&self, stages: &Stages<'_>, file: &str, line: u32) -> Option<Covers> {
        let (ways, words) = self.asides(stages);
        let describe = Describe::new(stages, &ways, &words);
        let mut visits = Visits::new(stages, &describe);
        let taken = Taken::at(&visits, &methods_in(stages.program, file), line)?;
        let lock = taken.all.iter().map(|taken| describe.lock(&taken.lock)).min()?;
        let of_acts = taken.all.iter().flat_map(|taken| stages.happens_before.origins_of(taken.act));
        let of_acts: FxHashSet<Origin> = of_acts.copied().collect();
        let origins: BTreeSet<findings::Origin> =
            of_acts.into_iter().map(|origin| visits.named(origin)).collect();
        let fields = self.covered(&visits, &taken).into_iter().map(|(field, spots)| {
            let accesses = visits.tell(spots);
            Covered { field: stages.program.field_display(field), accesses }
        });
        let mut covered: Vec<Covered> = fields.collect();
        covered.sort();
        Some(Covers {
            elsewhere: taken.elsewhere(&describe, stages, &lock.place),
            method: stages.program.method_display(taken.method),
            origins: origins.into_iter().collect(),
            covered,
            lock,
        })
    }

    /// Everything that is done under the lock, in the activations that take it and in those that they call meanwhile.
    fn covered(&self, visits: &Visits<'_>, taken: &Taken<'_>) -> BTreeMap<FieldId, Spots> {
        let stages = visits.stages;
        let mut fields: BTreeMap<FieldId, Spots> = BTreeMap::new();
        let mut left: VecDeque<Act> = taken.all.iter().map(|taken| taken.act).collect();
        left.make_contiguous().sort_by(|&a, &b| visits.describe.content.acts(a, b));
        let mut seen: FxHashSet<Act> = left.iter().copied().collect();
        while let Some(act) = left.pop_front() {
            let method = stages.pointsto.method(act);
            let known = self.accesses.find(act).map_or(&[][..], |touched| &touched.accesses);
            let body = stages.program.lowered(method);
            for access in known.iter().filter(|access| taken.is_held(stages, (act, access.stmt))) {
                for (field, base, part) in body.into_iter().flat_map(|body| fields_of(stages, body, access)) {
                    let (spots, does) = (fields.entry(field).or_default(), (part, access.write));
                    visits.add(spots, (act, access.stmt), base, access.published, does);
                }
            }
            let calls = stages.pointsto.calls(act).filter(|(_, callee)| !seen.contains(callee));
            let mut calls: Vec<(StmtId, Act)> = calls.collect();
            calls.retain(|&(stmt, _)| taken.is_held(stages, (act, stmt)));
            calls.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| visits.describe.content.acts(a.1, b.1)));
            let next = calls.into_iter().map(|(_, callee)| callee);
            left.extend(next.filter(|&callee| seen.len() < MOST && seen.insert(callee)));
        }
        fields
    }
}

/// A statement that takes a lock, or a synchronized method.
type Taker = (MethodId, Option<StmtId>);

/// The same in all activations.
struct Taken<'a> {
    method: MethodId,
    stmt: Option<StmtId>,
    all: Vec<&'a Acquisition>,
    /// Everything that the lock may be.
    nodes: FxHashSet<LockNode>,
}

impl<'a> Taken<'a> {
    fn at(visits: &Visits<'a>, methods: &[MethodId], line: u32) -> Option<Taken<'a>> {
        let stages = visits.stages;
        let mut lines: BTreeMap<Taker, (u32, Vec<&Acquisition>)> = BTreeMap::new();
        for &method in methods {
            let of_acts = visits.acts(method).flat_map(|act| stages.happens_before.acquisitions_of(act));
            for acquisition in of_acts {
                let stmt = acquisition.stmt;
                let line = || visits.describe.lock_place(method, stmt).line;
                lines.entry((method, stmt)).or_insert_with(|| (line(), Vec::new())).1.push(acquisition);
            }
        }
        let here = lines
            .iter()
            .filter(|(_, (at, _))| *at == line)
            .min_by(|(a, _), (b, _)| a.1.cmp(&b.1).then_with(|| visits.describe.content.methods(a.0, b.0)));
        let (&(method, stmt), (_, all)) = here?;
        let nodes = all.iter().flat_map(|taken| taken.lock.nodes.iter().copied()).collect();
        Some(Taken { method, stmt, all: all.clone(), nodes })
    }

    /// Is the lock held there by anybody: the very one, or what callers hold in its place?
    fn is_held(&self, stages: &Stages<'_>, (act, stmt): (Act, StmtId)) -> bool {
        let hb = stages.happens_before;
        let is_own = stages.pointsto.method(act) == self.method;
        let is_it = |lock: &HeldLock| {
            let is_taken_here = lock.stmt == self.stmt && stages.pointsto.method(lock.act) == self.method;
            is_taken_here || (!is_own && self.may_be(lock))
        };
        let mut known: FxHashSet<u32> = FxHashSet::default();
        hb.origins_of(act).iter().any(|&origin| {
            // Whoever comes with the same locks of callers holds the same.
            known.insert(hb.held_by_callers(origin, act))
                && hb.held(&Point { origin, act, stmt }).into_iter().any(is_it)
        })
    }

    fn may_be(&self, lock: &HeldLock) -> bool {
        lock.nodes.iter().any(|node| self.nodes.contains(node))
    }

    /// Where a lock is taken that may be the same one, outside the JDK.
    fn elsewhere(&self, describe: &Describe<'_>, stages: &Stages<'_>, here: &Place) -> Vec<Place> {
        let others = stages.happens_before.acquisitions().iter().filter(|other| self.may_be(&other.lock));
        let others: FxHashSet<Taker> =
            others.map(|other| (stages.pointsto.method(other.act), other.stmt)).collect();
        let places = others.into_iter().map(|(method, stmt)| describe.lock_place(method, stmt));
        let places: BTreeSet<Place> = places.filter(|place| place != here).collect();
        places.into_iter().collect()
    }
}

/// Methods of the classes that a source has made.
fn methods_in(program: &Program, file: &str) -> Vec<MethodId> {
    let package = &file[..file.rfind('/').map_or(0, |at| at + 1)];
    let is_there = |&class: &ClassId| {
        let rest = program.class_name(class).strip_prefix(package);
        rest.is_some_and(|rest| !rest.contains('/')) && program.class_file(class) == file
    };
    let classes = (0..program.class_count()).map(|at| ClassId(at as u32)).filter(is_there);
    classes.flat_map(|class| program.class(class).methods.iter().copied()).collect()
}

/// The first line with code of the synchronized method that comes next, if there is no code before it: its head has no
/// line of its own. Of methods that nobody runs nothing is known.
pub fn head_after(stages: &Stages<'_>, file: &str, line: u32) -> Option<u32> {
    let program = stages.program;
    let runs = |method: &MethodId| !stages.happens_before.acts_of(*method).is_empty();
    let methods = methods_in(program, file).into_iter().filter(runs);
    let lines = methods.filter_map(|method| {
        let lines = program.lowered(method)?.stmts.iter().map(|(_, stmt)| stmt.line);
        let next = lines.filter(|&at| at >= line).min()?;
        Some((next, !program.method(method).is_synchronized()))
    });
    lines.min().filter(|(_, is_other)| !is_other).map(|(next, _)| next)
}

/// The fields that an access is to, or to what they hold; and whose they are.
fn fields_of(stages: &Stages<'_>, body: &Body, access: &Access) -> Vec<(FieldId, Option<Var>, Part)> {
    let part = match access.what {
        What::Field(field) | What::Static(field) => return vec![(field, access.base, Part::Field)],
        What::Elements => Part::Elements,
        What::Contents => Part::Contents,
    };
    let sources = access.base.into_iter().flat_map(|base| values(body, base));
    let loads = sources.filter_map(|var| match body.stmts[body.vars[var].def?].kind {
        StmtKind::Load { base, field, .. } => Some((stages.program.find_field(field)?, Some(base), part)),
        StmtKind::LoadStatic { field, .. } => Some((stages.program.find_field(field)?, None, part)),
        _ => None,
    });
    loads.collect()
}
