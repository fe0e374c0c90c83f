//! What is reached from signals, or up to awaits and looks at flags: each answer kept with what it read, under the part
//! that it plays, so that it stays the same one when statements move. Knows starts and kills, not what they mean.

use super::SubjectId;
use super::flags::Scene;
use crate::bits::Bits;
use crate::labels::{self, Labels};
use crate::reach::{Barrier, Climb, Kills, Start, climb};
use crate::types::Origin;
use arena::{Id, Interner, define_id};
use ir::StmtId;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, Sizes, note};

define_id! {
    /// What one goes through of a topic.
    ReachId
}

define_id! {
    /// A topic that was met.
    TopicId
}

/// What about a subject is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Topic {
    pub subject: SubjectId,
    pub side: Side,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// What may still run after a signal.
    After,
    /// What may run before any await.
    Before,
    /// What may run before a flag was set or seen set.
    Open,
    /// Whether a flag is set once; with the number of the lock.
    Once(u32),
}

/// Who goes on from where, up to which kills. Together, because it is the same bodies that they pass.
pub struct Question {
    pub ways: Vec<Way>,
    pub kills: Kills,
}

pub struct Way {
    /// By which the answer is known.
    pub origin: Origin,
    /// All that go.
    pub by: Vec<Origin>,
    pub entry: Act,
    pub starts: Vec<Start>,
}

type Answer = BTreeMap<Origin, Arc<Climb>>;

pub struct Reaches {
    /// As what the reached activations are told and read.
    kind: Kind,
    topics: Interner<TopicId, Topic>,
    ids: Interner<ReachId, (TopicId, Origin)>,
    climbs: Memo<TopicId, Answer>,
    /// By number.
    known: FxHashMap<ReachId, Arc<Climb>>,
    /// What is reached as a whole.
    labels: Labels,
}

impl Reaches {
    pub fn new(kind: Kind, follows: bool) -> Reaches {
        Reaches {
            kind,
            topics: Interner::new(),
            ids: Interner::new(),
            climbs: Memo::new(Kind::Other, follows),
            known: FxHashMap::default(),
            labels: Labels::new(labels::Way::Down),
        }
    }

    /// Answers what is wanted now, as far as there may be another answer, and tells where it differs.
    pub fn update(
        &mut self,
        scene: &Scene<'_, '_>,
        wanted: impl Iterator<Item = Topic>,
        question: impl Fn(Topic) -> Option<Question> + Sync,
        changes: &mut Changes,
    ) {
        let wanted: BTreeSet<TopicId> = wanted.map(|topic| self.topics.intern(topic)).collect();
        let known: BTreeSet<TopicId> = self.climbs.iter().map(|(topic, _)| topic).collect();
        let mut differing = Differing::default();
        for &topic in known.difference(&wanted) {
            let before = self.climbs.remove(topic).unwrap_or_default();
            self.replace(topic, before, &mut differing);
        }
        let stale = self.climbs.stale(changes).into_iter().filter(|topic| wanted.contains(topic));
        let stale: BTreeSet<TopicId> = stale.chain(wanted.difference(&known).copied()).collect();
        let stale: Vec<TopicId> = stale.into_iter().collect();
        let topics = &self.topics;
        // Nobody reads an answer as such.
        let redone = self.climbs.redo(&stale, &mut Changes::default(), |topic| {
            question(topics[topic]).map(|question| answer(scene, question))
        });
        for (topic, before) in redone {
            self.replace(topic, before.unwrap_or_default(), &mut differing);
        }
        self.label(scene, &differing, changes);
    }

    /// Notes where an answer differs from the one before.
    fn replace(&mut self, topic: TopicId, before: Answer, differing: &mut Differing) {
        let now = self.climbs.peek(topic).cloned().unwrap_or_default();
        let nothing = Arc::new(Climb::default());
        for &origin in before.keys().chain(now.keys()) {
            let (before, now) = (before.get(&origin), now.get(&origin));
            let id = self.ids.intern((topic, origin));
            match now {
                Some(now) => _ = self.known.insert(id, now.clone()),
                None => _ = self.known.remove(&id),
            }
            differing.add(before.unwrap_or(&nothing), now.unwrap_or(&nothing));
        }
    }

    fn label(&mut self, scene: &Scene<'_, '_>, differing: &Differing, changes: &mut Changes) {
        let (pointsto, components) = (scene.world.pointsto, scene.world.components);
        if changes.everything {
            let mut roots: FxHashMap<Act, Bits> = FxHashMap::default();
            for (id, climb) in &self.known {
                for &root in &climb.roots {
                    roots.entry(root).or_default().insert(id.index());
                }
            }
            self.labels.put_all(pointsto, components, roots);
            return;
        }
        let rooted = |root: Act| -> Bits {
            let rooted = self.known.iter().filter(|(_, climb)| climb.roots.contains(&root));
            rooted.map(|(id, _)| id.index()).collect()
        };
        let own: BTreeMap<Act, Bits> = differing.roots.iter().map(|&root| (root, rooted(root))).collect();
        let differing_labels = self.labels.put(pointsto, components, own);
        differing_labels.iter().for_each(|&act| changes.add(Read::of(self.kind, act)));
        differing.parts.iter().for_each(|&(act, stmt)| changes.add(Read::pair(self.kind, act, stmt)));
    }

    pub fn id(&self, topic: Topic, origin: Origin) -> Option<ReachId> {
        self.ids.get(&(self.topics.get(&topic)?, origin))
    }

    /// Is the statement reached?
    pub fn contains(&self, id: ReachId, act: Act, stmt: StmtId) -> bool {
        self.is_whole(id, act) || {
            note(Read::pair(self.kind, act, stmt));
            let part = self.known.get(&id).and_then(|climb| climb.parts.get(&act));
            part.is_some_and(|stmts| stmts.contains(stmt.index()))
        }
    }

    /// Is all of the activation reached, and all that it calls?
    pub fn is_whole(&self, id: ReachId, act: Act) -> bool {
        note(Read::of(self.kind, act));
        self.labels.of(act).is_some_and(|labels| labels.contains(id.index()))
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.climbs.sizes(sizes);
        self.labels.sizes(sizes);
        sizes.add("topics", self.topics.len());
        sizes.add("signal reaches", self.ids.len() + self.known.len());
    }
}

/// Where answers differ from those before.
#[derive(Default)]
struct Differing {
    roots: BTreeSet<Act>,
    /// Statement by statement: those of the bodies that it takes to get somewhere are mostly reached as before.
    parts: BTreeSet<(Act, StmtId)>,
}

impl Differing {
    fn add(&mut self, before: &Climb, now: &Climb) {
        self.roots.extend(before.roots.symmetric_difference(&now.roots));
        self.parts.extend(before.differing_parts(now));
    }
}

fn answer(scene: &Scene<'_, '_>, question: Question) -> Answer {
    let barrier = Barrier::new(scene.world, question.kills);
    let all = &scene.origins.runs;
    let reached = |way: Way| {
        let climb = |runs: &Bits| Arc::new(climb(way.entry, runs, &way.starts, &barrier));
        let reached = match way.by[..] {
            [origin] => climb(&all[origin]),
            _ => {
                let mut runs = Bits::new();
                way.by.iter().for_each(|&origin| runs.union_with(&all[origin]));
                climb(&runs)
            }
        };
        (way.origin, reached)
    };
    question.ways.into_iter().map(reached).collect()
}
