//! The calls that lead from a holder to what it must not want, as a small graph of their own. Knows who calls whom;
//! not what is held or passed.

use super::steps::Step;
use crate::content::Content;
use pointsto::Act;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// More activations than this are not visited: whoever gets that far gets everywhere.
const LARGE: usize = 400;

pub struct Near {
    holder: Act,
    /// Callers before what they call, as far as there is such an order.
    pub acts: Vec<Act>,
    /// By callee, and then in the order of content.
    pub edges: Vec<Edge>,
    /// By callee, where its edges begin.
    into: Vec<usize>,
    /// By caller, the holder last.
    out: Vec<Vec<usize>>,
}

/// A call, between numbers of activations.
#[derive(Debug, Clone, Copy)]
pub struct Edge {
    pub from: usize,
    pub step: Step,
    pub to: usize,
}

impl Near {
    /// What few enough calls lead to: all of it, or what is nearer than the rest.
    pub fn new(
        content: &Content<'_>,
        holder: Act,
        first: Vec<Step>,
        steps: impl Fn(Act) -> Arc<[Step]>,
    ) -> Near {
        let mut found: FxHashMap<Act, Arc<[Step]>> = FxHashMap::default();
        let mut last: Vec<Act> = first.iter().map(|step| step.call.callee).collect();
        loop {
            last.sort_unstable();
            last.dedup();
            if last.is_empty() || found.len() + last.len() > LARGE {
                break;
            }
            found.extend(last.iter().map(|&act| (act, steps(act))));
            let callees = last.iter().flat_map(|act| found[act].iter()).map(|step| step.call.callee);
            last = callees.filter(|callee| !found.contains_key(callee)).collect();
        }
        let acts = in_order(&first, &found);
        let numbers: FxHashMap<Act, usize> = acts.iter().copied().zip(0..).collect();
        let mut edges: Vec<Edge> = Vec::new();
        let mut add = |from: usize, steps: &[Step]| {
            let near = steps.iter().filter_map(|&step| Some((step, *numbers.get(&step.call.callee)?)));
            edges.extend(near.map(|(step, to)| Edge { from, step, to }));
        };
        acts.iter().enumerate().for_each(|(at, act)| add(at, &found[act]));
        add(acts.len(), &first);
        edges.sort_by(|a, b| {
            let by_caller = || content.acts(a.step.call.caller, b.step.call.caller);
            a.to.cmp(&b.to).then_with(by_caller).then(a.from.cmp(&b.from)).then(a.step.at.cmp(&b.step.at))
        });
        let into = (0..=acts.len()).map(|to| edges.partition_point(|edge| edge.to < to)).collect();
        let mut out = vec![Vec::new(); acts.len() + 1];
        edges.iter().enumerate().for_each(|(at, edge)| out[edge.from].push(at));
        Near { holder, acts, edges, into, out }
    }

    /// The number of the holder, as the one who has the lock.
    pub fn start(&self) -> usize {
        self.acts.len()
    }

    pub fn act(&self, at: usize) -> Act {
        self.acts.get(at).copied().unwrap_or(self.holder)
    }

    pub fn arriving(&self, at: usize) -> Range<usize> {
        self.into[at]..self.into[at + 1]
    }

    pub fn leaving(&self, at: usize) -> &[usize] {
        &self.out[at]
    }
}

/// Depth first, and what is left first comes last.
fn in_order(first: &[Step], found: &FxHashMap<Act, Arc<[Step]>>) -> Vec<Act> {
    let mut order: Vec<Act> = Vec::with_capacity(found.len());
    let mut seen: FxHashMap<Act, ()> = FxHashMap::default();
    let mut stack: Vec<(Option<Act>, &[Step])> = vec![(None, first)];
    while let Some((act, left)) = stack.last_mut() {
        let Some((step, rest)) = left.split_first() else {
            order.extend(*act);
            stack.pop();
            continue;
        };
        *left = rest;
        let callee = step.call.callee;
        if let Some(steps) = found.get(&callee)
            && seen.insert(callee, ()).is_none()
        {
            stack.push((Some(callee), steps));
        }
    }
    order.reverse();
    order
}
