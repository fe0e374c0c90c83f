//! All activations from which calls lead to given ones, worked out once for all who ask and followed from edit to edit.
//! Knows calls only.

use crate::bits::Bits;
use crate::components::Components;
use arena::{Id, define_id};
use pointsto::{Act, PointsTo};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};
use track::{Changes, Kind, Read, Sizes, note, unnoted};

define_id! {
    /// Activations that were asked about.
    Question
}

#[derive(Debug, Default)]
pub struct Above {
    known: Mutex<FxHashMap<Box<[Act]>, Callers>>,
}

/// The given activations and all that lead to them.
#[derive(Debug, Clone)]
pub struct Callers {
    question: Question,
    acts: Arc<Bits>,
}

impl Callers {
    pub fn contains(&self, act: Act) -> bool {
        note(Read::pair(Kind::Above, self.question, act));
        self.acts.contains(act.index())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        note(Read::of(Kind::AboveCount, self.question));
        self.acts.iter().count()
    }
}

impl Above {
    pub fn of(&self, pointsto: &PointsTo, acts: impl IntoIterator<Item = Act>) -> Callers {
        let mut acts: Vec<Act> = acts.into_iter().collect();
        acts.sort_unstable();
        acts.dedup();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let question = Question::new(known.len());
        let find = || Callers { question, acts: Arc::new(find(pointsto, &acts)) };
        known.entry(acts.clone().into()).or_insert_with(find).clone()
    }

    /// Who calls an activation that leads there not at all, or as before, changes nothing.
    pub fn update(&mut self, pointsto: &PointsTo, components: &Components, changes: &mut Changes) {
        let touched =
            unnoted(|| components.touched().iter().flat_map(|&component| components.members(component)));
        let touched: Vec<Act> = touched.copied().collect();
        let gone: Vec<Act> = changes.of(Kind::Runs).collect();
        for (acts, known) in self.known.get_mut().unwrap_or_else(PoisonError::into_inner) {
            if !touched.iter().chain(&gone).any(|act| known.acts.contains(act.index())) {
                continue;
            }
            let now = find(pointsto, acts);
            let differs = |at: &usize| now.contains(*at) != known.acts.contains(*at);
            let mut differing = known.acts.iter().chain(now.iter()).filter(differs).peekable();
            if differing.peek().is_none() {
                continue;
            }
            differing.for_each(|at| changes.add(Read::pair(Kind::Above, known.question, Act::new(at))));
            changes.add(Read::of(Kind::AboveCount, known.question));
            known.acts = Arc::new(now);
        }
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        sizes.add("Above", known.len());
    }
}

fn find(pointsto: &PointsTo, acts: &[Act]) -> Bits {
    let mut seen = Bits::new();
    let mut left: Vec<Act> = acts.iter().copied().filter(|act| seen.insert(act.index())).collect();
    unnoted(|| {
        while let Some(act) = left.pop() {
            let callers = pointsto.callers(act).iter().map(|&(caller, _)| caller);
            left.extend(callers.filter(|caller| seen.insert(caller.index())));
        }
    });
    seen
}
