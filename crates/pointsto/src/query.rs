//! The solved state, as later stages read it.

use crate::types::*;
use arena::IdSet;
use ir::{FieldId, MethodId, StmtId, Var};
use models::{ModelId, Operand};

#[derive(Default)]
pub struct PointsTo {}

impl PointsTo {
    /// All reachable activations, ascending.
    pub fn acts(&self) -> impl Iterator<Item = Act> + '_ {
        std::iter::empty()
    }

    pub fn method(&self, act: Act) -> MethodId {
        let _ = act;
        todo!()
    }

    pub fn ctx(&self, act: Act) -> Ctx {
        let _ = act;
        todo!()
    }

    pub fn context(&self, ctx: Ctx) -> Context {
        let _ = ctx;
        todo!()
    }

    pub fn object(&self, obj: Obj) -> &Object {
        let _ = obj;
        todo!()
    }

    pub fn lambda(&self, obj: Obj) -> Option<&LambdaTarget> {
        let _ = obj;
        todo!()
    }

    /// Objects a variable may point to (empty for primitives).
    pub fn pts(&self, act: Act, var: Var) -> &IdSet<Obj> {
        let _ = (act, var);
        todo!()
    }

    /// What a heap location may hold.
    pub fn held(&self, slot: Slot) -> &IdSet<Obj> {
        let _ = slot;
        todo!()
    }

    /// All heap locations that hold something, with it.
    pub fn slots(&self) -> impl Iterator<Item = (Slot, &IdSet<Obj>)> {
        std::iter::empty()
    }

    /// Objects a model's operand denotes at a call statement of `act`.
    pub fn operand(&self, act: Act, stmt: StmtId, operand: &Operand) -> IdSet<Obj> {
        let _ = (act, stmt, operand);
        todo!()
    }

    /// Activations that run in place at this statement (calls, lambdas called by models, class initialisers are
    /// not among them), ascending.
    pub fn callees(&self, act: Act, stmt: StmtId) -> &[Act] {
        let _ = (act, stmt);
        todo!()
    }

    /// All `(statement, callee)` of an activation, sorted.
    pub fn calls(&self, act: Act) -> impl Iterator<Item = (StmtId, Act)> + '_ {
        let _ = act;
        std::iter::empty()
    }

    /// Statements that run this activation in place, sorted.
    pub fn callers(&self, act: Act) -> &[(Act, StmtId)] {
        let _ = act;
        todo!()
    }

    /// Models expanded at a call statement, ascending.
    pub fn models_at(&self, act: Act, stmt: StmtId) -> &[ModelId] {
        let _ = (act, stmt);
        todo!()
    }

    /// Sorted.
    pub fn spawns(&self) -> &[SpawnEdge] {
        todo!()
    }

    /// Entry points (`main` and what the user named).
    pub fn entries(&self) -> &[Act] {
        todo!()
    }

    /// Class initialisers that may run.
    pub fn initializers(&self) -> &[Act] {
        todo!()
    }
}
