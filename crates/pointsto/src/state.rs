//! The solved state: activations, objects, slots, calls and the graph between them. Only the solver changes
//! it; everybody else reads it through the queries.

use crate::expand::Assigns;
use crate::graph::{CallId, Graph, Node};
use crate::types::*;
use arena::{IdSet, IndexVec, Interner};
use ir::{Body, ClassId, FieldId, MethodId, MethodRef, Selector, StmtId, Var};
use models::ModelId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Who may point to what, and who calls whom.
#[derive(Default)]
pub struct PointsTo {
    pub(crate) graph: Graph,
    pub(crate) contexts: Interner<Ctx, Context>,
    pub(crate) objects: Interner<Obj, Object>,
    pub(crate) lambdas: FxHashMap<Obj, LambdaTarget>,
    /// Field handles (VarHandle, updaters) and the field they stand for.
    pub(crate) handles: FxHashMap<Obj, FieldId>,
    /// Arrays of length 0.
    pub(crate) empty_arrays: FxHashSet<Obj>,
    /// What is thrown, by context of the application code (one for all library code).
    pub(crate) exceptions: FxHashMap<Ctx, Node>,
    pub(crate) thrown_between: FxHashSet<(Ctx, Ctx)>,
    pub(crate) acts: Interner<Act, Activation>,
    pub(crate) frames: IndexVec<Act, Frame>,
    pub(crate) shapes: FxHashMap<MethodId, Arc<Shape>>,
    pub(crate) slots: FxHashMap<Slot, Node>,
    pub(crate) calls: IndexVec<CallId, Call>,
    /// The call a statement itself makes, as opposed to calls made on its behalf by lambdas and models.
    pub(crate) own_calls: FxHashMap<(Act, StmtId), CallId>,
    pub(crate) lambda_calls: FxHashSet<LambdaCall>,
    pub(crate) opaque_calls: FxHashSet<(CallId, MethodId)>,
    /// By statement, not by call: what is called back may be opaque again.
    pub(crate) called_back: FxHashSet<(Act, StmtId, Obj, ClassId)>,
    pub(crate) connected: FxHashSet<(CallId, Act)>,
    /// By selector too: the types that steps refer to are those of the method. With the receivers.
    pub(crate) expanded: FxHashMap<(CallId, ModelId, Selector, Assigns), Option<Node>>,
    pub(crate) expanded_inside: FxHashSet<(Act, ModelId)>,
    /// What steps of models call where a model's call is expanded.
    pub(crate) nested_calls: FxHashMap<NestedCall, CallId>,
    /// Results that the calls do not keep but their models mention.
    pub(crate) unkept: FxHashMap<CallId, Node>,
    pub(crate) expansions: FxHashMap<(Act, StmtId), Vec<ModelId>>,
    pub(crate) expanded_calls: FxHashMap<(Act, StmtId), Vec<ExpandedCall>>,
    pub(crate) callees: IndexVec<Act, Callees>,
    pub(crate) callers: IndexVec<Act, Vec<(Act, StmtId)>>,
    pub(crate) spawns: Vec<SpawnEdge>,
    pub(crate) entries: Vec<Act>,
    pub(crate) initializers: Vec<Act>,
    pub(crate) initialised: FxHashSet<ClassId>,
    pub(crate) gaps: Gaps,
    /// Fields that exist only in models, by name.
    pub(crate) model_fields: FxHashMap<String, FieldId>,
    pub(crate) no_objects: IdSet<Obj>,
}

/// Nodes of one activation.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) shape: Arc<Shape>,
    pub(crate) first: Node,
    pub(crate) ret: Node,
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

#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) act: Act,
    pub(crate) stmt: StmtId,
    pub(crate) target: Target,
    /// Receiver first; `None` for primitives.
    pub(crate) args: Vec<Option<Node>>,
    pub(crate) has_receiver: bool,
    pub(crate) dst: Option<Node>,
    /// Set for calls that start an origin: the model and its step.
    pub(crate) spawn: Option<(ModelId, u16)>,
    /// The lambda on whose behalf the call is made.
    pub(crate) lambda: Option<Obj>,
    /// Made by a model, or on behalf of such a call.
    pub(crate) by_model: bool,
}

/// A call that a model is expanded at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpandedCall {
    pub(crate) model: ModelId,
    pub(crate) call: CallId,
    /// The receivers the model is of: others that get to the call have models or bodies of their own.
    pub(crate) this: Option<Node>,
}

/// Everything that makes two calls through lambdas the same.
pub(crate) type LambdaCall =
    (Act, StmtId, Target, Vec<Option<Node>>, Option<Node>, Option<Obj>, Option<(ModelId, u16)>, bool);

/// A step of a model at a statement, and the origin it runs in.
pub(crate) type NestedCall = (Act, StmtId, ModelId, u16, Option<(ModelId, u16)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// Dispatched on the receiver, as far as the method it resolves to can be overridden.
    Virtual(MethodRef),
    /// By name and number of arguments, as models name methods.
    Named(arena::Name, u8),
    Fixed(MethodId),
}

/// Callees of one activation, sorted by statement once the state is at rest.
#[derive(Default, Clone)]
pub(crate) struct Callees {
    pub(crate) stmts: Vec<StmtId>,
    pub(crate) acts: Vec<Act>,
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
}
