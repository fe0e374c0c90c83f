//! How many facts the application code holds that is run from an activation, kept up to date. For each place to
//! begin there is a tree over the calls; as long as every activation in it is called by its parent, nothing has to
//! be walked again.

use crate::state::PointsTo;
use crate::told::PointsToDelta;
use crate::types::*;
use arena::{IdSet, IndexVec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Sizes {
    /// Facts of each activation of application code.
    weights: IndexVec<Act, u64>,
    trees: BTreeMap<Act, Tree>,
}

#[derive(Serialize, Deserialize)]
struct Tree {
    root: Act,
    /// Of every activation that is run from the root; the root is its own.
    parents: IndexVec<Act, Option<Act>>,
    facts: u64,
    /// How many these are, library code included.
    acts: u64,
}

impl Sizes {
    /// Facts of the application code that is run from here.
    pub(crate) fn of(&mut self, state: &PointsTo, root: Act) -> u64 {
        self.tree(state, root).facts
    }

    /// Activations that are run from here.
    pub(crate) fn acts(&mut self, state: &PointsTo, root: Act) -> u64 {
        self.tree(state, root).acts
    }

    /// Is the activation run from there?
    pub(crate) fn runs(&mut self, state: &PointsTo, root: Act, act: Act) -> bool {
        self.tree(state, root).has(act)
    }

    fn tree(&mut self, state: &PointsTo, root: Act) -> &Tree {
        if self.weights.is_empty() {
            self.weights = (0..state.act_bound()).map(|at| weight(state, Act(at as u32))).collect();
        }
        let weights = &self.weights;
        self.trees.entry(root).or_insert_with(|| Tree::new(state, weights, root))
    }

    pub(crate) fn keep(&mut self, roots: &IdSet<Act>) {
        self.trees.retain(|&root, _| roots.contains(root));
    }

    pub(crate) fn update(&mut self, state: &PointsTo, delta: &PointsToDelta) {
        if self.weights.is_empty() {
            return;
        }
        let acts = delta.acts.added.iter().chain(&delta.acts.removed);
        let reweighed: IdSet<Act> = delta.values.iter().chain(acts).copied().collect();
        for act in reweighed.iter() {
            let new = weight(state, act);
            let old = std::mem::replace(self.weights.at(act), new);
            for tree in self.trees.values_mut().filter(|tree| tree.has(act)) {
                tree.facts = tree.facts + new - old;
            }
        }
        for tree in self.trees.values_mut() {
            tree.update(state, &self.weights, delta);
        }
    }
}

fn weight(state: &PointsTo, act: Act) -> u64 {
    if !state.runs(act) || !state.is_application(state.code_ctx(state.acts[act].ctx)) {
        return 0;
    }
    let frame = &state.frames[act];
    frame.vars().chain([frame.ret]).map(|node| state.graph.pts(node).len() as u64).sum()
}

impl Tree {
    fn new(state: &PointsTo, weights: &IndexVec<Act, u64>, root: Act) -> Tree {
        let mut tree = Tree { root, parents: IndexVec::new(), facts: 0, acts: 0 };
        tree.grow(state, weights, root, root);
        tree
    }

    fn has(&self, act: Act) -> bool {
        self.parent(act).is_some()
    }

    fn parent(&self, act: Act) -> Option<Act> {
        self.parents.get(act).copied().flatten()
    }

    /// Takes in an activation and all that is run from it.
    fn grow(&mut self, state: &PointsTo, weights: &IndexVec<Act, u64>, act: Act, parent: Act) {
        let mut todo = std::collections::VecDeque::from([(act, parent)]);
        while let Some((act, parent)) = todo.pop_front() {
            if self.has(act) {
                continue;
            }
            *self.parents.at(act) = Some(parent);
            self.facts += weights.get(act).copied().unwrap_or_default();
            self.acts += 1;
            let new = state.calls(act).filter(|&(_, callee)| !self.has(callee));
            todo.extend(new.map(|(_, callee)| (callee, act)));
        }
    }

    fn update(&mut self, state: &PointsTo, weights: &IndexVec<Act, u64>, delta: &PointsToDelta) {
        let is_called = |act: Act, by: Act| state.callers(act).iter().any(|&(caller, _)| caller == by);
        let is_cut = |tree: &Tree, act: Act| {
            act != tree.root && tree.parent(act).is_some_and(|parent| !is_called(act, parent))
        };
        let mut cut: Vec<Act> = delta.callers.iter().copied().filter(|&act| is_cut(self, act)).collect();
        while let Some(at) = cut.iter().position(|&act| self.mend(state, act, &cut)) {
            cut.swap_remove(at);
        }
        if !cut.is_empty() {
            *self = Tree::new(state, weights, self.root);
            return;
        }
        for &act in delta.callees.iter().filter(|&&act| self.has(act)).collect::<Vec<_>>() {
            for (_, callee) in state.calls(act) {
                if !self.has(callee) {
                    self.grow(state, weights, callee, act);
                }
            }
        }
    }

    /// Finds another parent from which the way to the root passes nothing that is cut.
    fn mend(&mut self, state: &PointsTo, act: Act, cut: &[Act]) -> bool {
        let other = state.callers(act).iter().map(|&(caller, _)| caller).find(|&caller| {
            let mut at = caller;
            loop {
                match self.parent(at) {
                    Some(_) if at == act || cut.contains(&at) => return false,
                    Some(_) if at == self.root => return true,
                    Some(parent) => at = parent,
                    None => return false,
                }
            }
        });
        if let Some(other) = other {
            *self.parents.at(act) = Some(other);
        }
        other.is_some()
    }
}
