//! How much is analysed: whether dependencies are, and from which entry points. Dependencies only as long as little of their code is reached. Frameworks are large, and what
//! they do with the application's objects they mostly do by reflection; then a call into a dependency is opaque.
//!
//! The choice is that of a run from nothing, whatever was edited before: where dependencies were refused, what the
//! attempt had looked at is remembered, and when an edit touches that, the attempt is made again.

use crate::rule::Rule;
use crate::select::{Contexts, Limit, most_questions};
use crate::solver::{Options, Roots};
use crate::state::{PointsTo, Target};
use crate::types::{Act, Activation};
use arena::IdSet;
use classfile::Layer;
use ir::{ClassId, MethodId, Program, ProgramDelta, StmtKind};
use models::Models;
use serde::{Deserialize, Serialize};

/// So many entry points are many.
const MANY: usize = 16;
/// Entry points that would have so many times the facts of the budget one by one are tried together.
const IN_COMMON: u64 = 2;
/// An entry point that takes more than this part of the budget by itself is left out where not all fit into it.
const LARGEST: u64 = 8;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Dependencies {
    #[default]
    Analysed,
    /// Calls into them return an object of the declared type; application objects passed in may be called back.
    Opaque,
}

/// What an attempt to analyse dependencies had looked at when it was given up. As long as this stays the same, it would
/// be given up again: facts only grow while a program is solved.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Refused {
    methods: IdSet<MethodId>,
    classes: IdSet<ClassId>,
    /// Any code of dependencies was among it.
    in_dependencies: bool,
}

/// A first solution for the sizes, and what was tried before.
pub(crate) struct Surveyed {
    pub(crate) survey: Box<PointsTo>,
    pub(crate) refused: Option<Box<Refused>>,
    /// Entry points that the budget has no room for.
    pub(crate) left_out: Vec<MethodId>,
}

impl Surveyed {
    /// With dependencies if they are small enough, and with as many entry points as there is room for.
    pub(crate) fn new(
        program: &mut Program,
        models: &mut Models,
        roots: &Roots,
        options: &Options,
        progress: &dyn Fn(u64),
    ) -> Surveyed {
        let mut with = Attempt { program, models, options, progress };
        // Many programs in one are mostly too much even without dependencies, and that takes less time to find out.
        if roots.entries.len() > MANY
            && let Err(attempt) =
                with.survey(roots, Dependencies::Opaque, Limit::of_survey(options, Dependencies::Opaque))
        {
            let refused = Box::new(Refused::by(&attempt, with.program));
            drop(attempt);
            return with.some_entries(refused, roots);
        }
        let refused = match with.dependencies(roots) {
            Ok(surveyed) => return surveyed,
            Err(refused) => refused,
        };
        // What was too much without any code of dependencies is too much again.
        if refused.in_dependencies {
            let limit = Limit::of_survey(options, Dependencies::Opaque);
            if let Ok(survey) = with.survey(roots, Dependencies::Opaque, limit) {
                return Surveyed { survey, refused: Some(refused), left_out: Vec::new() };
            }
        }
        with.some_entries(refused, roots)
    }

    pub(crate) fn with_dependencies(
        program: &mut Program,
        models: &mut Models,
        roots: &Roots,
        options: &Options,
        progress: &dyn Fn(u64),
    ) -> Result<Surveyed, Box<Refused>> {
        Attempt { program, models, options, progress }.dependencies(roots)
    }
}

/// What surveys are made from.
struct Attempt<'a> {
    program: &'a mut Program,
    models: &'a mut Models,
    options: &'a Options,
    progress: &'a dyn Fn(u64),
}

impl Attempt<'_> {
    fn dependencies(&mut self, roots: &Roots) -> Result<Surveyed, Box<Refused>> {
        let limit = Limit::of_survey(self.options, Dependencies::Analysed);
        match self.survey(roots, Dependencies::Analysed, limit) {
            Ok(survey) => Ok(Surveyed { survey, refused: None, left_out: Vec::new() }),
            Err(attempt) => Err(Box::new(Refused::by(&attempt, self.program))),
        }
    }

    /// One context for all code of the application; as far as it came if it gets too large.
    fn survey(
        &mut self,
        roots: &Roots,
        dependencies: Dependencies,
        limit: Limit,
    ) -> Result<Box<PointsTo>, Box<PointsTo>> {
        // For the sizes the quiet JDK serves as well, whatever the final boundary.
        let quiet = Options { full_jdk: false, ..self.options.clone() };
        let mut survey = Box::new(PointsTo::default());
        let by = (dependencies, Contexts::Survey);
        let fits = survey.solve(self.program, self.models, roots, &quiet, by, limit, self.progress)
            && survey.choose(self.program, roots, self.options).is_affordable(self.options);
        if fits { Ok(survey) } else { Err(survey) }
    }

    /// Of the entry points those that fit into the budget together, the smallest first. How large each is by itself is
    /// found out as long as the budget for that lasts.
    fn some_entries(&mut self, refused: Box<Refused>, roots: &Roots) -> Surveyed {
        let some = |entries: Vec<MethodId>| Roots { entries, ..roots.clone() };
        let mut sized: Vec<(u64, u64, usize)> = Vec::new();
        let mut room = self.options.budget;
        for (at, &entry) in roots.entries.iter().enumerate() {
            let alone = some(vec![entry]);
            let limit = Limit { facts: (self.options.budget / LARGEST).min(room), ..Limit::NONE };
            let survey = self.survey(&alone, Dependencies::Opaque, limit);
            let (Ok(tried) | Err(tried)) = &survey;
            room = room.saturating_sub(tried.facts());
            if let Ok(mut survey) = survey {
                let questions = survey.choose(self.program, &alone, self.options).questions();
                sized.push((survey.facts(), questions, at));
            }
            if room == 0 {
                break;
            }
        }
        sized.sort_unstable();
        // Programs have much in common that counts once, and ask about each other's threads not at all.
        let mut most = (self.options.budget.saturating_mul(IN_COMMON), most_questions(self.options));
        let limit = Limit { facts: self.options.budget, ..Limit::NONE };
        loop {
            let mut all = (0, 0);
            let seem_to_fit = sized.iter().take_while(|&&(facts, questions, _)| {
                all = (all.0 + facts, all.1 + questions);
                all.0 <= most.0 && all.1 <= most.1
            });
            let mut first: Vec<usize> = seem_to_fit.map(|&(.., at)| at).collect();
            first.sort_unstable();
            let entries: Vec<MethodId> = first.iter().map(|&at| roots.entries[at]).collect();
            let survey = self.survey(&some(entries.clone()), Dependencies::Opaque, limit);
            if let (Ok(survey), _) | (Err(survey), 0) = (survey, entries.len()) {
                let left_out =
                    roots.entries.iter().copied().filter(|entry| !entries.contains(entry)).collect();
                return Surveyed { survey, refused: Some(refused), left_out };
            }
            // Those that were tried, less the largest of them.
            most = (all.0.min(most.0) / 2, all.1.min(most.1) / 2);
        }
    }
}

impl Limit {
    pub(crate) fn of_survey(options: &Options, dependencies: Dependencies) -> Limit {
        let in_dependencies = match dependencies {
            Dependencies::Analysed => options.dependency_budget,
            Dependencies::Opaque => usize::MAX,
        };
        Limit { facts: options.budget, in_dependencies, ..Limit::NONE }
    }
}

impl Refused {
    fn by(attempt: &PointsTo, program: &Program) -> Refused {
        let in_dependencies = attempt.running_in_dependencies > 0;
        let mut refused = Refused { in_dependencies, ..Refused::default() };
        refused.methods.extend(attempt.acts.items().iter().map(|(_, &Activation { method, .. })| method));
        refused.classes.extend(attempt.objects.items().iter().map(|(_, object)| object.class));
        refused.classes.extend(attempt.graph.flow.links.iter().filter_map(|(_, link)| link.filter));
        refused.classes.extend(attempt.calls.iter().filter_map(|(_, call)| match call.target {
            Target::Virtual(target) => Some(target.class),
            Target::Named(..) | Target::Fixed(_) => None,
        }));
        refused.classes.extend(attempt.rules.iter().filter_map(|(_, held)| match held.what {
            Rule::Initialised(class) | Rule::CalledBack(_, _, class) | Rule::Constructed(_, class, ..) => {
                Some(class)
            }
            _ => None,
        }));
        for method in refused.methods.iter() {
            let info = program.method(method);
            refused.classes.insert(info.class);
            refused.classes.extend(info.params.iter().flatten().chain(&info.result).copied());
            let stmts = program.lowered(method).into_iter().flat_map(|body| body.stmts.iter());
            refused.classes.extend(stmts.flat_map(|(_, stmt)| mentioned(&stmt.kind)));
        }
        let mut todo: Vec<ClassId> = refused.classes.iter().collect();
        while let Some(class) = todo.pop() {
            let class = program.class(class);
            let above = class.super_class.iter().chain(&class.interfaces).chain(&class.element);
            todo.extend(above.filter(|&&class| refused.classes.insert(class)));
        }
        refused
    }

    /// May the attempt come out otherwise after this edit?
    pub(crate) fn is_touched(&self, delta: &ProgramDelta) -> bool {
        delta.bodies.iter().any(|change| self.methods.contains(change.method))
            || delta.classes.iter().any(|change| self.classes.contains(change.class))
    }
}

/// The classes that running a statement may ask the hierarchy about.
fn mentioned(kind: &StmtKind) -> Vec<ClassId> {
    match kind {
        StmtKind::New { class, .. } | StmtKind::NewArray { class, .. } => vec![*class],
        StmtKind::Load { field, .. }
        | StmtKind::Store { field, .. }
        | StmtKind::LoadStatic { field, .. }
        | StmtKind::StoreStatic { field, .. } => vec![field.class],
        StmtKind::Call { target, .. } => vec![target.class],
        StmtKind::Lambda { interface, target, .. } => vec![*interface, target.class],
        StmtKind::Const { value: ir::Const::Other(class) | ir::Const::Class(class), .. } => vec![*class],
        StmtKind::Dynamic { class: Some(class), .. } => vec![*class],
        _ => Vec::new(),
    }
}

impl PointsTo {
    /// Counts an activation as code of a dependency, or no longer.
    pub(crate) fn count_in_dependencies(&mut self, act: Act, is_there: bool) {
        let before = std::mem::replace(&mut self.frames[act].in_dependencies, is_there);
        self.running_in_dependencies += usize::from(is_there);
        self.running_in_dependencies -= usize::from(before);
    }

    /// Classes have become those of dependencies, or no longer are.
    pub(crate) fn recount_dependencies(&mut self, program: &Program, delta: &ProgramDelta) {
        for change in delta.classes.iter().filter(|change| change.layer_changed()) {
            let is_there = program.class(change.class).layer == Layer::Library;
            let methods = [&change.old.methods, &change.new.methods].into_iter().flatten();
            let acts = methods.flat_map(|method| self.acts_of.get(method).into_iter().flatten());
            for act in acts.copied().collect::<Vec<Act>>() {
                let is_there = is_there && self.frames[act].runs;
                self.count_in_dependencies(act, is_there);
            }
        }
    }
}
