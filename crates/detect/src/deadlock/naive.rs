//! The cycles that a search finds which leaves nothing out. In builds with assertions, of which the tests are, every
//! search in a small graph is compared with it. What a cycle is, it asks the same code.

use super::Group;
use super::chosen::Chosen;
use super::cycles::{Few, LONGEST, Search};
use super::graph::{Choice, Graph, Number};
use crate::Stages;
use crate::describe::Describe;
use findings::Confidence;
use std::collections::BTreeMap;

/// Larger graphs take too long.
const MOST_CYCLES: usize = 2_000;
const MOST_STEPS: usize = 1_000_000;

/// By the places where the locks are made: how sure the surest cycle is.
type Best = BTreeMap<Few<u32>, Confidence>;

/// These are all that there are, as sure as they can be. To be called where nobody notes what is read.
pub(super) fn compare(
    stages: &Stages<'_>,
    describe: &Describe<'_>,
    graph: &Graph,
    chosen: &Chosen,
    told: &[Group],
) {
    let search = Search::new(stages, describe, graph, chosen);
    let mut all = All { search, best: Best::new(), cycles: 0, steps: 0 };
    for start in graph.numbers() {
        all.go_on(&mut vec![start], &mut Vec::new());
    }
    if all.is_too_much() {
        return;
    }
    let best = all.best;
    let is_told_already = |(sites, confidence): (&Few<u32>, &Confidence)| {
        let is_inside = |other: &Few<u32>| other.iter().all(|site| sites.binary_search(site).is_ok());
        best.iter().any(|(other, sure)| other.len() < sites.len() && sure <= confidence && is_inside(other))
    };
    let expected: Best = best
        .iter()
        .filter(|one| !is_told_already(*one))
        .map(|(sites, &confidence)| (sites.clone(), confidence))
        .collect();
    let told: Best = told.iter().map(|group| (group.sites.clone(), group.best.doubts.confidence())).collect();
    assert_eq!(told, expected, "deadlocks by the places of their locks");
}

struct All<'a> {
    search: Search<'a>,
    best: Best,
    cycles: usize,
    steps: usize,
}

impl All<'_> {
    fn is_too_much(&self) -> bool {
        self.cycles >= MOST_CYCLES || self.steps >= MOST_STEPS
    }

    /// From the last of the locks, of which the first is the smallest, by all nestings to all locks.
    fn go_on(&mut self, locks: &mut Vec<Number>, path: &mut Vec<Choice>) {
        let (start, at) = (locks[0], locks[locks.len() - 1]);
        let onto = self.search.graph.edges.range((at, start)..=(at, Number::MAX));
        for (&(_, to), choices) in onto {
            // Two threads may lock two objects that are one lock to the analysis.
            let is_itself = to == at && !self.search.graph.are_one[at as usize];
            for &choice in choices {
                self.steps += 1;
                if self.is_too_much() {
                    return;
                }
                path.push(choice);
                if to == start && path.len() > 1 {
                    self.add(path);
                } else if path.len() < LONGEST && (!locks.contains(&to) || is_itself && path.len() == 1) {
                    locks.push(to);
                    self.go_on(locks, path);
                    locks.pop();
                }
                path.pop();
            }
        }
    }

    fn add(&mut self, path: &[Choice]) {
        self.cycles += 1;
        let next = |at: usize| &path[(at + 1) % path.len()];
        let is_cycle = (0..path.len()).all(|at| {
            let fits = |other: &Choice| self.search.compatible(&path[at], other);
            self.search.blocks(next(at), &path[at]) && path[at + 1..].iter().all(fits)
        });
        if is_cycle && let Some(cycle) = self.search.cycle(path) {
            let sites = self.search.graph.sites(path.iter().map(|choice| choice.from));
            let confidence = cycle.doubts.confidence();
            let best = self.best.entry(sites).or_insert(confidence);
            *best = confidence.min(*best);
        }
    }
}
