//! Rules that hold for more than one reason: each is run once, when it first holds, and what it had as effects is
//! taken back when no reason is left. Owns their table and what they made; what they do is the solver's affair.

use crate::expand::Assigns;
use crate::graph::{CallId, EdgeId, Node, UseId};
use crate::state::{ExpandedCall, Place};
use crate::support::Supports;
use crate::types::*;
use arena::{Chunks, define_id};
use ir::{ClassId, MethodId, Selector};
use models::ModelId;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

define_id! {
    /// A rule in the table. Ids of rules that are gone are used again.
    RuleId
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Rule {
    /// The activation runs.
    Active(Act),
    /// The initialiser of the class runs, and those of its superclasses.
    Initialised(ClassId),
    /// The JVM runs it before the program.
    Boot(Act),
    /// Called from outside.
    Entry(Ctx, MethodId),
    /// The call runs the activation.
    Connected(CallId, Act),
    /// By selector too: the types that steps refer to are those of the method.
    Expanded(CallId, ModelId, Selector, Assigns),
    /// The model says more about the code of this activation.
    ExpandedInside(Act, ModelId),
    /// What a step of a model calls where a model's call is expanded: one call for the statement and the origin.
    Nested(Place, ModelId, u16, Option<(ModelId, u16)>),
    /// A call on behalf of a lambda.
    LambdaCalled(CallId),
    /// `C::new` is called.
    LambdaMade(CallId, Obj),
    /// The call runs code that is not analysed.
    OpaqueCall(CallId, MethodId),
    /// By statement, not by call: what is called back may be opaque again.
    CalledBack(Place, Obj, ClassId),
    /// Constructed by reflection, into the node.
    Constructed(CallId, ClassId, Node, u16),
    /// What one throws may reach the other.
    Thrown(Ctx, Ctx),
    /// An array from outside, of which the elements are from outside.
    OpaqueArray(Obj),
}

impl Rule {
    /// The call whose arguments the rule sees.
    pub(crate) fn call(self) -> Option<CallId> {
        match self {
            Rule::Connected(call, _)
            | Rule::Expanded(call, ..)
            | Rule::LambdaCalled(call)
            | Rule::LambdaMade(call, _)
            | Rule::OpaqueCall(call, _)
            | Rule::Constructed(call, ..) => Some(call),
            Rule::Active(_)
            | Rule::Initialised(_)
            | Rule::Boot(_)
            | Rule::Entry(..)
            | Rule::ExpandedInside(..)
            | Rule::Nested(..)
            | Rule::CalledBack(..)
            | Rule::Thrown(..)
            | Rule::OpaqueArray(_) => None,
        }
    }
}

/// One thing that was derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Effect {
    Fact(Node, Obj),
    Edge(EdgeId),
    Use(UseId),
    Rule(RuleId),
    Leaf(Leaf),
}

/// What is derived and derives nothing: counted, because every reason for it counts as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Leaf {
    Calls(Place, Act),
    Spawns {
        at: Place,
        model: ModelId,
        step: u16,
        task: Obj,
        entry: Act,
    },
    Expands(Place, ExpandedCall),
    Initializer(Act),
    Entry(Act),
    /// A static synchronized method runs: it locks its class's literal.
    Locks(Obj),
    /// Code that is not analysed calls the object back.
    CalledBack(Place, Obj),
    /// What could not be looked into.
    Opaque(CallId, MethodId),
    Native(MethodId),
    Reflective(Place),
    Dynamic(Place),
    Unresolved(Place),
}

/// A rule, why it holds and what it had as effects.
#[derive(Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) what: Rule,
    pub(crate) supports: Supports,
    pub(crate) alive: bool,
    /// Its effects are there.
    pub(crate) ran: bool,
    /// Of every rule but `Active`, whose effects are those of the body's statements.
    pub(crate) effects: Vec<Effect>,
    /// Nodes and calls that it made, in order, to be found again.
    pub(crate) nodes: Vec<Node>,
    pub(crate) calls: Vec<CallId>,
    /// A method that the rule is about, where the rule itself does not say.
    pub(crate) method: Option<MethodId>,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Rules {
    pub(crate) held: Chunks<RuleId, Held>,
    #[serde(skip)]
    pub(crate) ids: FxHashMap<Rule, RuleId>,
    pub(crate) free: Vec<RuleId>,
    /// Rules about a call.
    #[serde(skip)]
    pub(crate) of_call: FxHashMap<CallId, Vec<RuleId>>,
    /// Rules that hold and have not run.
    #[serde(skip)]
    pub(crate) pending: Vec<RuleId>,
}

impl Rules {
    /// The rule, whether it holds or not.
    pub(crate) fn id(&mut self, what: Rule) -> RuleId {
        if let Some(&id) = self.ids.get(&what) {
            return id;
        }
        let held = Held {
            what,
            supports: Supports::default(),
            alive: false,
            ran: false,
            effects: Vec::new(),
            nodes: Vec::new(),
            calls: Vec::new(),
            method: None,
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.held[id] = held;
                id
            }
            None => self.held.push(held),
        };
        self.ids.insert(what, id);
        if let Some(call) = what.call() {
            self.of_call.entry(call).or_default().push(id);
        }
        id
    }

    pub(crate) fn of_call(&self, call: CallId) -> &[RuleId] {
        self.of_call.get(&call).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn find(&self, what: Rule) -> Option<RuleId> {
        self.ids.get(&what).copied()
    }

    pub(crate) fn revive(&mut self, id: RuleId) {
        self.held[id].alive = true;
        self.pending.push(id);
    }

    /// Forgets a rule that nothing speaks for; returns the nodes and calls it had made.
    pub(crate) fn drop(&mut self, id: RuleId) -> (Vec<Node>, Vec<CallId>) {
        let held = &mut self.held[id];
        debug_assert!(held.supports.is_empty() && held.effects.is_empty() && !held.ran);
        if self.ids.remove(&held.what).is_none() {
            return Default::default();
        }
        if let Some(call) = held.what.call()
            && let Some(rules) = self.of_call.get_mut(&call)
        {
            rules.retain(|&rule| rule != id);
            if rules.is_empty() {
                self.of_call.remove(&call);
            }
        }
        self.free.push(id);
        (std::mem::take(&mut held.nodes), std::mem::take(&mut held.calls))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (RuleId, &Held)> {
        self.held.iter().filter(|(_, held)| held.alive)
    }
}
