//! Proofs that something in doubt holds for another reason. A proof follows chosen reasons and owners back to the
//! roots and passes nothing in doubt: that may turn out to rest on what is to be proven.
//!
//! It is first looked for with chosen reasons alone wherever there is no doubt: nearly all proofs are of this kind,
//! and there is one way back only. Then with every other reason of what stands in the way. There is a budget; without
//! a proof more goes and comes back, and the result is the same.

use crate::flow::Link;
use crate::graph::{EdgeId, Graph, Node};
use crate::retract::Thing;
use crate::solver::Solver;
use crate::support::{Reason, Supports};
use crate::types::Obj;
use rustc_hash::FxHashMap;

/// Steps of all proofs of one update, and so many more for each fact that it takes away.
const BUDGET: u64 = 1_000_000;
const PER_FACT: u64 = 4;

/// What is known from the proofs of one update.
#[derive(Default)]
pub(crate) struct Proofs {
    marks: FxHashMap<Thing, Mark>,
    pub(crate) steps: u64,
    /// How many proofs were found.
    found: u32,
    /// What the proof at hand is about to prove, each for the sake of the one before.
    path: Vec<Step>,
    /// What could not be proven without something on the path.
    waiting: Vec<Thing>,
}

#[derive(Clone, Copy)]
enum Mark {
    /// Proven: stays so, as nothing its proof rests on was in doubt.
    Good,
    OnPath,
    /// Could not be proven without something on the path. Forgotten as soon as that is proven.
    Waiting,
    /// Could not be proven by chosen reasons when so many proofs had been found. One more may be what it rests on.
    NotByChosen(u32),
    /// Could not be proven when it was tried.
    Bad,
}

/// A thing on the way of a proof.
struct Step {
    thing: Thing,
    /// What is still to be proven for it.
    needs: [Option<Thing>; 2],
    /// Which of its reasons is tried, if not the chosen one.
    other: Option<usize>,
    /// How many things were waiting when it began, and whether a reason for it failed because of the path.
    waiting: usize,
    waits: bool,
}

/// How a proof begins.
enum First {
    /// It was found before.
    Known,
    Step(Step),
    /// There is no way, or none without something on the path.
    None {
        waits: bool,
    },
}

/// Which reasons a proof may use for what is not in doubt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Chosen,
    Any,
}

impl Solver<'_> {
    pub(crate) fn prove(&mut self, thing: Thing) -> bool {
        if self.other_reason(thing, 0).is_none() {
            return false;
        }
        let is_proven = self.search(thing, By::Chosen) || self.search(thing, By::Any);
        self.doubts.proofs.found += u32::from(is_proven);
        is_proven
    }

    /// Depth first. What is in doubt, or rests on what cannot be proven, is proven by another reason on the way, if
    /// it has one, and rests on that from then on.
    fn search(&mut self, start: Thing, by: By) -> bool {
        let mut next = Some(start);
        loop {
            if let Some(thing) = next.take() {
                match self.first_step(thing, by) {
                    First::Known => {}
                    First::Step(step) => {
                        self.doubts.proofs.marks.insert(thing, Mark::OnPath);
                        self.doubts.proofs.path.push(step);
                    }
                    First::None { waits } => {
                        if !self.back_up(by, waits) {
                            return false;
                        }
                    }
                }
            }
            let proofs = &mut self.doubts.proofs;
            let Some(step) = proofs.path.last_mut() else { return true };
            next = step.needs[0].take().or_else(|| step.needs[1].take());
            if next.is_none() {
                let Step { thing, other, waiting, .. } = *step;
                proofs.path.pop();
                proofs.marks.insert(thing, Mark::Good);
                for thing in proofs.waiting.drain(waiting..) {
                    proofs.marks.remove(&thing);
                }
                if let Some(other) = other {
                    self.rest_on(thing, other);
                }
            }
        }
    }

    /// How to begin to prove a thing.
    fn first_step(&mut self, thing: Thing, by: By) -> First {
        let proofs = &mut self.doubts.proofs;
        proofs.steps += 1;
        match proofs.marks.get(&thing) {
            Some(Mark::Good) => return First::Known,
            Some(Mark::OnPath | Mark::Waiting) => return First::None { waits: true },
            Some(Mark::Bad) => return First::None { waits: false },
            Some(&Mark::NotByChosen(found)) if by == By::Chosen && found == proofs.found => {
                return First::None { waits: false };
            }
            Some(Mark::NotByChosen(_)) | None => {}
        }
        let waiting = proofs.waiting.len();
        let begin = |needs, other| Step { thing, needs, other, waiting, waits: false };
        let step = match self.is_doubtful(thing) {
            _ if self.is_over_budget() || !self.is_alive(thing) => None,
            false => self.needed(thing).map(|needs| begin(needs, None)),
            true => self.other_reason(thing, 0).map(|(at, needs)| begin(needs, Some(at))),
        };
        step.map_or(First::None { waits: false }, First::Step)
    }

    fn is_over_budget(&self) -> bool {
        self.doubts.proofs.steps > BUDGET + PER_FACT * self.doubts.deleted
    }

    /// What was to be proven cannot be: the nearest thing on the way that has another reason tries that.
    fn back_up(&mut self, by: By, mut waits: bool) -> bool {
        while let Some(step) = self.doubts.proofs.path.last_mut() {
            step.waits |= waits;
            let Step { thing, other, .. } = *step;
            if (by == By::Any || other.is_some())
                && !self.is_over_budget()
                && let Some((at, needs)) = self.other_reason(thing, other.map_or(0, |at| at + 1))
                && let Some(step) = self.doubts.proofs.path.last_mut()
            {
                (step.other, step.needs) = (Some(at), needs);
                return true;
            }
            let proofs = &mut self.doubts.proofs;
            let failed = match by {
                By::Chosen => Mark::NotByChosen(proofs.found),
                By::Any => Mark::Bad,
            };
            waits = proofs.path.pop().is_some_and(|step| step.waits);
            if proofs.path.is_empty() {
                proofs.marks.extend(proofs.waiting.drain(..).map(|thing| (thing, failed)));
            } else if waits {
                proofs.waiting.push(thing);
            }
            let is_waiting = waits && !proofs.path.is_empty();
            proofs.marks.insert(thing, if is_waiting { Mark::Waiting } else { failed });
        }
        false
    }

    /// The next reason for a thing from a place in its list on: edges that deliver a fact first, then what states it.
    fn other_reason(&mut self, thing: Thing, from: usize) -> Option<(usize, [Option<Thing>; 2])> {
        let mut edges = 0;
        if let Thing::Fact(node, obj) = thing {
            edges = self.state.graph.flow.nodes[node].into.len();
            for at in from..edges {
                let edge = self.state.graph.flow.nodes[node].into[at];
                let Link { src, filter, .. } = self.state.graph.flow.links[edge];
                if self.state.graph.edges[edge].alive && self.state.graph.pts(src).contains(obj) {
                    let program = &mut *self.program;
                    let is_subtype = &mut |sub, sup| program.is_subtype(sub, sup);
                    if self.state.graph.flow.passes(filter, obj, is_subtype) {
                        return Some((at, delivery(edge, src, obj)));
                    }
                }
            }
        }
        let at = from.max(edges);
        let reason = self.supports(thing)?.get(at - edges)?;
        Some((at, premises(reason, &self.state.graph)))
    }

    /// The thing has this reason now, and is no longer in doubt.
    fn rest_on(&mut self, thing: Thing, at: usize) {
        let mut edges = 0;
        if let Thing::Fact(node, obj) = thing {
            if let Some(owner) = self.owner(node, obj) {
                self.state.graph.flow.own_mut(owner).remove(obj);
            }
            let into = &self.state.graph.flow.nodes[node].into;
            edges = into.len();
            if let Some(&edge) = into.get(at) {
                self.state.graph.flow.own_mut(edge).insert(obj);
            }
            if let Some(facts) = self.doubts.facts.get_mut(&node) {
                facts.remove(obj);
            }
        }
        self.doubts.things.remove(&thing);
        if at >= edges
            && let Some(supports) = self.supports_mut(thing)
        {
            supports.choose(at - edges);
        }
    }

    /// What the chosen reason of a thing rests on; `None` if there is none.
    fn needed(&self, thing: Thing) -> Option<[Option<Thing>; 2]> {
        let graph = &self.state.graph;
        if let Thing::Fact(node, obj) = thing
            && let Some(edge) = self.owner(node, obj)
        {
            return Some(delivery(edge, graph.flow.links[edge].src, obj));
        }
        Some(premises(self.supports(thing)?.chosen()?, graph))
    }

    fn supports_mut(&mut self, thing: Thing) -> Option<&mut Supports> {
        match thing {
            Thing::Fact(node, obj) => self.state.graph.stated.get_mut(&(node, obj)),
            Thing::Edge(edge) => Some(&mut self.state.graph.edges[edge].supports),
            Thing::Use(use_) => Some(&mut self.state.graph.uses[use_].supports),
            Thing::Rule(rule) => Some(&mut self.state.rules.held[rule].supports),
        }
    }
}

/// An object arrives along an edge. That its source has it is the first to be asked: it is what fails more often.
fn delivery(edge: EdgeId, src: Node, obj: Obj) -> [Option<Thing>; 2] {
    [Some(Thing::Fact(src, obj)), Some(Thing::Edge(edge))]
}

fn premises(reason: Reason, graph: &Graph) -> [Option<Thing>; 2] {
    match reason {
        Reason::Root => [None, None],
        Reason::Rule(rule) => [Some(Thing::Rule(rule)), None],
        Reason::Fired(use_, obj) => [Some(Thing::Use(use_)), Some(Thing::Fact(graph.uses[use_].node, obj))],
    }
}
