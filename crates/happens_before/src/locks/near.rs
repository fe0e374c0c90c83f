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
        let mut found: Vec<(Act, Arc<[Step]>)> = Vec::new();
        let mut places: FxHashMap<Act, usize> = FxHashMap::default();
        let mut last: Vec<Act> = first.iter().map(|step| step.call.callee).collect();
        loop {
            last.sort_unstable();
            last.dedup();
            let known = found.len();
            if last.is_empty() || known + last.len() > LARGE {
                break;
            }
            for &act in &last {
                places.insert(act, found.len());
                found.push((act, steps(act)));
            }
            let callees = found[known..].iter().flat_map(|(_, steps)| steps.iter());
            let callees = callees.map(|step| step.call.callee);
            last = callees.filter(|callee| !places.contains_key(callee)).collect();
        }
        let near = |steps: &[Step]| -> Vec<(Step, usize)> {
            steps.iter().filter_map(|&step| Some((step, *places.get(&step.call.callee)?))).collect()
        };
        let mut calls: Vec<Vec<(Step, usize)>> = found.iter().map(|(_, steps)| near(steps)).collect();
        calls.push(near(&first));
        let order = in_order(&calls);
        let mut numbers = vec![0; found.len()];
        order.iter().enumerate().for_each(|(number, &place)| numbers[place] = number);
        let mut edges: Vec<Edge> = Vec::new();
        for (from, &place) in order.iter().chain([&found.len()]).enumerate() {
            edges.extend(calls[place].iter().map(|&(step, to)| Edge { from, step, to: numbers[to] }));
        }
        edges.sort_by_key(|edge| edge.to);
        for same in edges.chunk_by_mut(|a, b| a.to == b.to).filter(|same| same.len() > 1) {
            // Calls by the same one stay in their order.
            same.sort_by(|a, b| content.acts(a.step.call.caller, b.step.call.caller));
        }
        let acts: Vec<Act> = order.iter().map(|&place| found[place].0).collect();
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

/// Depth first from the last one, and what is left first comes last.
fn in_order(calls: &[Vec<(Step, usize)>]) -> Vec<usize> {
    let start = calls.len() - 1;
    let mut order: Vec<usize> = Vec::with_capacity(start);
    let mut seen = vec![false; start];
    let mut stack: Vec<(usize, &[(Step, usize)])> = vec![(start, &calls[start])];
    while let Some((place, left)) = stack.last_mut() {
        let Some((&(_, callee), rest)) = left.split_first() else {
            order.push(*place);
            stack.pop();
            continue;
        };
        *left = rest;
        if !std::mem::replace(&mut seen[callee], true) {
            stack.push((callee, &calls[callee]));
        }
    }
    order.pop();
    order.reverse();
    order
}
