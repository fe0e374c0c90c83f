//! Classes that solving had to ask the hierarchy about, seen from the solution alone: whatever the order of the work,
//! and whatever was there before an edit. There may have been more.

use crate::graph::Use;
use crate::rule::Rule;
use crate::state::{PointsTo, Target};
use crate::types::Context;
use ir::{ClassId, Program};

impl PointsTo {
    pub fn asked(&self, program: &Program, each: &mut dyn FnMut(ClassId)) {
        self.objects().for_each(|obj| each(self.objects[obj].class));
        // What comes to a filter is compared with it.
        let links = self.graph.flow.links.iter().filter(|(_, link)| link.alive);
        for (_, link) in links.filter(|(_, link)| !self.graph.pts(link.src).is_empty()) {
            link.filter.into_iter().for_each(&mut *each);
        }
        // A call on a receiver is resolved.
        for (_, placed) in self.graph.uses.iter().filter(|(_, placed)| placed.alive) {
            if let Use::Receive(call) = placed.what
                && let Target::Virtual(target) = self.calls[call].target
                && self.graph.pts(placed.node).iter().any(|obj| !self.lambdas.contains_key(&obj))
            {
                each(target.class);
            }
        }
        for (_, held) in self.rules.iter() {
            match held.what {
                Rule::Initialised(class)
                | Rule::CalledBack(_, _, class)
                | Rule::Constructed(_, class, ..) => {
                    each(class);
                }
                _ => {}
            }
        }
        // Whether a static method takes objects that are told apart depends on the first that it takes at least.
        for act in self.acts() {
            if matches!(self.contexts[self.acts[act].ctx], Context::Helper(..)) {
                let method = program.method(self.acts[act].method);
                method.params.iter().flatten().chain(&method.result).take(1).copied().for_each(&mut *each);
            }
        }
    }
}
