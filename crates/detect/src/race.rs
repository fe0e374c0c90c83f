//! Data races: pairs of accesses that survive every stage. Same location, at least one write, origins that may
//! overlap, an object both can reach, no common lock, not before publication.

use crate::Stages;
use crate::access::{Access, AccessId, Accesses, Location, What};
use crate::anchor::{Anchor, Anchors};
use crate::apart::{self, Meeting, Side};
use crate::confidence::{self, Doubt};
use crate::crowd;
use crate::dealt::Dealt;
use crate::describe::Describe;
use crate::group;
use crate::kind::{self, Kind};
use crate::own::Own;
use findings::{Confidence, Finding};
use happens_before::{AccessPoint, Origin, Point, Protection};
use ir::{MethodId, StmtId};
use pointsto::Act;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) struct Races {
    pub(crate) findings: Vec<Finding>,
    pub(crate) pairs: Vec<(String, u64)>,
}

/// How far a pair of statements came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    SameObject,
    TwoOrigins,
    Overlapping,
    Unlocked,
}

const STAGES: [(Stage, &str); 4] = [
    (Stage::SameObject, "may touch the same object"),
    (Stage::TwoOrigins, "by two threads on one object"),
    (Stage::Overlapping, "at the same time"),
    (Stage::Unlocked, "without a common lock"),
];

/// Witnesses looked at for one pair of statements, beyond which further objects hardly tell anything new.
const TRIES: u32 = 8;

/// Surviving pairs of one kind of memory beyond which those are dropped that no finding would tell.
const CROWDED: usize = 1 << 16;

/// Pairs of one kind of memory whose reasons are kept.
const MOST_REASONS: usize = 1 << 16;

/// A surviving pair: who, on what, and how sure.
#[derive(Debug, Clone)]
pub(crate) struct Witness {
    pub(crate) a: AccessId,
    pub(crate) b: AccessId,
    pub(crate) origins: (Origin, Origin),
    pub(crate) location: Location,
    /// Through which callers the object comes, where that matters.
    pub(crate) anchors: Option<(Anchor, Anchor)>,
    pub(crate) doubts: Vec<Doubt>,
    pub(crate) confidence: Confidence,
}

/// What is known of a pair of statements so far. Small: a method of a thousand accesses has a million pairs.
struct Progress {
    stage: Stage,
    best: Option<Best>,
    tries: u32,
}

/// A witness as it is kept until all pairs are known.
pub(crate) struct Best {
    pub(crate) a: AccessId,
    pub(crate) b: AccessId,
    pub(crate) origins: (Origin, Origin),
    /// Among those of the kind.
    pub(crate) location: u32,
    pub(crate) confidence: Confidence,
    /// Those that are not kept can be found again.
    reasons: Option<Box<Reasons>>,
}

/// Why a pair is believed.
#[derive(Clone)]
struct Reasons {
    /// Through which callers the object comes, where that matters.
    anchors: Option<(Anchor, Anchor)>,
    doubts: Vec<Doubt>,
}

impl Progress {
    fn is_settled(&self) -> bool {
        self.tries >= TRIES || self.best.as_ref().is_some_and(|best| best.confidence == Confidence::High)
    }
}

/// The pairs on one kind of memory.
struct Checked {
    /// How many came as far as each stage.
    counts: [u64; STAGES.len()],
    witnesses: Vec<Witness>,
}

pub(crate) fn find(stages: &Stages<'_>, describe: &Describe<'_>) -> Races {
    let accesses = Accesses::collect(stages);
    let kinds = kind::kinds(stages, &describe.content, &accesses);
    // Collecting keeps the order, so that the result does not depend on the number of threads.
    let checked: Vec<Checked> =
        kinds.into_par_iter().map(|locations| check_kind(stages, describe, &accesses, locations)).collect();
    let mut counts = vec![
        ("accesses to the same field, one a write".to_string(), same_field_pairs(&accesses, |_| true)),
        ("after publication".to_string(), same_field_pairs(&accesses, |access| access.published)),
    ];
    for (at, (_, name)) in STAGES.iter().enumerate() {
        counts.push((name.to_string(), checked.iter().map(|kind| kind.counts[at]).sum()));
    }
    let witnesses: Vec<Witness> = checked.into_iter().flat_map(|kind| kind.witnesses).collect();
    Races { findings: group::findings(stages, describe, &accesses, &witnesses), pairs: counts }
}

/// Pairs of statements by name alone: same field (or both array elements), one of them a write.
fn same_field_pairs(accesses: &Accesses, keep: impl Fn(&Access) -> bool) -> u64 {
    let mut by_field: BTreeMap<What, BTreeMap<(MethodId, StmtId), bool>> = BTreeMap::new();
    for (_, access) in accesses.all.iter().filter(|(_, access)| keep(access)) {
        *by_field.entry(access.what).or_default().entry((access.method, access.stmt)).or_default() |=
            access.write;
    }
    let pairs = |sites: &BTreeMap<(MethodId, StmtId), bool>| {
        let writes = sites.values().filter(|&&write| write).count() as u64;
        let reads = sites.len() as u64 - writes;
        writes * (writes + 1) / 2 + writes * reads
    };
    by_field.values().map(pairs).sum()
}

/// All pairs on the locations of one kind of memory.
fn check_kind(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    accesses: &Accesses,
    locations: Vec<Location>,
) -> Checked {
    let kind = Kind::new(stages, &describe.content, accesses, locations);
    let locations = &kind.locations;
    let mut judge = Judge {
        stages,
        accesses,
        anchors: Anchors::new(stages, describe),
        own: Own::new(stages),
        dealt: Dealt::new(stages),
        comers: FxHashMap::default(),
        kept: 0,
    };
    // Statement by statement, so that nothing is kept of the pairs that are done but the best of them.
    let mut counts = [0; STAGES.len()];
    let (mut best, mut crowded) = (Vec::new(), CROWDED);
    for places in kind.statements().values() {
        let mut pairs: BTreeMap<u32, Progress> = BTreeMap::new();
        for (&at, own) in places {
            kind.for_each_pair(accesses, at, own, |(a, b), other| {
                let progress =
                    pairs.entry(other).or_insert(Progress { stage: Stage::SameObject, best: None, tries: 0 });
                if !progress.is_settled() {
                    judge.check(locations[at], at as u32, (a, b), progress);
                }
            });
        }
        for (count, (stage, _)) in counts.iter_mut().zip(STAGES) {
            *count += pairs.values().filter(|pair| pair.stage >= stage).count() as u64;
        }
        best.extend(pairs.into_values().filter_map(|pair| pair.best));
        if best.len() > crowded {
            best = crowd::thin(&mut judge, describe, locations, best);
            crowded = CROWDED.max(2 * best.len());
            judge.kept = best.len();
        }
    }
    let told = crowd::thin(&mut judge, describe, locations, best);
    let witnesses = told.into_iter().filter_map(|best| judge.witness(locations, best)).collect();
    Checked { counts, witnesses }
}

/// Looks at pairs of accesses.
pub(crate) struct Judge<'a> {
    pub(crate) stages: &'a Stages<'a>,
    pub(crate) accesses: &'a Accesses,
    anchors: Anchors<'a>,
    own: Own<'a>,
    dealt: Dealt<'a>,
    comers: FxHashMap<Act, Rc<[(Origin, u32)]>>,
    /// Reasons kept so far.
    kept: usize,
}

impl Judge<'_> {
    /// One pair of accesses on one location: the best witness over all pairs of origins.
    fn check(&mut self, location: Location, at: u32, (a, b): (AccessId, AccessId), progress: &mut Progress) {
        let hb = self.stages.happens_before;
        let (left, right) = (&self.accesses.all[a], &self.accesses.all[b]);
        let apart = matches!((left.index, right.index), (Some(i), Some(j)) if i != j);
        if apart || left.taken && right.taken {
            return;
        }
        // Whoever comes with the same locks of callers is kept apart by locks alike.
        let (mine, theirs) = (self.comers(left.act), self.comers(right.act));
        let mut locked: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        for &(p, with) in mine.iter() {
            for &(q, other) in theirs.iter() {
                let is_locked = *locked.entry((with, other)).or_insert_with(|| {
                    let points = access_points(location, (left, p), (right, q));
                    matches!(hb.protects(&points.0, &points.1), Protection::Yes(_))
                });
                if is_locked {
                    if progress.stage < Stage::Overlapping {
                        let stage = self.meet(location, (left, p), (right, q)).err();
                        progress.stage = progress.stage.max(stage.unwrap_or(Stage::Overlapping));
                    }
                    continue;
                }
                let reasons = match self.judge(location, (left, p), (right, q)) {
                    Ok(reasons) => reasons,
                    Err(stage) => {
                        progress.stage = progress.stage.max(stage);
                        continue;
                    }
                };
                progress.stage = Stage::Unlocked;
                progress.tries += 1;
                let confidence = confidence::of(&reasons.doubts);
                if progress.best.as_ref().is_none_or(|old| confidence < old.confidence) {
                    let reasons = (self.kept < MOST_REASONS).then(|| Box::new(reasons));
                    self.kept += 1;
                    progress.best = Some(Best { a, b, origins: (p, q), location: at, confidence, reasons });
                }
                if progress.is_settled() {
                    return;
                }
            }
        }
    }

    fn witness(&mut self, locations: &[Location], best: Best) -> Option<Witness> {
        let Reasons { anchors, doubts } = self.reasons(locations, &best)?;
        let Best { a, b, origins, confidence, .. } = best;
        Some(Witness {
            a,
            b,
            origins,
            location: locations[best.location as usize],
            anchors,
            doubts,
            confidence,
        })
    }

    /// Through which callers the object comes, where that matters.
    pub(crate) fn anchors(&mut self, locations: &[Location], best: &Best) -> Option<(Anchor, Anchor)> {
        self.reasons(locations, best)?.anchors
    }

    fn reasons(&mut self, locations: &[Location], best: &Best) -> Option<Reasons> {
        if let Some(reasons) = &best.reasons {
            return Some(Reasons::clone(reasons));
        }
        let (left, right) = (&self.accesses.all[best.a], &self.accesses.all[best.b]);
        let (p, q) = best.origins;
        self.judge(locations[best.location as usize], (left, p), (right, q)).ok()
    }

    /// Who runs an activation, with a number for the locks its callers hold then.
    fn comers(&mut self, act: Act) -> Rc<[(Origin, u32)]> {
        let hb = self.stages.happens_before;
        let comers = || {
            let mut origins = hb.origins_of(act).to_vec();
            origins.sort_unstable_by_key(|&origin| hb.rank(origin));
            origins.into_iter().map(|origin| (origin, hb.held_by_callers(origin, act))).collect()
        };
        self.comers.entry(act).or_insert_with(comers).clone()
    }

    /// May the two run at the same time on one object? How far the pair comes, if not.
    fn meet(
        &mut self,
        location: Location,
        (left, p): (&Access, Origin),
        (right, q): (&Access, Origin),
    ) -> Result<(), Stage> {
        let hb = self.stages.happens_before;
        let origin = &hb.origins()[p];
        if p == q && (!origin.overlaps_itself || location.obj.is_some_and(|obj| hb.instance_local(p, obj))) {
            return Err(Stage::SameObject);
        }
        if p == q
            && let (Some(obj), Some(base), Some(other)) = (location.obj, left.base, right.base)
            && self.own.is_own(p, left.act, base, obj)
            && self.own.is_own(p, right.act, other, obj)
        {
            return Err(Stage::SameObject);
        }
        let point = |origin, access: &Access| Point { origin, act: access.act, stmt: access.stmt };
        if hb.ordered(&point(p, left), &point(q, right)).is_some() {
            return Err(Stage::TwoOrigins);
        }
        Ok(())
    }

    /// Every stage in turn. How far the pair comes, if it does not survive.
    fn judge(
        &mut self,
        location: Location,
        (left, p): (&Access, Origin),
        (right, q): (&Access, Origin),
    ) -> Result<Reasons, Stage> {
        self.meet(location, (left, p), (right, q))?;
        let (stages, hb, caches) = (self.stages, self.stages.happens_before, &self.accesses.caches);
        let points = access_points(location, (left, p), (right, q));
        let protection = hb.protects(&points.0, &points.1);
        if let Protection::Yes(_) = protection {
            return Err(Stage::Overlapping);
        }
        let mut through = None;
        let mut doubts =
            confidence::doubts(stages, (left, p), (right, q), location, caches, &protection, &mut self.own);
        // A closer look, unless it would not be shown anyway.
        if confidence::of(&doubts) < Confidence::Low
            && let (Some(obj), Some(base), Some(other)) = (location.obj, left.base, right.base)
        {
            let ways = (
                self.anchors.of(p, left.act, left.stmt, base, obj),
                self.anchors.of(q, right.act, right.stmt, other, obj),
            );
            let side = |origin, access: &Access, ways| Side { origin, is_write: access.write, ways };
            let (a, b) = (side(p, left, &ways.0), side(q, right, &ways.1));
            let Some(Meeting { ways: (x, y), guard }) = apart::meeting(stages, a, b) else {
                return Err(Stage::Overlapping);
            };
            through = Some((x.clone(), y.clone()));
            let is_dealt = p == q && self.dealt.is_dealt(p, obj, ways.0.iter().chain(ways.1.iter()));
            if let Some(guard) = guard {
                let weak = Protection::Weak(guard);
                doubts =
                    confidence::doubts(stages, (left, p), (right, q), location, caches, &weak, &mut self.own);
            }
            doubts.extend(is_dealt.then_some(Doubt::Dealt));
        }
        Ok(Reasons { anchors: through, doubts })
    }
}

fn access_points(
    location: Location,
    (left, p): (&Access, Origin),
    (right, q): (&Access, Origin),
) -> (AccessPoint, AccessPoint) {
    let access_point = |origin, access: &Access| AccessPoint {
        point: Point { origin, act: access.act, stmt: access.stmt },
        base: access.base,
        object: location.obj,
        is_write: access.write,
    };
    (access_point(p, left), access_point(q, right))
}
