//! A program becoming another: first what would differ, then the change itself, so that the stages after it can take
//! back under the old program what they conclude again under the new one. Knows classes and bodies; what an edit means
//! to an analysis is not decided here.

use crate::body::Body;
use crate::delta::{BodyChange, ProgramDelta};
use crate::program::{MethodId, Program};
use std::sync::Arc;

impl Program {
    /// The difference that another body for one method makes. Nothing is changed yet.
    pub fn diff_body(&mut self, method: MethodId, body: Body) -> ProgramDelta {
        let old = self.body(method);
        let mut delta = ProgramDelta::default();
        delta.settle(method, old, Some(Arc::new(body)));
        delta
    }

    /// Makes the program what the delta says. Nothing may have been loaded or lowered since the delta was made.
    pub fn commit(&mut self, delta: &ProgramDelta) {
        for (method, body) in &delta.settled {
            self.bodies.insert(*method, body.clone());
        }
    }
}

impl ProgramDelta {
    fn settle(&mut self, method: MethodId, old: Option<Arc<Body>>, new: Option<Arc<Body>>) {
        let settled = match (old, new) {
            (None, None) => None,
            (Some(old), Some(new)) if *old == *new => Some(old),
            (Some(old), Some(new)) if old.means_the_same(&new) => {
                self.moved.push((method, new.clone()));
                Some(new)
            }
            (old, new) => {
                self.bodies.push(BodyChange::new(method, old, new.clone()));
                new
            }
        };
        self.settled.push((method, settled));
    }
}
