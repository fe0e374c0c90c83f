//! The solved state: activations, objects, slots, calls and the graph between them. Only the solver changes
//! it; everybody else reads it through the queries.

use crate::dependencies::Refused;
use crate::graph::{CallId, Graph, Node};
use crate::removed::Removed;
use crate::rule::{Leaf, Rules};
use crate::select::{Choice, Contexts};
use crate::sizes::Sizes;
use crate::solver::Roots;
use crate::told::Work;
use crate::traits::TraitTable;
use crate::types::*;
use arena::{Chunks, IdSet, IndexVec, Interner, define_id};
use ir::{Body, ClassId, FieldId, MethodId, MethodRef, StmtId, Var};
use models::ModelId;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

define_id! {
    /// A statement of an activation, wherever edits move it.
    Place
}

/// Who may point to what, and who calls whom.
#[derive(Default, Serialize, Deserialize)]
pub struct PointsTo {
    pub(crate) graph: Graph,
    pub(crate) rules: Rules,
    pub(crate) traits: TraitTable,
    pub(crate) told_apart: Contexts,
    pub(crate) contexts: Interner<Ctx, Context>,
    pub(crate) objects: Interner<Obj, Object>,
    /// Objects and contexts named after statements of a method.
    pub(crate) named_after: FxHashMap<MethodId, NamedAfter>,
    pub(crate) lambdas: FxHashMap<Obj, LambdaTarget>,
    /// Field handles (VarHandle, updaters) and the field they stand for.
    pub(crate) handles: FxHashMap<Obj, FieldId>,
    /// Arrays of length 0.
    pub(crate) empty_arrays: FxHashSet<Obj>,
    /// What is thrown, by context of the application code (one for all library code).
    pub(crate) exceptions: FxHashMap<Ctx, Node>,
    pub(crate) acts: Interner<Act, Activation>,
    pub(crate) frames: IndexVec<Act, Frame>,
    /// Activations that run, and how many.
    pub(crate) running: usize,
    pub(crate) running_in_dependencies: usize,
    pub(crate) acts_of: FxHashMap<MethodId, Vec<Act>>,
    #[serde(skip)]
    pub(crate) shapes: FxHashMap<MethodId, Arc<Shape>>,
    pub(crate) slots: FxHashMap<Slot, Node>,
    /// Whose each node is.
    pub(crate) homes: IndexVec<Node, Home>,
    pub(crate) places: Chunks<Place, Placed>,
    pub(crate) free_places: Vec<Place>,
    #[serde(skip)]
    pub(crate) place_ids: FxHashMap<(Act, StmtId), Place>,
    pub(crate) calls: Chunks<CallId, Call>,
    pub(crate) free_calls: Vec<CallId>,
    pub(crate) lambda_calls: FxHashMap<Call, CallId>,
    pub(crate) leaves: FxHashMap<Leaf, u32>,
    /// Those that say what was not looked into: few, and told after every edit.
    pub(crate) gaps: FxHashSet<Leaf>,
    /// Sorted once the state is at rest, as are the callers.
    pub(crate) callees: IndexVec<Act, Callees>,
    pub(crate) callers: IndexVec<Act, Vec<(Act, StmtId)>>,
    pub(crate) spawns: Vec<SpawnEdge>,
    pub(crate) spawn_places: Vec<SpawnPlace>,
    pub(crate) entries: Vec<Act>,
    pub(crate) initializers: Vec<Act>,
    pub(crate) called_back: Vec<(Place, Obj)>,
    pub(crate) merged_origins: u64,
    /// Fields that exist only in models, by name.
    pub(crate) model_fields: FxHashMap<String, FieldId>,
    pub(crate) no_objects: IdSet<Obj>,
    /// What the update at hand has touched besides the sets of nodes.
    #[serde(skip)]
    pub(crate) touched: Touched,
    /// How many statements edits have removed: each has a number of its own beyond all bodies.
    pub(crate) removed_stmts: u32,
    /// Those after which something may be named.
    pub(crate) removed: Removed,
    pub(crate) roots: Roots,
    /// The solution that tells how much code each origin runs, and what followed from it.
    pub(crate) survey: Option<Box<PointsTo>>,
    pub(crate) choice: Choice,
    /// Dependencies are opaque because too much of them is reached.
    pub(crate) refused: Option<Box<Refused>>,
    /// Entry points that the budget has no room for.
    pub(crate) left_out: Vec<MethodId>,
    /// Of the survey's code.
    pub(crate) sizes: Sizes,
}

/// What a node belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Home {
    /// To no statement: exceptions of a context.
    #[default]
    Context,
    Act(Act),
    Slot(Slot),
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct NamedAfter {
    pub(crate) objects: Vec<Obj>,
    pub(crate) contexts: Vec<Ctx>,
}

/// A [`SpawnEdge`] wherever edits move its statement.
pub(crate) type SpawnPlace = (Place, ModelId, u16, Obj, Act);

/// What has to be put in order when the state comes to rest, and told to those who look at it.
#[derive(Default)]
pub(crate) struct Touched {
    /// As they were told last.
    pub(crate) callees: FxHashMap<Act, Callees>,
    pub(crate) callers: FxHashMap<Act, Vec<(Act, StmtId)>>,
    pub(crate) places: FxHashSet<Place>,
    /// Objects that get another name, and those that are locked or no longer are.
    pub(crate) renamed: FxHashSet<Obj>,
    pub(crate) locked: FxHashSet<Obj>,
    pub(crate) called_back: bool,
    /// Activations that began or ceased to run; those that did both are in both.
    pub(crate) begun: FxHashSet<Act>,
    pub(crate) ended: FxHashSet<Act>,
    pub(crate) spawns: bool,
    /// The spawns as they were told last, once they have to be told anew.
    pub(crate) spawns_before: Option<Vec<SpawnEdge>>,
    pub(crate) entries: bool,
    pub(crate) work: Work,
}

/// A statement that calls something.
#[derive(Serialize, Deserialize)]
pub(crate) struct Placed {
    pub(crate) act: Act,
    /// Where it is now; a number beyond all bodies once an edit has removed it.
    pub(crate) stmt: StmtId,
    /// Calls that the statement itself makes, its own first, as opposed to those made on its behalf.
    pub(crate) calls: Vec<CallId>,
    pub(crate) expanded: Vec<ExpandedCall>,
    /// Of `expanded`, ascending, each once.
    pub(crate) models: Vec<ModelId>,
}

impl Placed {
    pub(crate) fn new(act: Act, stmt: StmtId) -> Placed {
        Placed { act, stmt, calls: Vec::new(), expanded: Vec::new(), models: Vec::new() }
    }
}

/// Nodes of one activation.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Frame {
    #[serde(skip)]
    pub(crate) shape: Arc<Shape>,
    pub(crate) nodes: Nodes,
    pub(crate) ret: Node,
    pub(crate) places: Vec<Place>,
    pub(crate) runs: bool,
    /// Counted as code of a dependency.
    pub(crate) in_dependencies: bool,
    /// The method has no body as far as is known.
    pub(crate) is_stale: bool,
}

/// The nodes of the variables of a frame, in the order of its shape.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Nodes {
    From(Node),
    /// The body was edited.
    Each(Vec<Node>),
}

impl Frame {
    pub(crate) fn node(&self, var: Var) -> Option<Node> {
        let index = self.shape.index(var)?;
        Some(match &self.nodes {
            Nodes::From(first) => Node(first.0 + index),
            Nodes::Each(nodes) => nodes[index as usize],
        })
    }

    /// The nodes of all variables, in the order of the shape.
    pub(crate) fn vars(&self) -> impl Iterator<Item = Node> + '_ {
        (0..self.shape.count).map(|index| match &self.nodes {
            Nodes::From(first) => Node(first.0 + index as u32),
            Nodes::Each(nodes) => nodes[index],
        })
    }
}

/// Which variables of a body are references, numbered densely.
#[derive(Default)]
pub(crate) struct Shape {
    index: Vec<u32>,
    pub(crate) count: usize,
    pub(crate) body: Option<Arc<Body>>,
}

impl Shape {
    pub(crate) fn new(body: Option<Arc<Body>>) -> Shape {
        let mut shape = Shape::default();
        if let Some(body) = &body {
            for (_, var) in body.vars.iter() {
                shape.index.push(if var.is_ref { shape.count as u32 } else { u32::MAX });
                shape.count += usize::from(var.is_ref);
            }
        }
        Shape { body, ..shape }
    }

    pub(crate) fn index(&self, var: Var) -> Option<u32> {
        self.index.get(var.0 as usize).copied().filter(|&index| index != u32::MAX)
    }
}

/// Everything that makes two calls the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) place: Place,
    pub(crate) target: Target,
    /// Receiver first; `None` for primitives.
    pub(crate) args: Vec<Option<Node>>,
    pub(crate) has_receiver: bool,
    pub(crate) dst: Option<Node>,
    /// A result that the call does not keep but its models mention.
    pub(crate) unkept: Option<Node>,
    /// Set for calls that start an origin: the model and its step.
    pub(crate) spawn: Option<(ModelId, u16)>,
    /// The lambda on whose behalf the call is made.
    pub(crate) lambda: Option<Obj>,
    /// Made by a model, or on behalf of such a call.
    pub(crate) by_model: bool,
}

impl Call {
    /// A call as a statement makes it, with no result.
    pub(crate) fn new(place: Place, target: Target, args: Vec<Option<Node>>, has_receiver: bool) -> Call {
        let (dst, unkept, spawn, lambda) = (None, None, None, None);
        Call { place, target, args, has_receiver, dst, unkept, spawn, lambda, by_model: false }
    }

    /// The same call, whatever its models have asked for.
    pub(crate) fn is(&self, other: &Call) -> bool {
        (self.place, self.target, &self.args, self.has_receiver, self.dst)
            == (other.place, other.target, &other.args, other.has_receiver, other.dst)
            && (self.spawn, self.lambda, self.by_model) == (other.spawn, other.lambda, other.by_model)
    }
}

/// A call that a model is expanded at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ExpandedCall {
    pub(crate) model: ModelId,
    pub(crate) call: CallId,
    /// The receivers the model is of: others that get to the call have models or bodies of their own.
    pub(crate) this: Option<Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Target {
    /// Dispatched on the receiver, as far as the method it resolves to can be overridden.
    Virtual(MethodRef),
    /// By name and number of arguments, as models name methods.
    Named(arena::Name, u8),
    Fixed(MethodId),
}

/// Callees of one activation, by statement.
#[derive(Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Callees {
    pub(crate) stmts: Vec<StmtId>,
    pub(crate) acts: Vec<Act>,
}

impl Callees {
    pub(crate) fn change(&mut self, stmt: StmtId, callee: Act, comes: bool) {
        if comes {
            self.stmts.push(stmt);
            self.acts.push(callee);
        } else if let Some(at) =
            (0..self.acts.len()).find(|&at| (self.stmts[at], self.acts[at]) == (stmt, callee))
        {
            self.stmts.swap_remove(at);
            self.acts.swap_remove(at);
        }
    }

    pub(crate) fn sort(&mut self) {
        let mut pairs: Vec<(StmtId, Act)> =
            self.stmts.iter().copied().zip(self.acts.iter().copied()).collect();
        pairs.sort_unstable();
        (self.stmts, self.acts) = pairs.into_iter().unzip();
    }
}

/// What the analysis could not look into, counted for the notes.
#[derive(Debug, Clone, Default)]
pub struct Gaps {
    /// Calls from application code into classes that are not analysed, by class.
    pub opaque_calls: FxHashMap<ClassId, u64>,
    /// Native methods without a model that application code reaches.
    pub native_calls: FxHashSet<MethodId>,
    /// Reflection on names or classes that are not constant.
    pub reflective_calls: FxHashSet<(MethodId, StmtId)>,
    /// `invokedynamic` call sites of unknown kind.
    pub dynamic_calls: FxHashSet<(MethodId, StmtId)>,
    /// Calls on targets that do not exist on the class path.
    pub unresolved_calls: FxHashSet<(MethodId, StmtId)>,
    /// Origins whose code shares one context because it was too large.
    pub merged_origins: u64,
    /// Less was analysed than there is, because there is too much of it.
    pub is_cut: bool,
    /// The application calls dependencies, which are opaque because too much of their code is reached.
    pub opaque_dependencies: bool,
    /// Entry points that the budget has no room for.
    pub left_out: Vec<MethodId>,
}
