//! Cycles of more than two locks: ways from lock to lock first, and then, for each of these circles, the nestings that
//! make the surest and shortest cycle. Knows the graph of locks; what makes a cycle unsure is told by its doubts.

use super::cycles::{Few, Search, TRIES};
use super::doubt::{Doubt, Doubts};
use super::graph::{Choice, Graph, Number};
use findings::Confidence;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Steps of the search per start lock, so that a tangle of merged objects cannot hang the analysis.
const STEPS: usize = 20_000;

/// How good a cycle is: how sure, how many doubts, how many calls. Less is better.
type Rank = (Confidence, usize, usize);

/// The best cycles so far, by the places where their locks are made.
#[derive(Default)]
pub(super) struct Known(FxHashMap<Few<u32>, Rank>);

impl Known {
    pub(super) fn add(&mut self, sites: Few<u32>, rank: Rank) {
        let best = self.0.entry(sites).or_insert(rank);
        *best = rank.min(*best);
    }

    pub(super) fn is_surely_better(&self, sites: &[u32], rank: Rank) -> bool {
        self.0.get(sites).is_some_and(|best| *best < rank)
    }

    /// Is there nothing to win by a cycle that is at best like this? One that is unlikely is as good as another.
    fn is_better(&self, sites: &[u32], rank: Rank) -> bool {
        let is_better = |best: &Rank| *best < rank || best.0 == Confidence::Low && rank.0 == Confidence::Low;
        self.0.get(sites).is_some_and(is_better)
    }

    /// As it is now.
    pub(super) fn sites(&self) -> Shorter {
        let mut shorter = Shorter::default();
        for (sites, &(confidence, ..)) in &self.0 {
            for &site in sites {
                shorter.0.entry(site).or_default().push((sites.clone(), confidence != Confidence::Low));
            }
        }
        shorter
    }
}

/// Locks of shorter cycles, and whether one is likely, by each of the places where they are made.
#[derive(Default)]
pub(super) struct Shorter(FxHashMap<u32, Vec<(Few<u32>, bool)>>);

impl Shorter {
    /// Are all locks of such a cycle through `site` among those made at `sites`, which are sorted?
    fn is_inside(&self, sites: &[u32], site: u32, must_be_likely: bool) -> bool {
        let is_inside = |(inner, is_likely): &(Few<u32>, bool)| {
            (*is_likely || !must_be_likely) && inner.iter().all(|site| sites.binary_search(site).is_ok())
        };
        self.0.get(&site).is_some_and(|shorter| shorter.iter().any(is_inside))
    }
}

/// A search for cycles of one length, of which `start` is the smallest lock.
pub(super) struct Long<'a, 's> {
    search: &'a Search<'s>,
    shorter: &'a Shorter,
    start: Number,
    length: usize,
    /// By lock: edges from it to the start.
    distances: Vec<Option<usize>>,
    steps: usize,
    /// How often the circle at hand was tried in vain.
    tries: u32,
}

/// A circle of locks with all that may be chosen for it.
struct Circle<'a> {
    sites: Few<u32>,
    /// There is a shorter cycle inside: this one is told only if it is likely.
    is_around: bool,
    choices: Few<&'a [Choice]>,
    /// What choices from this step on cannot avoid.
    least: SmallVec<[(Doubts, usize); 8]>,
}

impl Circle<'_> {
    /// What may be chosen for a step.
    fn allowed(&self, step: usize) -> impl Iterator<Item = &Choice> {
        self.choices[step].iter().filter(|choice| !self.is_around || choice.is_likely())
    }
}

/// Makes a cycle of the nestings, if it can be one; only a likely one if so told.
type Add<'f> = dyn FnMut(&[Choice], bool, &mut Known) -> Option<Confidence> + 'f;

impl<'a, 's> Long<'a, 's> {
    pub(super) fn new(search: &'a Search<'s>, shorter: &'a Shorter, start: Number, length: usize) -> Self {
        let distances = distances(search.graph, start, length);
        Long { search, shorter, start, length, distances, steps: 0, tries: 0 }
    }

    pub(super) fn run(mut self, known: &mut Known, add: &mut Add<'_>) {
        self.extend(&mut vec![self.start], false, known, add);
    }

    /// Goes on from the last of these locks, to all that lead back to the start. Around a shorter cycle only what may
    /// be likely is told.
    fn extend(&mut self, locks: &mut Vec<Number>, is_around: bool, known: &mut Known, add: &mut Add<'_>) {
        let graph = self.search.graph;
        let at = locks[locks.len() - 1];
        let sites = graph.sites(locks.iter().copied());
        if self.shorter.is_inside(&sites, graph.sites[at as usize], true) {
            return;
        }
        let is_around = is_around || self.shorter.is_inside(&sites, graph.sites[at as usize], false);
        let left = self.length + 1 - locks.len();
        for &(to, is_likely) in &graph.onto[at as usize] {
            self.steps += 1;
            if self.steps > STEPS {
                return;
            }
            let leads_back = self.distances[to as usize].is_some_and(|distance| distance < left);
            if !leads_back || (to == self.start) != (left == 1) || is_around && !is_likely {
                continue;
            }
            if left == 1 {
                let circle = self.circle(locks, &sites, is_around);
                self.tries = 0;
                self.choose(&circle, &mut Vec::new(), (Doubts::default(), 0), known, add);
            } else if !locks.contains(&to) {
                locks.push(to);
                self.extend(locks, is_around, known, add);
                locks.pop();
            }
        }
    }

    /// What makes a cycle around a shorter one unlikely need not be chosen.
    fn circle(&self, locks: &[Number], sites: &[u32], is_around: bool) -> Circle<'a> {
        let graph = self.search.graph;
        let mut least = Doubts::default();
        least.add(Doubt::ManyLocks, !locks.iter().all(|&lock| graph.are_one[lock as usize]));
        let steps = locks.iter().copied().zip(locks.iter().copied().cycle().skip(1));
        let choices = steps.map(|(from, to)| graph.edges[&(from, to)].as_slice());
        let mut circle = Circle {
            sites: sites.into(),
            is_around,
            choices: choices.collect(),
            least: [(least, 0)].as_slice().into(),
        };
        for at in (0..circle.choices.len()).rev() {
            let (doubts, calls) = circle.least[0];
            let common = circle.allowed(at).map(|choice| choice.doubts).reduce(Doubts::common);
            let shortest = circle.allowed(at).map(|choice| choice.calls).min();
            circle.least.insert(0, (doubts.with(common.unwrap_or_default()), calls + shortest.unwrap_or(0)));
        }
        circle
    }

    /// Nestings for the steps, one after the other, as long as a better cycle may come of it.
    fn choose(
        &mut self,
        circle: &Circle<'_>,
        path: &mut Vec<Choice>,
        (doubts, calls): (Doubts, usize),
        known: &mut Known,
        add: &mut Add<'_>,
    ) {
        let search = self.search;
        if path.len() == circle.choices.len() {
            if search.blocks(&path[0], &path[path.len() - 1]) {
                let confidence = add(path, circle.is_around, known).unwrap_or(Confidence::Low);
                self.tries = if confidence == Confidence::Low { self.tries + 1 } else { 0 };
            }
            return;
        }
        let (rest, fewest) = circle.least[path.len() + 1];
        for choice in circle.allowed(path.len()) {
            self.steps += 1;
            if self.steps > STEPS || self.tries == TRIES {
                return;
            }
            let (doubts, calls) = (doubts.with(choice.doubts), calls + choice.calls);
            let (confidence, doubtful) = doubts.with(rest).rank();
            if known.is_better(&circle.sites, (confidence, doubtful, calls + fewest)) {
                continue;
            }
            let fits = path.iter().all(|earlier| search.compatible(earlier, choice))
                && path.last().is_none_or(|previous| search.blocks(choice, previous));
            if fits {
                path.push(*choice);
                self.choose(circle, path, (doubts, calls), known, add);
                path.pop();
            }
        }
    }
}

/// Edges from each lock that lead back to the start, over locks that are not smaller.
fn distances(graph: &Graph, start: Number, most: usize) -> Vec<Option<usize>> {
    let mut distances = vec![None; graph.nodes.len()];
    distances[start as usize] = Some(0);
    let mut last = vec![start];
    for distance in 1..most {
        let mut next = Vec::new();
        for to in last {
            for &from in graph.into[to as usize].iter().filter(|&&from| from > start) {
                if distances[from as usize].is_none() {
                    distances[from as usize] = Some(distance);
                    next.push(from);
                }
            }
        }
        last = next;
    }
    distances
}
