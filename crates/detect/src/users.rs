//! Whose code a finding is about. At least one side must be shown in the user's own code: what dependencies do among
//! themselves is not for their user to repair.

use crate::Stages;
use classfile::Layer;
use happens_before::{Nesting, Wanted};
use ir::MethodId;

/// Is the method the user's own?
pub(crate) fn is_users(stages: &Stages<'_>, method: MethodId) -> bool {
    stages.program.class(stages.program.method_ref(method).class).layer == Layer::App
}

/// Does the user's own code take one of the two locks, or lead from the one to the other?
pub(crate) fn is_in_users_code(stages: &Stages<'_>, nesting: &Nesting) -> bool {
    let wanted = match &nesting.wants {
        Wanted::Lock(wanted) => Some(wanted.act),
        Wanted::End(_) => None,
    };
    let calls = nesting.calls.iter().map(|&(act, _)| act);
    let mut acts = calls.chain([nesting.act, nesting.held.act]).chain(wanted);
    acts.any(|act| is_users(stages, stages.pointsto.method(act)))
}
