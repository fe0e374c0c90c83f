//! Classes that every analysis of the same program asks for, whatever was analysed before: a part of those that are
//! loaded, and a function of the solved state. Loads nothing.

use crate::Options;
use arena::IdSet;
use ir::{CallKind, ClassId, MethodId, Problem, Program, StmtKind};
use pointsto::PointsTo;

#[derive(Default)]
pub(crate) struct Needed {
    pub(crate) classes: IdSet<ClassId>,
    /// Those that run.
    methods: IdSet<MethodId>,
}

impl Needed {
    pub(crate) fn of<'a>(
        program: &Program,
        options: &Options,
        states: impl Iterator<Item = &'a PointsTo>,
    ) -> Needed {
        let mut needed = Needed::default();
        for state in states {
            needed.methods.extend(state.acts().map(|act| state.method(act)));
            state.asked(program, &mut |class| {
                needed.classes.insert(class);
            });
        }
        if options.mains.is_empty() && options.entries.is_empty() {
            let classes = program.source().app_classes();
            needed.classes.extend(classes.iter().filter_map(|name| program.find_class(name)));
        }
        for method in needed.methods.iter() {
            needed.classes.insert(program.method(method).class);
            let stmts = program.lowered(method).into_iter().flat_map(|body| body.stmts.iter());
            needed.classes.extend(stmts.filter_map(|(_, stmt)| asks(&stmt.kind)));
        }
        needed.add_supertypes(program);
        needed
    }

    fn add_supertypes(&mut self, program: &Program) {
        let mut todo: Vec<ClassId> = self.classes.iter().collect();
        while let Some(class) = todo.pop() {
            let class = program.class(class);
            let above = class.super_class.iter().chain(&class.interfaces).chain(&class.element);
            todo.extend(above.filter(|&&class| self.classes.insert(class)));
        }
    }
}

/// The class that running a statement asks for, whatever flows into it.
fn asks(kind: &StmtKind) -> Option<ClassId> {
    match kind {
        StmtKind::New { class, .. } | StmtKind::NewArray { class, .. } => Some(*class),
        StmtKind::Load { field, .. }
        | StmtKind::Store { field, .. }
        | StmtKind::LoadStatic { field, .. }
        | StmtKind::StoreStatic { field, .. } => Some(field.class),
        StmtKind::Call { kind: CallKind::Static | CallKind::Special, target, .. } => Some(target.class),
        _ => None,
    }
}

pub(crate) fn is_needed(needed: &Needed, program: &Program, problem: &Problem) -> bool {
    match problem {
        Problem::MissingClass(class)
        | Problem::CorruptClass(class, _)
        | Problem::NewerVersion(class, _)
        | Problem::CyclicHierarchy(class) => needed.classes.contains(*class),
        // What has code is looked at when it runs, the rest together with its class.
        Problem::Body(method, _) if program.method(*method).has_code => needed.methods.contains(*method),
        Problem::Body(method, _) => needed.classes.contains(program.method(*method).class),
    }
}
