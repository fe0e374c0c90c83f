//! One place in the code over all activations and threads that get there: who they are, and which locks all of them
//! hold. Knows nothing of which places are asked about.

use super::locks::{Hold, meet, once_each};
use crate::Stages;
use crate::describe::Describe;
use findings::{Access, AccessKind, Engine, Part, Place};
use happens_before::{Origin, OriginKind, Point};
use ir::{MethodId, StmtId, Var};
use pointsto::Act;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// By method and line: one line is one place to whoever reads it.
pub(super) type Spots = BTreeMap<(MethodId, u32), Spot>;

#[derive(Debug, Default)]
pub(super) struct Spot {
    does: BTreeSet<(Part, bool)>,
    /// Where others may know the object, and where not.
    shared: Visited,
    alone: Visited,
}

#[derive(Debug, Default)]
struct Visited {
    origins: FxHashSet<Origin>,
    /// What all of them hold.
    held: Option<Vec<Hold>>,
}

impl Spot {
    /// What of it tells most.
    fn kind(&self) -> (Part, AccessKind) {
        let kind = |writes| if writes { AccessKind::Write } else { AccessKind::Read };
        let does = self.does.iter().map(|&(part, writes)| (part, kind(writes)));
        does.max_by_key(|&(part, kind)| part.weight(kind)).unwrap_or_default()
    }
}

/// Who gets where.
pub(super) struct Visits<'a> {
    pub stages: &'a Stages<'a>,
    pub describe: &'a Describe<'a>,
    named: FxHashMap<Origin, findings::Origin>,
}

impl<'a> Visits<'a> {
    pub fn new(stages: &'a Stages<'a>, describe: &'a Describe<'a>) -> Visits<'a> {
        Visits { stages, describe, named: FxHashMap::default() }
    }

    /// Activations of a method that somebody runs. What they have in common does not depend on their order.
    pub fn acts(&self, method: MethodId) -> impl Iterator<Item = Act> + use<'a> {
        let hb = self.stages.happens_before;
        hb.acts_of(method).iter().copied().filter(move |&act| !hb.origins_of(act).is_empty())
    }

    /// All threads that run the activation do this there, to the object in `base`.
    pub fn add(
        &self,
        spots: &mut Spots,
        (act, stmt): (Act, StmtId),
        base: Option<Var>,
        is_published: bool,
        does: (Part, bool),
    ) {
        let Stages { program, pointsto, happens_before: hb, .. } = *self.stages;
        let method = pointsto.method(act);
        let info = program.lowered(method).and_then(|body| body.stmts.get(stmt));
        let spot = spots.entry((method, info.map_or(0, |info| info.line))).or_default();
        spot.does.insert(does);
        // Whoever comes with the same locks of callers holds the same.
        let mut known: FxHashSet<(bool, u32)> = FxHashSet::default();
        for &origin in hb.origins_of(act) {
            let is_shared = is_published && hb.origin(origin).kind != OriginKind::Initialization;
            let visited = if is_shared { &mut spot.shared } else { &mut spot.alone };
            visited.origins.insert(origin);
            let is_told = visited.held.as_ref().is_some_and(Vec::is_empty)
                || !known.insert((is_shared, hb.held_by_callers(origin, act)));
            if !is_told {
                let held = hb.held(&Point { origin, act, stmt }).into_iter();
                let held = held.map(|lock| Hold::of(self.describe, self.stages, (act, base), lock));
                meet(&mut visited.held, once_each(held));
            }
        }
    }

    pub fn named(&mut self, origin: Origin) -> findings::Origin {
        let (hb, describe) = (self.stages.happens_before, self.describe);
        let named = || {
            let info = hb.origin(origin);
            let name = match info.kind {
                OriginKind::Initialization => "class initialisation".to_owned(),
                _ => describe.origin(origin),
            };
            findings::Origin { name, is_several: info.overlaps_itself }
        };
        self.named.entry(origin).or_insert_with(named).clone()
    }

    /// In the order of their places.
    pub fn tell(&mut self, spots: Spots) -> Vec<Access> {
        let program = self.stages.program;
        let mut tell = |((method, line), spot): ((MethodId, u32), Spot)| {
            let (part, kind) = spot.kind();
            let is_published = !spot.shared.origins.is_empty();
            let visited = if is_published { spot.shared } else { spot.alone };
            let held = visited.held.unwrap_or_default();
            let origins: BTreeSet<findings::Origin> =
                visited.origins.into_iter().map(|origin| self.named(origin)).collect();
            Access {
                place: Place { file: program.class_file(program.method_ref(method).class), line },
                method: program.method_display(method),
                kind,
                part,
                origins: origins.into_iter().collect(),
                locks: held.into_iter().map(Hold::tell).collect(),
                is_published,
                lacks_guard: false,
                engine: Engine::WholeProgram,
            }
        };
        let mut accesses: Vec<Access> = spots.into_iter().map(&mut tell).collect();
        accesses.sort();
        accesses
    }
}
