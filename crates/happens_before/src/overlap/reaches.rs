//! What origins reach from where they start others: asked for when lives are found out, kept as long as somebody asks.
//! Knows starts and kills; what they mean is the asker's affair.

use super::Span;
use crate::bits::Bits;
use crate::origins::Origins;
use crate::reach::{Barrier, Climb, Kills, Start, climb};
use crate::types::Origin;
use crate::world::World;
use arena::{Id, IndexVec, define_id};
use ir::StmtId;
use pointsto::Act;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use track::{Changes, Kind, Memo, Read, Sizes, note};

define_id! {
    /// A computed reach.
    ReachId
}

define_id! {
    /// Kills of a question: how control passes them is the same for all who ask.
    KillsId
}

/// Who goes on from where, up to which kills.
type Question = (Origin, Start, Kills);

pub struct Reaches {
    numbers: FxHashMap<Question, ReachId>,
    questions: IndexVec<ReachId, Question>,
    climbs: Memo<ReachId, Arc<Climb>>,
    /// What was read to find out how control passes each set of kills.
    passing: Memo<KillsId, ()>,
    kills: FxHashMap<Kills, KillsId>,
    /// Numbers of questions that nobody asks any more, and of kills.
    free: Vec<ReachId>,
    free_kills: Vec<KillsId>,
    /// What somebody asks for now.
    asked: BTreeSet<ReachId>,
    /// What has to be found out again.
    stale: BTreeSet<ReachId>,
    differing: Differing,
    /// Nobody had an answer before, so that nobody asks where they differ.
    is_first: bool,
}

/// Where answers differ from those before.
#[derive(Default)]
pub struct Differing {
    pub is_any: bool,
    pub roots: BTreeSet<Act>,
    /// Statement by statement: those of the bodies that it takes to get somewhere are mostly reached as before.
    pub parts: BTreeSet<(Act, StmtId)>,
}

impl Reaches {
    pub fn new(follows: bool) -> Reaches {
        Reaches {
            numbers: FxHashMap::default(),
            questions: IndexVec::new(),
            climbs: Memo::new(Kind::Reach, follows),
            passing: Memo::new(Kind::Passing, follows),
            kills: FxHashMap::default(),
            free: Vec::new(),
            free_kills: Vec::new(),
            asked: BTreeSet::new(),
            stale: BTreeSet::new(),
            differing: Differing::default(),
            is_first: true,
        }
    }

    /// Looks what has to be found out again.
    pub fn look(&mut self, changes: &mut Changes) {
        self.is_first = changes.everything;
        for id in self.passing.stale(changes) {
            self.passing.remove(id);
            changes.add(Read::of(Kind::Passing, id));
        }
        self.stale = self.climbs.stale(changes).into_iter().collect();
    }

    /// All questions will be asked anew.
    pub fn begin(&mut self) {
        self.asked.clear();
    }

    /// Forgets what was not asked for: its statements may be gone.
    pub fn forget(&mut self) {
        let is_gone = |id: &ReachId| !self.asked.contains(id);
        let gone: BTreeSet<ReachId> = self.numbers.values().copied().filter(is_gone).collect();
        for id in gone {
            self.numbers.remove(&self.questions[id]);
            self.stale.remove(&id);
            let climb = self.climbs.remove(id).unwrap_or_default();
            self.differing.add(&climb, &Climb::default());
            self.free.push(id);
        }
        let used: FxHashSet<&Kills> = self.numbers.keys().map(|(_, _, kills)| kills).collect();
        let gone: Vec<Kills> = self.kills.keys().filter(|kills| !used.contains(kills)).cloned().collect();
        for kills in gone {
            if let Some(id) = self.kills.remove(&kills) {
                self.passing.remove(id);
                self.free_kills.push(id);
            }
        }
    }

    /// The number of a question, with its answer.
    pub fn ask(
        &mut self,
        barriers: &Barriers<'_, '_>,
        origins: &Origins,
        question: Question,
    ) -> (ReachId, Arc<Climb>) {
        let id = match self.numbers.get(&question) {
            Some(&id) => id,
            None => {
                let id = self.number(question);
                self.stale.insert(id);
                id
            }
        };
        self.asked.insert(id);
        if self.stale.remove(&id) {
            self.work_out(barriers, origins, id);
        }
        note(Read::of(Kind::Reach, id));
        let climb = self.climbs.peek(id).cloned().unwrap_or_default();
        (id, climb)
    }

    /// Finds everything out again that has to be.
    pub fn refresh(&mut self, barriers: &Barriers<'_, '_>, origins: &Origins, changes: &mut Changes) {
        for id in std::mem::take(&mut self.stale) {
            if self.work_out(barriers, origins, id) {
                changes.add(Read::of(Kind::Reach, id));
            }
        }
    }

    pub fn take_differing(&mut self) -> Differing {
        std::mem::take(&mut self.differing)
    }

    /// By activation, who runs it as a whole.
    pub fn roots(&self) -> FxHashMap<Act, Bits> {
        let mut roots: FxHashMap<Act, Bits> = FxHashMap::default();
        for (id, climb) in self.climbs.iter() {
            for &root in &climb.roots {
                roots.entry(root).or_default().insert(id.index());
            }
        }
        roots
    }

    pub fn rooted_at(&self, act: Act) -> Bits {
        let with = self.climbs.iter().filter(|(_, climb)| climb.roots.contains(&act));
        with.map(|(id, _)| id.index()).collect()
    }

    /// All of each list as one.
    pub fn spans(&self, lists: BTreeSet<Vec<ReachId>>) -> FxHashMap<Vec<ReachId>, Arc<Span>> {
        let span = |list: Vec<ReachId>| {
            let mut span = Span::default();
            for &id in &list {
                span.reaches.insert(id.index());
                for (&act, stmts) in self.climbs.peek(id).into_iter().flat_map(|climb| &climb.parts) {
                    let all = span.parts.entry(act).or_default();
                    if **all != **stmts {
                        Arc::make_mut(all).union_with(stmts);
                    }
                }
            }
            (list, Arc::new(span))
        };
        lists.into_iter().map(span).collect()
    }

    fn number(&mut self, question: Question) -> ReachId {
        let id = match self.free.pop() {
            Some(id) => {
                self.questions[id] = question.clone();
                id
            }
            None => self.questions.push(question.clone()),
        };
        self.numbers.insert(question, id);
        id
    }

    /// True if the answer differs from the one before.
    fn work_out(&mut self, barriers: &Barriers<'_, '_>, origins: &Origins, id: ReachId) -> bool {
        let (origin, start, kills) = &self.questions[id];
        let barrier = barriers.of(kills);
        let free = &mut self.free_kills;
        let next = self.kills.len() + free.len();
        let passing =
            *self.kills.entry(kills.clone()).or_insert_with(|| free.pop().unwrap_or(KillsId::new(next)));
        let (now, reads) = self.climbs.record(|| {
            note(Read::of(Kind::Passing, passing));
            let (entry, runs) = (origins.info[*origin].entry, &origins.runs[*origin]);
            climb(entry, runs, &[*start], &barrier)
        });
        let passed = barrier.take_reads();
        if !passed.is_empty() {
            match self.passing.peek(passing) {
                Some(()) => self.passing.add(passing, passed),
                None => drop(self.passing.set(passing, Some(()), passed)),
            }
        }
        let before = self.climbs.peek(id).cloned().unwrap_or_default();
        let differs = *before != now || self.climbs.peek(id).is_none();
        if differs && !self.is_first {
            self.differing.add(&before, &now);
        }
        self.climbs.set(id, Some(Arc::new(now)), reads);
        differs
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        self.climbs.sizes(sizes);
        self.passing.sizes(sizes);
        sizes.add("reaches", self.questions.len());
    }
}

/// Kills with their consequences, worked out once for all questions of one update.
pub struct Barriers<'a, 'w> {
    pub world: &'a World<'w>,
    follows: bool,
    known: RefCell<FxHashMap<Kills, Rc<Barrier<'a, 'w>>>>,
}

impl<'a, 'w> Barriers<'a, 'w> {
    pub fn new(world: &'a World<'w>, follows: bool) -> Barriers<'a, 'w> {
        Barriers { world, follows, known: RefCell::default() }
    }

    fn of(&self, kills: &Kills) -> Rc<Barrier<'a, 'w>> {
        if let Some(known) = self.known.borrow().get(kills) {
            return known.clone();
        }
        let barrier = Rc::new(Barrier::shared(self.world, kills.clone(), self.follows));
        self.known.borrow_mut().insert(kills.clone(), barrier.clone());
        barrier
    }
}

impl Differing {
    fn add(&mut self, before: &Climb, now: &Climb) {
        self.is_any = true;
        self.roots.extend(before.roots.symmetric_difference(&now.roots));
        self.parts.extend(before.differing_parts(now));
    }
}
