//! The solved state between two runs. What can be seen from the rest is not written: the indices of edges, uses,
//! rules and places, and the bodies, which the program has. Knows nothing of the bytes it becomes.

use crate::graph::Graph;
use crate::rule::Rules;
use crate::state::{PointsTo, Shape};
use arena::IdSet;
use ir::Program;
use std::sync::Arc;

/// For each activation that runs there may be so many in all.
const MOST_FRAMES: usize = 2;

impl PointsTo {
    /// Whether a later run can go on from this state: it is at rest, and can be followed at all.
    pub fn can_be_kept(&self, program: &Program) -> bool {
        let is_of_program = |state: &PointsTo| {
            let mut shapes = state.shapes.iter();
            let same_bodies = shapes.all(|(&method, shape)| shape.body.as_ref() == program.lowered(method));
            same_bodies && state.graph.is_at_rest() && state.rules.pending.is_empty()
        };
        let survey = self.survey.as_deref().filter(|_| !self.choice.gave_up());
        survey.is_some_and(is_of_program) && is_of_program(self)
    }

    /// Makes a state that was read whole, given the program it was kept with. False if the two do not fit, and if
    /// most of the state is about what is no longer there.
    pub fn restore(&mut self, program: &Program) -> bool {
        if self.frames.len() > MOST_FRAMES * self.running {
            return false;
        }
        self.graph.restore();
        self.rules.restore();
        let nothing = Arc::new(Shape::default());
        for (act, frame) in self.frames.iter_mut().enumerate() {
            let act = crate::Act(act as u32);
            for &place in &frame.places {
                self.place_ids.insert((act, self.places[place].stmt), place);
            }
            let method = self.acts[act].method;
            if frame.is_stale {
                frame.shape = nothing.clone();
                continue;
            }
            let Some(body) = program.lowered(method) else { return false };
            let shape = self.shapes.entry(method);
            frame.shape = shape.or_insert_with(|| Arc::new(Shape::new(Some(body.clone())))).clone();
        }
        self.survey.as_mut().is_none_or(|survey| survey.restore(program))
    }
}

impl Graph {
    fn restore(&mut self) {
        let free: IdSet<_> = self.free_edges.iter().copied().collect();
        let links = self.flow.links.iter().filter(|&(id, _)| !free.contains(id));
        self.edge_ids.reserve(self.edges.len());
        self.edge_ids.extend(links.map(|(id, link)| ((link.src, link.dst, link.filter), id)));
        let free: IdSet<_> = self.free_uses.iter().copied().collect();
        let uses = self.uses.iter().filter(|&(id, _)| !free.contains(id));
        self.use_ids.reserve(self.uses.len());
        self.use_ids.extend(uses.map(|(id, placed)| ((placed.node, placed.what), id)));
    }
}

impl Rules {
    fn restore(&mut self) {
        let free: IdSet<_> = self.free.iter().copied().collect();
        self.ids.reserve(self.held.len());
        for (id, held) in self.held.iter().filter(|&(id, _)| !free.contains(id)) {
            self.ids.insert(held.what, id);
            if let Some(call) = held.what.call() {
                self.of_call.entry(call).or_default().push(id);
            }
        }
    }
}
