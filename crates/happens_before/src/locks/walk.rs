//! What happens while one lock is held: a walk from its holder over the calls made meanwhile, with the objects that
//! can get there and the locks certainly held on the way. Knows one holder at a time, and no origin.

use super::near::Near;
use super::passing::{Passing, Restriction};
use super::table::SetId;
use super::telling::Telling;
use crate::bits::Bits;

pub struct Walker<'a, 'k, 'w> {
    pub telling: &'a mut Telling<'k, 'w>,
    pub passing: &'a mut Passing,
}

/// Who gets where, whatever is held.
pub struct Walk {
    /// By number, the holder last; those that nothing gets to are not visited.
    pub params: Vec<Option<Restriction>>,
    /// By number of the edge: what the call passes on.
    passed: Vec<Option<Restriction>>,
}

impl Walk {
    /// How many activations are visited.
    pub fn visited(&self) -> usize {
        self.params.iter().flatten().count() - 1
    }

    /// Does anything get along this edge?
    pub fn passes(&self, edge: usize) -> bool {
        self.passed[edge].is_some()
    }
}

impl Walker<'_, '_, '_> {
    /// params(m) = ⋃ over calls (c, s) on the walk: what the call passes of params(c).
    pub fn walk(&mut self, near: &Near, start: Restriction) -> Walk {
        let mut walk = Walk { params: vec![None; near.acts.len() + 1], passed: vec![None; near.edges.len()] };
        walk.params[near.start()] = Some(start);
        let mut left = Bits::with_len(near.acts.len());
        self.pass(near, near.start(), start, &mut walk, &mut left);
        while let Some(at) = pop(&mut left) {
            let (known, passed) = (walk.params[at], &walk.passed[near.arriving(at)]);
            let all = known.iter().chain(passed.iter().flatten()).copied();
            let Some(found) = all.reduce(|a, b| self.passing.widened(a, b)) else { continue };
            if known != Some(found) {
                walk.params[at] = Some(found);
                self.pass(near, at, found, &mut walk, &mut left);
            }
        }
        walk
    }

    fn pass(&mut self, near: &Near, from: usize, params: Restriction, walk: &mut Walk, left: &mut Bits) {
        for &edge in near.leaving(from) {
            let passed = self.passing.enter(self.telling.keys, near.edges[edge].step.call, params);
            if passed.is_some() && walk.passed[edge] != passed {
                walk.passed[edge] = passed;
                left.insert(near.edges[edge].to);
            }
        }
    }

    /// held(m) = ⋂ over calls (c, s) on the walk: told in m's terms, held(c) ∪ held(c, s), where callers of the holder
    /// hold `entry`. By number, the holder last. Callers come first as far as they can, and are met in the order of
    /// content.
    pub fn held(&mut self, near: &Near, walk: &Walk, entry: SetId) -> Vec<Option<SetId>> {
        let mut held = vec![None; near.acts.len() + 1];
        let mut passed = vec![None; near.edges.len()];
        held[near.start()] = Some(entry);
        let mut left = Bits::with_len(near.acts.len());
        self.hold(near, near.start(), entry, walk, &mut passed, &mut left);
        while let Some(at) = pop(&mut left) {
            let all = held[at].iter().chain(passed[near.arriving(at)].iter().flatten()).copied();
            let Some(met) = all.reduce(|a, b| self.telling.meet(a, b)) else { continue };
            if held[at] != Some(met) {
                held[at] = Some(met);
                self.hold(near, at, met, walk, &mut passed, &mut left);
            }
        }
        held
    }

    fn hold(
        &mut self,
        near: &Near,
        from: usize,
        held: SetId,
        walk: &Walk,
        passed: &mut [Option<SetId>],
        left: &mut Bits,
    ) {
        for &edge in near.leaving(from).iter().filter(|&&edge| walk.passes(edge)) {
            let (step, to) = (near.edges[edge].step, near.edges[edge].to);
            let all = self.telling.union(held, step.held);
            let told = Some(self.telling.set_down(step.call, all));
            if passed[edge] != told {
                passed[edge] = told;
                left.insert(to);
            }
        }
    }
}

/// The first of the activations that something new gets to.
fn pop(left: &mut Bits) -> Option<usize> {
    let first = left.iter().next()?;
    left.remove(first);
    Some(first)
}
