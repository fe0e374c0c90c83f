//! Flags that are set once: whoever sets one holds a lock and has seen, since taking it, that the flag is not set,
//! and nobody takes it back. `if (!ready) synchronized (this) { if (!ready) { fill(); ready = true; } }` Knows one
//! flag at a time, and points; not what is accessed there.

use super::SubjectId;
use super::candidates::{Candidate, Look, remove};
use super::flags::{Flags, Place, Scene};
use super::looks::Looks;
use super::reaches::{Question, Reaches, Side, Topic, Way};
use super::section::{Common, Section, within};
use crate::bits::Bits;
use crate::branches::is_nonzero;
use crate::origins::Origins;
use crate::reach::{Barrier, Kills, Start};
use crate::types::Origin;
use crate::world::World;
use ir::StmtKind;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use track::{Asked, Changes, Kind, Memo, Sizes};

/// Let S be the one time a flag is set. What runs under the lock after the flag was seen unset, and not after S,
/// comes before S: in the same section, or in one before. What runs only after the flag was seen set, or after S,
/// comes after S.
pub struct Once {
    sections: Asked<Common, Arc<Section>>,
    candidates: Memo<SubjectId, Vec<Candidate>>,
    /// What whoever may set a candidate, or look at it, does before a look.
    unseen: Reaches,
    /// What it does after the flag is set.
    later: Reaches,
    set: Memo<SubjectId, SetOnce>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct SetOnce {
    /// What comes before S.
    pub earlier: FxHashMap<Act, Bits>,
    /// The flag is set or seen set.
    known: Kills,
    /// Who sets the flag, or looks at it.
    pub origins: BTreeSet<Origin>,
}

impl Once {
    pub fn new(follows: bool) -> Once {
        Once {
            sections: Asked::new(Kind::Sections, follows),
            candidates: Memo::new(Kind::Candidates, follows),
            unseen: Reaches::new(Kind::Unseen, follows),
            later: Reaches::new(Kind::Unseen, follows),
            set: Memo::new(Kind::SetOnce, follows),
        }
    }

    /// True if something is set once otherwise than before. `touched`: flags that differ.
    pub fn update(
        &mut self,
        scene: &Scene<'_, '_>,
        flags: &Flags,
        looks: &Looks,
        touched: &[SubjectId],
        changes: &mut Changes,
    ) -> bool {
        let section = |lock: &Common| Arc::new(Section::new(scene, looks, lock));
        self.sections.refresh(changes, section);
        let stale: BTreeSet<SubjectId> =
            self.candidates.stale(changes).into_iter().chain(touched.iter().copied()).collect();
        let stale: Vec<SubjectId> = stale.into_iter().collect();
        let sections = &self.sections;
        let mut stale: BTreeSet<SubjectId> = self
            .candidates
            .update(&stale, changes, |subject| {
                let look = Look { scene, flag: flags.of(subject)? };
                let candidates = look.candidates(|lock| sections.ask(lock, || section(lock)));
                Some(candidates).filter(|candidates| !candidates.is_empty())
            })
            .into_iter()
            .collect();
        let candidates = &self.candidates;
        let all = || {
            candidates.iter().flat_map(|(subject, candidates)| {
                let candidates = (0..).zip(candidates);
                candidates.map(move |(at, candidate)| (Topic { subject, side: Side::Once(at) }, candidate))
            })
        };
        let candidate = |topic: Topic| {
            let Side::Once(at) = topic.side else { return None };
            candidates.get(topic.subject)?.get(at as usize)
        };
        let question = |topic: Topic| candidate(topic)?.before_a_look();
        self.unseen.update(scene, all().map(|(topic, _)| topic), question, changes);
        let unseen = &self.unseen;
        let is_seen = |(topic, candidate): &(Topic, &Candidate)| !candidate.is_reached(unseen, *topic);
        let question = |topic: Topic| candidate(topic)?.after_it_is_set();
        self.later.update(scene, all().filter(is_seen).map(|(topic, _)| topic), question, changes);
        let later = &self.later;
        stale.extend(self.set.stale(changes));
        let stale: Vec<SubjectId> = stale.into_iter().collect();
        let differing = self.set.update(&stale, changes, |subject| {
            let look = Look { scene, flag: flags.of(subject)? };
            let mut candidates = (0..).zip(candidates.get(subject)?);
            let earlier = candidates.find_map(|(at, candidate)| {
                let topic = Topic { subject, side: Side::Once(at) };
                look.earlier(unseen, later, topic, candidate)
            })?;
            Some(SetOnce { earlier, known: look.known(), origins: look.origins() })
        });
        !differing.is_empty()
    }

    pub fn all(&self) -> BTreeMap<SubjectId, &SetOnce> {
        self.set.iter().collect()
    }

    /// What may run before a flag was set or seen set.
    pub fn topics(&self) -> impl Iterator<Item = Topic> + '_ {
        self.set.iter().map(|(subject, _)| Topic { subject, side: Side::Open })
    }

    pub fn question(&self, origins: &Origins, topic: Topic) -> Option<Question> {
        let set = self.set.get(topic.subject)?;
        let ways = set.origins.iter().map(|&origin| {
            let entry = origins.info[origin].entry;
            Way { origin, by: vec![origin], entry, starts: vec![Start::Entry(entry)] }
        });
        Some(Question { ways: ways.collect(), kills: set.known.clone() })
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.sections.sizes(sizes);
        self.candidates.sizes(sizes);
        self.unseen.sizes(sizes);
        self.later.sizes(sizes);
        self.set.sizes(sizes);
    }
}

impl Look<'_, '_> {
    /// What comes before the flag is set, if it is set once and there is anything to order.
    fn earlier(
        &self,
        unseen: &Reaches,
        later: &Reaches,
        topic: Topic,
        candidate: &Candidate,
    ) -> Option<FxHashMap<Act, Bits>> {
        if candidate.is_reached(unseen, topic) {
            return None;
        }
        let id = |reaches: &Reaches| reaches.id(topic, *candidate.origins.first()?);
        let reaches = [(unseen, id(unseen)?), (later, id(later)?)];
        let is_held = |act, stmt| self.is_held(&candidate.lock, act, stmt);
        // Of what is reached as a whole nothing is left, nor of what that calls.
        let is_whole = |act| reaches.iter().any(|&(reaches, id)| reaches.is_whole(id, act));
        let is_reached = |act, stmt| reaches.iter().any(|&(reaches, id)| reaches.contains(id, act, stmt));
        let open = Barrier::none(self.scene.world);
        let mut earlier = within(&open, &candidate.seen, &is_held, &is_whole, usize::MAX)?;
        remove(&mut earlier, |act, stmt| is_reached(act, stmt) || !is_held(act, stmt));
        Some(earlier).filter(|earlier| self.writes(earlier))
    }

    /// Where the flag is set, or seen set.
    fn known(&self) -> Kills {
        let mut kills = self.flag.awaits.clone();
        let certain = self.flag.set.iter().filter(|place| is_certain(self.scene.world, place));
        kills.stmts.extend(certain.map(|place| (place.act, place.stmt)));
        kills.sort();
        kills
    }
}

/// Does the place store what is not zero for sure?
fn is_certain(world: &World<'_>, place: &Place) -> bool {
    let Some(flow) = world.flow(place.act) else { return false };
    match flow.body.stmts[place.stmt].kind {
        StmtKind::Store { src, .. } | StmtKind::StoreStatic { src, .. } => is_nonzero(flow, src),
        _ => false,
    }
}
