//! The best way from the holder of a lock to each activation of a walk. Knows the calls of the walk; nothing of locks.

use super::near::Near;
use super::telling::Call;
use super::walk::Walk;
use crate::world::World;
use ir::MethodId;
use std::collections::BTreeSet;

/// What a call that code outside may make, or not, adds to the length of a way.
const CALLED_BACK: usize = 1 << 20;
/// The same for each other one that a call may lead to.
const OTHER: usize = 2;

/// The calls of a way, outermost first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route {
    pub calls: Vec<Call>,
    /// Code outside has to call back.
    pub called_back: bool,
    /// Most methods that one of the calls may lead to.
    pub choices: usize,
}

pub struct Routes<'a> {
    near: &'a Near,
    /// By number of the activation: how long the way is, and its last call.
    best: Vec<Option<(usize, usize)>>,
    /// By number of the edge.
    choices: Vec<usize>,
}

impl<'a> Routes<'a> {
    /// Of ways that are equally long the first by content is taken; all are known before they are followed.
    pub fn new(world: &World<'_>, near: &'a Near, walk: &Walk) -> Routes<'a> {
        let mut routes =
            Routes { near, best: vec![None; near.acts.len()], choices: vec![0; near.edges.len()] };
        let mut left = BTreeSet::from([(0, near.start())]);
        while let Some((length, from)) = left.pop_first() {
            routes.count_choices(world, walk, from);
            for &edge in near.leaving(from).iter().filter(|&&edge| walk.passes(edge)) {
                let (step, to) = (near.edges[edge].step, near.edges[edge].to);
                let others = routes.choices[edge] - 1;
                let length = length + 1 + others * OTHER + usize::from(step.called_back) * CALLED_BACK;
                // Edges to the same callee are in the order of content.
                if routes.best[to].is_none_or(|known| (length, edge) < known) {
                    if let Some((known, _)) = routes.best[to] {
                        left.remove(&(known, to));
                    }
                    left.insert((length, to));
                    routes.best[to] = Some((length, edge));
                }
            }
        }
        routes
    }

    /// How many methods each call of an activation may lead to, of those that matter.
    fn count_choices(&mut self, world: &World<'_>, walk: &Walk, from: usize) {
        let near = self.near;
        let passing = near.leaving(from).iter().filter(|&&edge| walk.passes(edge));
        let led = passing.map(|&edge| {
            let step = near.edges[edge].step;
            (step.at, world.pointsto.method(step.call.callee), edge)
        });
        let mut led: Vec<(u32, MethodId, usize)> = led.collect();
        led.sort_unstable();
        for same in led.chunk_by(|a, b| a.0 == b.0) {
            let methods = same.chunk_by(|a, b| a.1 == b.1).count();
            same.iter().for_each(|&(.., edge)| self.choices[edge] = methods);
        }
    }

    pub fn to(&self, at: usize) -> Route {
        let near = self.near;
        let called_back = self.best[at].is_some_and(|(length, _)| length >= CALLED_BACK);
        let mut route = Route { called_back, ..Route::default() };
        let mut last = self.best[at];
        while let Some((_, edge)) = last {
            let from = near.edges[edge].from;
            route.calls.push(near.edges[edge].step.call);
            route.choices = route.choices.max(self.choices[edge]);
            last = self.best.get(from).copied().flatten();
        }
        route.calls.reverse();
        route
    }
}
