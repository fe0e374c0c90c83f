//! What both engines know of a field or a lock, as one answer: the whole-program engine where it gets, because it knows
//! threads, the other one everywhere else. Only reads the state as it is, and works out nothing that could be kept.

mod guard;
mod lock;
mod reported;
mod scope;

use crate::Session;
use compositional::Asked;
use detect::Stages;
use findings::{
    About, Access, Confidence, Dismissed, Engine, FieldGuard, PairVerdict, Report, Reported, Why,
};
use guard::Facts;
use ir::{ClassId, FieldId, Loaded, Program};
use scope::Scope;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Session {
    /// What is known of a field: who touches it, on which threads, under which locks, and what guards it. The class is
    /// the one that declares it, or one below that: `bank.Account`, `bank.Bank$Node`. None if there is no such field, or
    /// nobody knows of any.
    pub fn about_field(&self, class: &str, name: &str) -> Option<About> {
        let classes = self.with_superclasses(&class.replace('.', "/"));
        classes.iter().find_map(|class| {
            let found = self.found(class, &|field| field == name).pop_first()?.1;
            let guards = if found.facts.is_lock { self.guarded_by(class, name) } else { Vec::new() };
            Some(About { guards, ..self.about(class, name, found) })
        })
    }

    /// What guards the fields of a class that anything touches, by their names.
    pub fn guards(&self, class: &str) -> Vec<FieldGuard> {
        let class = class.replace('.', "/");
        let is_told = |(_, found): &(String, Found)| !found.accesses.is_empty() && !found.facts.is_made();
        let guards = self.found(&class, &|_| true).into_iter().filter(is_told).map(|(field, found)| {
            let About { guard, why, findings, .. } = self.about(&class, &field, found);
            FieldGuard { field, guard, why, findings }
        });
        guards.collect()
    }

    /// The other fields of a class of which one is the guard.
    fn guarded_by(&self, class: &str, name: &str) -> Vec<String> {
        let locks = [format!("this.{name}"), format!("{}.{name}", class.replace('/', "."))];
        let others = self.found(class, &|field| field != name).into_iter();
        let is_guarded = |(_, found): &(String, Found)| {
            let guard = guard::find(&found.facts, &one_each(found.accesses.clone()));
            guard.is_some_and(|guard| locks.contains(&guard.name))
        };
        others.filter(is_guarded).map(|(field, _)| field).collect()
    }

    /// What the whole-program engine knows, if that is true of the program as it is now.
    pub(crate) fn solved(&self) -> Option<Stages<'_>> {
        let is_up_to_date = !self.is_behind && self.unseen.is_empty() && !self.is_points_to_only;
        // Before its turn it knows nothing, which is not to say that nobody gets anywhere.
        let is_up_to_date = is_up_to_date && !self.is_ahead;
        let (program, models) = (&self.program, &self.models);
        let (pointsto, happens_before) = (&self.pointsto, &self.happens_before);
        (is_up_to_date && self.options.engines.whole_program()).then_some(Stages {
            program,
            models,
            knowledge: &self.knowledge,
            pointsto,
            happens_before,
        })
    }

    /// What the compositional engine has found while the other one has not had its turn.
    fn first_told(&self) -> Arc<Report> {
        self.beside.alone()
    }

    /// The engines that have something to say.
    fn engines(&self) -> Vec<Engine> {
        let whole = self.solved().map(|_| Engine::WholeProgram);
        let other = self.beside.engine().map(|_| Engine::Compositional);
        whole.into_iter().chain(other).collect()
    }

    /// A class and those above it, as far as they are known.
    fn with_superclasses(&self, class: &str) -> Vec<String> {
        let of_other = || self.beside.engine()?.superclasses(class);
        let solved = self.solved().and_then(|stages| {
            let above = stages.program.superclasses(loaded(stages.program, class)?);
            Some(above.map(|above| stages.program.class_name(above).to_owned()).collect())
        });
        of_other().or(solved).unwrap_or_default()
    }

    /// What is done to the fields of a class that are wanted, by their names.
    fn found(&self, class: &str, wanted: &dyn Fn(&str) -> bool) -> BTreeMap<String, Found> {
        let mut found: BTreeMap<String, Found> = BTreeMap::new();
        let (solved, other) = (self.solved(), self.beside.engine());
        if let Some(stages) = &solved {
            self.find_solved(stages, class, wanted, &mut found);
        }
        if let Some(engine) = other {
            let is_known = |class: &str, name: &str, descriptor: &str| {
                solved.as_ref().is_some_and(|stages| detect::is_reached(stages, class, name, descriptor))
            };
            let can_touch = |flags: &[u16], name: &str| Scope::of(flags).contains(class, name);
            let asked = Asked { can_touch: &can_touch, is_known: &is_known };
            for uses in engine.uses(class, wanted, &asked) {
                let Found { facts, accesses, .. } = found.entry(uses.name).or_default();
                facts.flags |= uses.flags;
                facts.is_lock |= uses.is_lock;
                (facts.declared, facts.safe) = (uses.guard, uses.safe);
                accesses.extend(uses.accesses);
            }
        }
        found
    }

    /// What the threads of the program do.
    fn find_solved(
        &self,
        stages: &Stages<'_>,
        class: &str,
        wanted: &dyn Fn(&str) -> bool,
        found: &mut BTreeMap<String, Found>,
    ) {
        let program = stages.program;
        let fields = declared(program, class, wanted);
        let flags: Vec<u16> = fields.iter().map(|&field| program.field(field).access).collect();
        let scope = Scope::of(&flags);
        let uses = self.detect.uses(stages, &fields, &|name| scope.contains(class, name));
        for (&field, uses) in fields.iter().zip(uses) {
            // A class may be loaded only because of what the program was before.
            if !uses.accesses.is_empty() {
                let name = program.names[program.field_ref(field).name].to_string();
                let Found { facts, accesses, dismissed, pairs } = found.entry(name).or_default();
                facts.flags |= program.field(field).access;
                facts.is_lock |= uses.is_lock;
                *dismissed = uses.dismissed;
                *pairs = uses.pairs;
                accesses.extend(uses.accesses);
            }
        }
    }

    fn about(&self, class: &str, name: &str, found: Found) -> About {
        let Found { facts, accesses, dismissed, pairs } = found;
        let (field, engines) = (format!("{}.{name}", class.replace('/', ".")), self.engines());
        let mut accesses = one_each(accesses);
        let guard = guard::find(&facts, &accesses);
        for (access, guard) in accesses.iter_mut().zip(std::iter::repeat(&guard)) {
            access.lacks_guard = guard.as_ref().is_some_and(|guard| facts.lacks(access, &guard.name));
        }
        let told = if self.is_ahead { self.first_told() } else { self.told.clone() };
        let (reported, suspicion) = reported::about(&told, &field, &accesses);
        let is_sure = |finding: &Reported| finding.confidence.at_least(Confidence::Medium);
        let why = match reported.iter().any(is_sure) {
            true => Why::Reported,
            false => {
                let has_suspicion = !reported.is_empty();
                let judged = guard::Judged { dismissed, suspicion, has_suspicion };
                guard::why(&facts, &accesses, guard.as_ref(), judged, &engines)
            }
        };
        About { field, guard, why, guards: Vec::new(), findings: reported, accesses, pairs, engines }
    }
}

/// What was found out about a field.
#[derive(Default)]
struct Found {
    facts: Facts,
    accesses: Vec<Access>,
    dismissed: Option<Dismissed>,
    pairs: Vec<PairVerdict>,
}

fn loaded(program: &Program, class: &str) -> Option<ClassId> {
    program.find_class(class).filter(|&class| program.class(class).loaded == Loaded::Yes)
}

fn declared(program: &Program, class: &str, wanted: &dyn Fn(&str) -> bool) -> Vec<FieldId> {
    let Some(class) = loaded(program, class) else { return Vec::new() };
    let fields = program.class(class).fields.iter().copied();
    fields.filter(|&field| wanted(&program.names[program.field_ref(field).name])).collect()
}

/// One access for each place and method.
fn one_each(mut accesses: Vec<Access>) -> Vec<Access> {
    accesses.sort();
    let mut each: Vec<Access> = Vec::new();
    for access in accesses {
        let is_same = |last: &mut Access| last.place == access.place && last.method == access.method;
        match each.pop_if(is_same) {
            Some(last) => each.push(last.and(access)),
            None => each.push(access),
        }
    }
    each
}
