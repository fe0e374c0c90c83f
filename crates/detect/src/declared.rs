//! What annotations and settings say about accesses, whatever the program does: memory that is declared confined or
//! immutable, and methods that are declared confined or never to run in parallel. Judges no order and no locks.

use crate::Stages;
use crate::access::{Access, Location, What};
use crate::anchor::plain;
use findings::Dismissed;
use happens_before::Point;
use ir::{Body, FieldId, MethodId, Program, StmtKind, Var};
use models::{Declared, Says};
use pointsto::Act;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What is declared about an access by itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// About the field, or about the one from which an array or a container is loaded.
    pub(crate) memory: Option<Declared>,
    /// The thread that the method is confined to.
    pub(crate) thread: Option<Arc<str>>,
}

/// What is declared about both accesses, and about the object they are to.
pub(crate) fn dismissed(
    stages: &Stages<'_>,
    location: Location,
    left: &Access,
    right: &Access,
) -> Option<Dismissed> {
    let (one, other) = (&left.declared, &right.declared);
    let of_memory = one.memory.filter(|_| other.memory.is_some());
    let is_confined = one.thread.is_some() && one.thread == other.thread;
    let declared = of_memory.or(is_confined.then_some(Declared::Confined));
    declared.or_else(|| of_object(stages, location)).map(|declared| match declared {
        Declared::Confined => Dismissed::DeclaredConfined,
        Declared::Immutable => Dismissed::DeclaredImmutable,
    })
}

/// What the class of an object says of the fields that it inherits.
fn of_object(stages: &Stages<'_>, location: Location) -> Option<Declared> {
    let (What::Field(_), Some(obj)) = (location.what, location.obj) else { return None };
    stages.knowledge.declared_class(stages.program, stages.pointsto.object(obj).class)
}

/// The thread that a method is declared to be confined to, by the words of the annotation.
pub(crate) fn thread_of(stages: &Stages<'_>, method: MethodId) -> Option<Arc<str>> {
    let program = stages.program;
    let mut annotations = program.method(method).annotations.iter();
    let is_confined =
        |note: &&ir::Annotation| stages.knowledge.says(&program.names[note.class]).contains(&Says::Confined);
    let words = annotations.find(is_confined)?.values.iter().map(|(_, value)| value.as_str());
    Some(words.collect::<Vec<_>>().join(" ").into())
}

/// What is declared about the memory of an access: the field, or the one that holds the array or container.
pub(crate) fn of_memory(stages: &Stages<'_>, body: &Body, what: What, base: Option<Var>) -> Option<Declared> {
    let field = match what {
        What::Field(field) | What::Static(field) => Some(field),
        What::Elements | What::Contents => base.and_then(|base| held_in(stages.program, body, base)),
    };
    stages.knowledge.declared_field(stages.program, field?)
}

/// The field from which a body loads an array or a container.
fn held_in(program: &Program, body: &Body, base: Var) -> Option<FieldId> {
    match body.stmts[body.vars[plain(body, base)].def?].kind {
        StmtKind::Load { field, .. } | StmtKind::LoadStatic { field, .. } => program.find_field(field),
        _ => None,
    }
}

/// Are both in methods that are declared never to run in parallel?
pub(crate) fn are_never_parallel(stages: &Stages<'_>, a: &Point, b: &Point) -> bool {
    let mut groups = 0..stages.knowledge.assumed.group_count();
    groups.any(|group| is_under(stages, a, group) && is_under(stages, b, group))
}

/// Does every call path of the origin to the point pass a method of the group? Searched backwards for one that does not.
fn is_under(stages: &Stages<'_>, point: &Point, group: u32) -> bool {
    let Stages { program, pointsto, happens_before, knowledge, .. } = *stages;
    let entry = happens_before.origin(point.origin).entry;
    let is_of_group = |act: Act| knowledge.exclusive_groups(program, pointsto.method(act)).contains(&group);
    let mut seen: FxHashSet<Act> = FxHashSet::default();
    let mut open = vec![point.act];
    while let Some(act) = open.pop() {
        if !seen.insert(act) || is_of_group(act) {
            continue;
        }
        let callers = pointsto.callers(act).iter().map(|&(caller, _)| caller);
        let before = open.len();
        open.extend(callers.filter(|&caller| happens_before.executes(point.origin, caller)));
        if act == entry || open.len() == before {
            return false;
        }
    }
    true
}
