//! How many entries the tables of points-to have, those included that are gone and wait to be used again. Knows
//! nothing of what they mean.

use crate::state::PointsTo;
use track::Sizes;

impl PointsTo {
    /// The survey's too.
    pub fn sizes(&self, sizes: &mut Sizes) {
        self.count("", sizes);
        if let Some(survey) = &self.survey {
            survey.count("survey: ", sizes);
        }
    }

    fn count(&self, whose: &str, sizes: &mut Sizes) {
        let mut add = |name: &str, entries: usize| sizes.add(format!("{whose}{name}"), entries);
        add("nodes", self.graph.flow.nodes.len());
        add("edges", self.graph.edges.len());
        add("uses", self.graph.uses.len());
        add("stated facts", self.graph.stated.len());
        add("rules", self.rules.held.len());
        add("contexts", self.contexts.len());
        add("objects", self.objects.len());
        let named = self.named_after.values().map(|named| named.objects.len() + named.contexts.len());
        add("named after statements", named.sum());
        add("lambdas", self.lambdas.len() + self.handles.len() + self.empty_arrays.len());
        add("exceptions", self.exceptions.len());
        add("activations", self.acts.len());
        add("slots", self.slots.len());
        add("places", self.places.len());
        add("calls", self.calls.len());
        add("lambda calls", self.lambda_calls.len());
        add("leaves", self.leaves.len() + self.gaps.len());
        add("shapes", self.shapes.len());
        add("removed statements", self.removed.len());
    }
}
