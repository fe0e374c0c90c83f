//! The findings that tell causes: which pair stands for one, what identifies it, and the words. Each is worked out again
//! only when something changed that it tells. Knows nothing of how pairs are found or gathered.

use crate::access::{Location, What};
use crate::anchor::Anchor;
use crate::group::{Groups, Regrouped};
use crate::pair::{Judge, Pair, Witness};
use crate::race::Races;
use crate::told::{Memory, Told, sides};
use findings::{
    AccessKind, Confidence, Engine, Finding, LockUse, Place, Rule, Site, Unguarded, fingerprint, unnumbered,
};
use happens_before::Point;
use ir::MethodId;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, Sizes};

/// Further pairs of one cause that are listed.
pub(crate) const MOST_ALSO: usize = 50;

/// Of what else has the same cause, so much is enough to know it by.
const MOST_MEMBERS: usize = 64;

/// Fewer findings than this are described one after the other.
const MANY: usize = 8;

/// Pairs of one cause.
struct Cause {
    /// Stands for all.
    best: Pair,
    pairs: Vec<Pair>,
    /// `None` until it is told.
    finding: Option<Arc<Finding>>,
}

pub(crate) struct Findings {
    /// Findings less sure than this are told in brief: those that nobody looks at are many, and how they come about
    /// takes long to tell.
    least: Confidence,
    /// The causes that are hardly believed, by memory.
    doubtful: FxHashMap<Memory, Cause>,
    believed: Vec<Cause>,
    /// What there is to say about pairs that stand for causes.
    described: Memo<Pair, Arc<Finding>>,
    /// The same in full, for findings that are told apart by that only.
    in_full: Memo<Pair, Finding>,
}

impl Findings {
    pub(crate) fn new(follows: bool, least: Confidence) -> Findings {
        let described = Memo::new(Kind::Described, follows);
        let in_full = Memo::new(Kind::Described, follows);
        Findings { least, doubtful: FxHashMap::default(), believed: Vec::new(), described, in_full }
    }

    /// Follows pairs that are told or gathered otherwise.
    pub(crate) fn update(&mut self, teller: &Teller<'_>, regrouped: Regrouped, changes: &Changes) {
        let mut again = regrouped.pairs;
        again.iter().chain(&self.in_full.stale(changes)).for_each(|&pair| _ = self.in_full.remove(pair));
        again.extend(self.described.stale(changes));
        let stale = again.iter().filter_map(|&pair| Some(teller.groups.get(pair)?.memory));
        let memory: BTreeSet<Memory> = regrouped.memory.iter().copied().chain(stale).collect();
        let mut before: FxHashMap<Pair, Option<Arc<Finding>>> = FxHashMap::default();
        for &memory in &regrouped.memory {
            let cause = teller.groups.doubtful(memory).map(|pairs| teller.cause(pairs));
            let older = match cause {
                Some(cause) => self.doubtful.insert(memory, cause),
                None => self.doubtful.remove(&memory),
            };
            before.extend(older.map(|older| (older.best, older.finding)));
        }
        if regrouped.is_believed {
            let older = std::mem::take(&mut self.believed).into_iter();
            let mut older: FxHashMap<Pair, Cause> = older.map(|cause| (cause.pairs[0], cause)).collect();
            let otherwise: FxHashSet<Pair> = again.iter().copied().collect();
            for pairs in teller.groups.believed() {
                let is_same = |older: &Cause| {
                    older.pairs == pairs && !pairs.iter().any(|pair| otherwise.contains(pair))
                };
                match older.remove(&pairs[0]) {
                    Some(same) if is_same(&same) => self.believed.push(same),
                    other => {
                        before.extend(other.map(|other| (other.best, other.finding)));
                        self.believed.push(teller.cause(pairs));
                    }
                }
            }
            before.extend(older.into_values().map(|older| (older.best, older.finding)));
        }
        self.describe(teller, &memory, &again);
        let doubtful = memory.iter().filter_map(|memory| Some((*memory, self.doubtful.remove(memory)?)));
        let mut doubtful: Vec<(Memory, Cause)> = doubtful.collect();
        for cause in doubtful.iter_mut().map(|(_, cause)| cause).chain(&mut self.believed) {
            let older = before.remove(&cause.best).flatten();
            if cause.finding.is_some() && !again.contains(&cause.best) {
                continue;
            }
            let Some(described) = self.described.peek(cause.best) else { continue };
            let older = cause.finding.take().or(older);
            let finding = teller.finding(cause, described);
            // Who keeps the older one need not compare.
            cause.finding = Some(older.filter(|older| *older == finding).unwrap_or(finding));
        }
        self.doubtful.extend(doubtful);
        // What stands for no cause any more.
        before.into_keys().for_each(|pair| _ = self.described.remove(pair));
    }

    /// Describes the pairs that stand for causes now, as far as that is not done or may be otherwise.
    fn describe(&mut self, teller: &Teller<'_>, memory: &BTreeSet<Memory>, again: &BTreeSet<Pair>) {
        let doubtful = memory.iter().filter_map(|memory| self.doubtful.get(memory));
        let bests = doubtful.chain(&self.believed).map(|cause| cause.best);
        let is_new = |pair: &Pair| again.contains(pair) || self.described.peek(*pair).is_none();
        let pairs: Vec<Pair> = bests.filter(is_new).collect();
        let describe = |&pair: &Pair| (pair, self.described.record(|| teller.describe(pair, self.least)));
        let described: Vec<_> = if pairs.len() < MANY {
            pairs.iter().map(describe).collect()
        } else {
            pairs.par_iter().map(describe).collect()
        };
        for (pair, (finding, reads)) in described {
            let older = self.described.peek(pair).filter(|older| ***older == finding).cloned();
            self.described.set(pair, Some(older.unwrap_or_else(|| Arc::new(finding))), reads);
        }
    }

    /// All findings, each with an id of its own, in no particular order.
    pub(crate) fn all(&mut self, teller: &Teller<'_>) -> Vec<Arc<Finding>> {
        let causes: Vec<&Cause> = self.doubtful.values().chain(&self.believed).collect();
        let mut findings: Vec<Arc<Finding>> =
            causes.iter().filter_map(|cause| cause.finding.clone()).collect();
        let mut ids: FxHashSet<&str> = FxHashSet::default();
        let again: BTreeSet<String> =
            findings.iter().map(|finding| &finding.id).filter(|id| !ids.insert(id)).cloned().collect();
        for id in again {
            let alike: Vec<usize> = (0..findings.len()).filter(|&at| findings[at].id == id).collect();
            let bests = alike.iter().map(|&at| causes[at].best);
            let new: Vec<Pair> = bests.filter(|&pair| self.in_full.peek(pair).is_none()).collect();
            let describe = |&pair: &Pair| self.in_full.record(|| teller.describe(pair, Confidence::Low));
            let described: Vec<_> = new.par_iter().map(describe).collect();
            for (pair, (finding, reads)) in new.into_iter().zip(described) {
                self.in_full.set(pair, Some(finding), reads);
            }
            let in_full = |&at: &usize| {
                let described = self.in_full.peek(causes[at].best)?;
                Some(Finding::clone(&teller.finding(causes[at], described)))
            };
            let mut twins: Vec<Finding> = alike.iter().filter_map(in_full).collect();
            twins.sort();
            keep_apart(&mut twins);
            alike.into_iter().zip(twins).for_each(|(at, twin)| findings[at] = Arc::new(twin));
        }
        findings
    }

    /// Does anything here rest on this?
    pub(crate) fn reads(&self, read: Read) -> bool {
        self.described.reads(read)
    }

    pub(crate) fn sizes(&self, sizes: &mut Sizes) {
        self.described.sizes(sizes);
        sizes.add("causes", self.doubtful.len() + self.believed.len());
    }
}

/// Findings that differ only in their object, or in who calls, get ids that say so.
pub(crate) fn keep_apart(alike: &mut [Finding]) {
    let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for finding in alike {
        let mut ways: Vec<String> = finding.sites.iter().map(methods).collect();
        ways.sort();
        ways.push(finding.id.clone());
        let twin = seen.entry(ways.clone()).or_default();
        ways.push(twin.to_string());
        *twin += 1;
        let parts: Vec<&str> = ways.iter().map(String::as_str).collect();
        finding.cause = std::mem::replace(&mut finding.id, fingerprint(&parts));
    }
}

fn methods(site: &Site) -> String {
    let methods: Vec<String> = site.trace.iter().map(|frame| unnumbered(&frame.method)).collect();
    methods.join(" ")
}

/// Calls on both ways together that a reader still follows; over more, something is easily overlooked.
const MOST_CALLS: usize = 8;

/// What speaks against a race as it is told, though nothing in the analysis does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoryDoubt {
    /// Both hold locks that are not known to be two.
    Locks,
    Far,
    /// A side is in a constructor.
    Made,
    /// A call may lead to other methods as well.
    Elsewhere,
}

impl StoryDoubt {
    fn text(self) -> &'static str {
        match self {
            StoryDoubt::Locks => "both hold locks, perhaps the same one: not proven to be one object",
            StoryDoubt::Far => "many calls away: one of the calls may lead elsewhere",
            StoryDoubt::Made => {
                "it is written while the object is made, mostly before the other thread has it"
            }
            StoryDoubt::Elsewhere => "one of the calls may lead to another method",
        }
    }

    /// What is left of a race that could be as sure as this. A doubt of the analysis grows with every call on the way;
    /// the others say no more than that one may be right.
    fn limit(self, limit: Confidence) -> Confidence {
        match (self, limit) {
            (_, Confidence::High) => Confidence::Medium,
            (StoryDoubt::Far, _) => Confidence::Low,
            (_, limit) => limit,
        }
    }
}

fn is_far([a, b]: &[Site; 2]) -> bool {
    a.trace.len() + b.trace.len() > MOST_CALLS
}

fn hold_perhaps_one([a, b]: &[Site; 2]) -> bool {
    let may_be_one = |a: &LockUse, b: &LockUse| {
        let is_field = |name: &str| name.contains('.') && !name.contains("this$") && !name.ends_with(')');
        let are_told_apart = is_field(&a.name) && is_field(&b.name) && a.name != b.name;
        let are_both_shared = a.shared && b.shared;
        !are_both_shared && !are_told_apart
    };
    a.locks.iter().any(|mine| b.locks.iter().any(|theirs| may_be_one(mine, theirs)))
}

/// One side of the pair that is told: whether it writes, how the object gets there, and the other side.
type Side<'t> = (bool, (Point, Option<&'t Anchor>), Point);

/// What findings are made from.
#[derive(Clone, Copy)]
pub(crate) struct Teller<'a> {
    pub(crate) judge: &'a Judge<'a>,
    pub(crate) races: &'a Races,
    pub(crate) groups: &'a Groups,
}

impl<'a> Teller<'a> {
    fn witness(&self, pair: Pair) -> &'a Witness {
        self.races.witness(pair).unwrap_or_else(|| unreachable!("pairs in groups survive"))
    }

    fn cause(&self, pairs: Vec<Pair>) -> Cause {
        let best = pairs.iter().copied().min_by(|&a, &b| self.ranks(a, b));
        let best = best.unwrap_or_else(|| unreachable!("a group has pairs"));
        Cause { best, pairs, finding: None }
    }

    /// The surest pair stands for the group; then operations on the object, a forgotten lock, two writes before a
    /// write and a read, the earliest lines.
    fn ranks(&self, a: Pair, b: Pair) -> Ordering {
        let rank =
            |told: &'a Told| (told.confidence, 2 - told.operated, !told.one_locked, told.reads, &told.places);
        let name = |pair: Pair| self.judge.describe.location(self.witness(pair).location);
        rank(self.groups.told(a))
            .cmp(&rank(self.groups.told(b)))
            .then_with(|| name(a).cmp(&name(b)))
            .then_with(|| self.judge.pairs(a, b))
    }

    /// The write comes first; between two writes the earlier line.
    fn sides(&self, pair: Pair) -> [Side<'a>; 2] {
        let witness = self.witness(pair);
        let (a, b) = witness.writes;
        let [left, right] = sides(witness);
        let (first, second) = ((a, left, right.0), (b, right, left.0));
        let (place, other) = &self.groups.told(pair).places;
        let is_second_first = !a && b || a == b && other < place;
        if is_second_first { [second, first] } else { [first, second] }
    }

    /// What and where a pair is, and how sure; from some confidence on also who comes there by which way, which locks
    /// they hold, and why it is believed.
    fn describe(&self, pair: Pair, least: Confidence) -> Finding {
        let (witness, describe) = (self.witness(pair), self.judge.describe);
        let told = self.sides(pair);
        let in_full = witness.confidence.at_least(least);
        let sites = told.map(|(writes, (point, way), other)| {
            let kind = if writes { AccessKind::Write } else { AccessKind::Read };
            if in_full {
                describe.site_against(point, kind, way, other)
            } else {
                describe.place_against(point, kind, way, other)
            }
        });
        let [p, q] = told.map(|(_, (point, _), _)| point.origin);
        let name = describe.location(witness.location);
        let object = witness.location.obj.and_then(|obj| describe.object_place(obj));
        let mut why = if in_full {
            let sides = told.map(|(_, (point, way), other)| (point, way, other));
            let unlocked = describe.why_unlocked([&sites[0], &sites[1]], sides);
            describe.why_race([p, q], witness.doubts, unlocked)
        } else {
            Vec::new()
        };
        let sides = [&sites[0], &sites[1]].map(|site| (site.method.as_str(), site.access));
        let mut limit = witness.doubts.limit();
        let story_doubt =
            if in_full { self.story_doubt(&sites, told, witness.location, limit) } else { None };
        if let Some(doubt) = story_doubt {
            limit = doubt.limit(limit);
            why.push(doubt.text().into());
        }
        Finding {
            id: describe.fingerprint_of(witness.location, sides),
            rule: Rule::Race,
            confidence: witness.confidence.max(limit),
            engines: vec![Engine::WholeProgram],
            message: self.message(pair),
            field: Some(name),
            about_contents: matches!(witness.location.what, What::Elements | What::Contents),
            held_in: describe.held_in(witness.location, self::sides(witness)),
            limit: Some(limit),
            object,
            why,
            sites: sites.into_iter().collect(),
            ..Finding::default()
        }
    }

    /// What speaks against a story that could be as sure as this.
    fn story_doubt(
        &self,
        sites: &[Site; 2],
        told: [Side<'a>; 2],
        location: Location,
        limit: Confidence,
    ) -> Option<StoryDoubt> {
        let describe = self.judge.describe;
        match limit {
            Confidence::Low => return None,
            _ if is_far(sites) => return Some(StoryDoubt::Far),
            Confidence::Medium => return None,
            Confidence::High => {}
        }
        if hold_perhaps_one(sites) {
            return Some(StoryDoubt::Locks);
        }
        let mut sides = told.into_iter();
        if sides.clone().any(|(writes, (point, _), _)| writes && describe.is_made_at(point, location)) {
            return Some(StoryDoubt::Made);
        }
        sides
            .any(|(_, (point, way), other)| describe.may_lead_elsewhere(point, way, other))
            .then_some(StoryDoubt::Elsewhere)
    }

    fn message(&self, pair: Pair) -> String {
        let told = self.sides(pair);
        let [first, second] = told.map(|(writes, ..)| if writes { "written" } else { "read" });
        let [p, q] = told.map(|(_, (point, _), _)| point.origin);
        let who = if p == q { "several instances of one thread" } else { "two threads" };
        let witness = self.witness(pair);
        let shown = self.judge.describe.headline(witness.location, sides(witness));
        format!("{shown} is {} by {who}", both(first, second))
    }

    /// And what else the cause concerns.
    fn finding(&self, cause: &Cause, described: &Finding) -> Arc<Finding> {
        let (place, other) = &self.groups.told(cause.best).places;
        let others = cause.pairs.iter().filter(|&&pair| pair != cause.best);
        let also: FxHashSet<&(Place, Place)> = others.map(|&pair| &self.groups.told(pair).places).collect();
        let is_other = |(a, b): &&(Place, Place)| (a, b) != (place, other) && (b, a) != (place, other);
        let mut also: Vec<&(Place, Place)> = also.into_iter().filter(is_other).collect();
        also.sort();
        let mut why = described.why.clone();
        if also.len() > MOST_ALSO {
            also.truncate(MOST_ALSO);
            why.push(format!(
                "more than {MOST_ALSO} other pairs of places have the same cause; not all are listed"
            ));
        }
        let locations: FxHashSet<Location> =
            cause.pairs.iter().map(|&pair| self.witness(pair).location).collect();
        let fields: BTreeSet<String> =
            locations.into_iter().map(|location| self.judge.describe.location(location)).collect();
        let fields = if fields.len() > 1 { fields.into_iter().collect() } else { Vec::new() };
        let also = also.into_iter().cloned().collect();
        let (members, unguarded) = (self.members(cause), self.unguarded(cause));
        Arc::new(Finding { why, fields, also, members, unguarded, ..described.clone() })
    }

    /// Of every pair the sides without a lock, or both if both hold locks but none in common.
    fn unguarded(&self, cause: &Cause) -> Vec<Unguarded> {
        let mut distinct: FxHashSet<(AccessKind, MethodId, Location, &Place)> = FxHashSet::default();
        for &pair in &cause.pairs {
            let (witness, told) = (self.witness(pair), self.groups.told(pair));
            let sides = [
                (witness.writes.0, told.methods.0, &told.places.0, told.locked.0),
                (witness.writes.1, told.methods.1, &told.places.1, told.locked.1),
            ];
            let unguarded = sides.into_iter().filter(|side| told.both_locked || !side.3);
            distinct.extend(unguarded.map(|(writes, method, place, _)| {
                let access = if writes { AccessKind::Write } else { AccessKind::Read };
                (access, method, witness.location, place)
            }));
        }
        let program = self.judge.stages.program;
        Unguarded::listed(distinct.into_iter().map(|(access, method, location, place)| Unguarded {
            access,
            method: program.method_display(method),
            field: self.judge.describe.location(location),
            place: place.clone(),
        }))
    }

    /// Fingerprints of all pairs of a cause, of many the smallest: the same ones of the same cause, mostly.
    fn members(&self, cause: &Cause) -> Vec<String> {
        let side = |method: MethodId, writes: bool| {
            if writes { (method, AccessKind::Write) } else { (method, AccessKind::Read) }
        };
        let alike = |&pair: &Pair| {
            let (witness, told) = (self.witness(pair), self.groups.told(pair));
            let mut sides = [side(told.methods.0, witness.writes.0), side(told.methods.1, witness.writes.1)];
            sides.sort();
            (witness.location, sides)
        };
        let distinct: FxHashSet<_> = cause.pairs.iter().map(alike).collect();
        if distinct.len() < 2 {
            return Vec::new();
        }
        let members: BTreeSet<String> = distinct
            .into_iter()
            .map(|(location, sides)| self.judge.describe.fingerprint(location, sides))
            .collect();
        members.into_iter().take(MOST_MEMBERS).collect()
    }
}

fn both(a: &str, b: &str) -> String {
    if a == b { a.to_string() } else { format!("{a} and {b}") }
}
