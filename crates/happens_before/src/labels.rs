//! Labels on activations that are handed on along calls. Knows the call graph with its cycles collapsed; what the
//! labels mean is the asker's affair.

use crate::bits::Bits;
use crate::components::Components;
use arena::Id;
use pointsto::{Act, PointsTo};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use track::{Sizes, unnoted};

/// The labels of every activation: its own, and those handed on to it.
#[derive(Debug)]
pub struct Labels {
    way: Way,
    /// Labels put on activations from outside.
    own: FxHashMap<Act, Bits>,
    /// By activation, an index into `sets`.
    of: Vec<u32>,
    sets: Vec<Bits>,
    numbers: FxHashMap<Bits, u32>,
    unions: FxHashMap<(u32, u32), u32>,
    /// How many sets there were when those were forgotten that nobody has.
    looked_over: usize,
}

/// Nobody looks for sets that nobody has before there are so many new ones, and twice as many as before.
const NEW: usize = 64;

/// Who gets labels from whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Callees from their callers.
    Down,
    /// Callers from their callees.
    Up,
}

impl Labels {
    pub fn new(way: Way) -> Labels {
        Labels {
            way,
            own: FxHashMap::default(),
            of: Vec::new(),
            sets: vec![Bits::new()],
            numbers: std::iter::once((Bits::new(), 0)).collect(),
            unions: FxHashMap::default(),
            looked_over: 1,
        }
    }

    /// Numbers the sets anew that somebody has.
    fn forget_unused(&mut self) {
        let mut now: FxHashMap<u32, u32> = std::iter::once((0, 0)).collect();
        let mut sets = vec![Bits::new()];
        for of in &mut self.of {
            *of = *now.entry(*of).or_insert_with(|| {
                sets.push(std::mem::take(&mut self.sets[*of as usize]));
                sets.len() as u32 - 1
            });
        }
        self.numbers = sets.iter().cloned().zip(0..).collect();
        self.unions.clear();
        self.looked_over = sets.len();
        self.sets = sets;
    }

    /// From nothing.
    pub fn put_all(&mut self, pointsto: &PointsTo, components: &Components, own: FxHashMap<Act, Bits>) {
        *self = Labels { own, ..Labels::new(self.way) };
        let mut order: Vec<u32> = components.in_order().collect();
        if self.way == Way::Down {
            order.reverse();
        }
        unnoted(|| {
            for component in order {
                let labels = self.work_out(pointsto, components, component);
                for &act in components.members(component) {
                    self.set(act, labels);
                }
            }
        });
    }

    /// Puts other labels on some, and follows changed calls. Returns who has other labels now.
    pub fn put(
        &mut self,
        pointsto: &PointsTo,
        components: &Components,
        own: BTreeMap<Act, Bits>,
    ) -> BTreeSet<Act> {
        let way = self.way;
        // The next to come is always the last.
        let place = |component: u32| match way {
            Way::Down => (i64::from(components.label(component)), component),
            Way::Up => (-i64::from(components.label(component)), component),
        };
        if self.sets.len() > 2 * self.looked_over + NEW {
            self.forget_unused();
        }
        unnoted(|| {
            let mut left: BTreeSet<(i64, u32)> =
                components.touched().iter().map(|&component| place(component)).collect();
            for (act, labels) in own {
                if pointsto.runs(act) {
                    left.insert(place(components.of(act)));
                }
                match labels.is_empty() {
                    true => self.own.remove(&act),
                    false => self.own.insert(act, labels),
                };
            }
            let mut differing = BTreeSet::new();
            while let Some((_, component)) = left.pop_last() {
                let labels = self.work_out(pointsto, components, component);
                let members = components.members(component).iter();
                let others: Vec<Act> = members.copied().filter(|&act| self.set(act, labels)).collect();
                if !others.is_empty() {
                    match way {
                        Way::Down => left.extend(components.called(component).map(place)),
                        Way::Up => left.extend(
                            components
                                .callers(pointsto, component)
                                .map(|(caller, _)| place(components.of(caller))),
                        ),
                    }
                }
                differing.extend(others);
            }
            differing
        })
    }

    fn work_out(&mut self, pointsto: &PointsTo, components: &Components, component: u32) -> u32 {
        let mut labels = 0;
        for act in components.members(component) {
            if let Some(own) = self.own.get(act).cloned() {
                let own = self.number(own);
                labels = self.union(labels, own);
            }
        }
        match self.way {
            Way::Down => {
                for (caller, _) in components.callers(pointsto, component) {
                    labels = self.union(labels, self.index(caller));
                }
            }
            Way::Up => {
                for called in components.called(component) {
                    let labels_of = components.members(called).first().map(|&act| self.index(act));
                    labels = self.union(labels, labels_of.unwrap_or(0));
                }
            }
        }
        labels
    }

    fn index(&self, act: Act) -> u32 {
        self.of.get(act.index()).copied().unwrap_or(0)
    }

    /// The labels of an activation.
    pub fn of(&self, act: Act) -> Option<&Bits> {
        self.of.get(act.index()).map(|&at| &self.sets[at as usize])
    }

    /// True if it had others.
    fn set(&mut self, act: Act, labels: u32) -> bool {
        if self.of.len() <= act.index() {
            self.of.resize(act.index() + 1, 0);
        }
        std::mem::replace(&mut self.of[act.index()], labels) != labels
    }

    fn number(&mut self, labels: Bits) -> u32 {
        let next = self.sets.len() as u32;
        *self.numbers.entry(labels).or_insert_with_key(|labels| {
            self.sets.push(labels.clone());
            next
        })
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        let (low, high) = (a.min(b), a.max(b));
        if low == 0 || low == high {
            return high;
        }
        if let Some(&known) = self.unions.get(&(low, high)) {
            return known;
        }
        let mut both = self.sets[low as usize].clone();
        both.union_with(&self.sets[high as usize]);
        let both = self.number(both);
        self.unions.insert((low, high), both);
        both
    }

    pub fn sizes(&self, sizes: &mut Sizes) {
        sizes.add("labels", self.sets.len());
        sizes.add("unions of labels", self.unions.len());
    }
}
