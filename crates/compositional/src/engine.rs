//! The engine as a whole: reads classes, makes outlines, works out summaries callees first, and asks the rules.
//! Owns what is kept between those steps.

use crate::callers::Callers;
use crate::frame::{Method, summarise};
use crate::link::{Link, name_digest};
use crate::order;
use crate::outline::{Event, Outline, Value};
use crate::path::Path;
use crate::race;
use crate::summary::{Stranger, Summary, Thread};
use crate::tell::{self, Tell};
use crate::{blocking, deadlock, entry, evidence};
use classfile::{ClassSource, Layer};
use findings::{Confidence, Finding};
use ir::{ClassId, Loaded, MethodId, Program, access};
use models::{Knowledge, Models, Says};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// What one run works on and ends with.
pub struct Compositional {
    pub(crate) link: Link,
    pub(crate) knowledge: Knowledge,
    pub(crate) methods: Vec<Method>,
    pub(crate) numbers: FxHashMap<MethodId, u32>,
    pub(crate) summaries: Vec<Option<Arc<Summary>>>,
    pub(crate) callers: Callers,
    /// Classes whose objects the method that makes them returns.
    pub(crate) escaping: FxHashSet<ClassId>,
    /// Classes of the application, in the order of their names.
    pub(crate) classes: Vec<ClassId>,
}

/// Methods that call each other are looked at again until nothing changes, or so often.
const MOST_ROUNDS: usize = 8;

impl Compositional {
    /// Reads all classes of the application and summarises their methods, and those of libraries that they call.
    pub fn new(source: Arc<dyn ClassSource>, models: Models, knowledge: Knowledge) -> Compositional {
        let program = Program::new(source.clone());
        let mut engine = Compositional {
            link: Link::new(program, models),
            knowledge,
            methods: Vec::new(),
            numbers: FxHashMap::default(),
            summaries: Vec::new(),
            callers: Callers::default(),
            escaping: FxHashSet::default(),
            classes: Vec::new(),
        };
        for name in source.app_classes() {
            let program = engine.link.program();
            let class = program.class_id(&name);
            program.load(class);
            engine.classes.push(class);
        }
        for class in engine.classes.clone() {
            engine.add_class(class);
            engine.note_quiet(class);
        }
        engine.add_libraries();
        crate::fields::find(&mut engine.link, &engine.methods);
        engine.summarise();
        engine.find_callers();
        engine
    }

    /// How much there is of everything.
    pub fn sizes(&self) -> Vec<(&'static str, u64)> {
        let summaries = || self.summaries.iter().flatten();
        let sum =
            |count: fn(&Summary) -> usize| summaries().map(|summary| count(summary) as u64).sum::<u64>();
        vec![
            ("summarised methods", self.methods.len() as u64),
            ("accesses in summaries", sum(|summary| summary.accesses.len())),
            ("locks in summaries", sum(|summary| summary.taken.len() + summary.nested.len())),
            ("functions in summaries", sum(|summary| summary.runs.len())),
            ("calls in summaries", sum(|summary| summary.calls.len())),
            ("blocking calls in summaries", sum(|summary| summary.blocking.len())),
            ("summaries cut", summaries().filter(|summary| summary.is_cut).count() as u64),
        ]
    }

    /// Everything the rules have to say.
    /// Those less sure than `least` are told in brief, without ways, locks and reasons.
    pub fn findings(&mut self, least: Confidence) -> Vec<Arc<Finding>> {
        let program = std::mem::replace(self.link.program(), Program::new(Arc::new(Nothing)));
        let entries = entry::entries(self, &program);
        let tell = Tell { engine: self, program: &program, least };
        let mut found: Vec<Finding> = race::conflicts(self, &program, &entries)
            .iter()
            .map(|conflict| tell.conflict(conflict))
            .collect();
        found = tell::together(once_each(found));
        found.extend(deadlock::cycles(self, &program).iter().map(|cycle| tell.cycle(cycle)));
        found.extend(blocking::find(self, &program).iter().map(|blocked| tell.blocked(blocked)));
        found.extend(
            self.strangers(&program).into_iter().map(|(method, stranger)| tell.stranger(method, stranger)),
        );
        *self.link.program() = program;
        tell::sorted(found)
    }

    /// Calls of interfaces that promise nothing, in classes that promise much.
    fn strangers(&self, program: &Program) -> Vec<(MethodId, &Stranger)> {
        let of_app =
            |method: &&Method| program.class(method.class).layer == Layer::App && !method.is_constructor;
        let methods = self.methods.iter().filter(of_app);
        methods
            .flat_map(|method| {
                let mut told = FxHashSet::default();
                let all = self.summary(method.id).map_or(&[][..], |summary| &summary.strangers).iter();
                all.filter(move |stranger| told.insert((stranger.receiver, stranger.interface)))
                    .map(|stranger| (method.id, stranger))
            })
            .collect()
    }

    fn add_class(&mut self, class: ClassId) {
        let methods = self.link.program().class(class).methods.clone();
        for method in methods {
            self.add_method(method);
        }
    }

    /// Interfaces that are marked as safe, or as doing nothing but compute.
    fn note_quiet(&mut self, class: ClassId) {
        let program = self.link.program.get_mut().expect("nobody panics with it");
        let says = |note: &ir::Annotation| {
            let said = self.knowledge.says(&program.names[note.class]);
            said.iter().any(|says| matches!(says, Says::ThreadSafe | Says::Immutable | Says::Functional))
        };
        let is_quiet = program.class(class).annotations.iter().any(says);
        let is_functional = |note: &ir::Annotation| {
            self.knowledge.says(&program.names[note.class]).contains(&Says::Functional)
        };
        let methods = program.class(class).methods.iter().copied();
        let functional: Vec<MethodId> =
            methods.filter(|&method| program.method(method).annotations.iter().any(is_functional)).collect();
        if is_quiet {
            self.link.add_quiet(class);
        }
        functional.into_iter().for_each(|method| self.link.add_functional(method));
    }

    fn add_method(&mut self, id: MethodId) {
        if self.numbers.contains_key(&id) {
            return;
        }
        let program = self.link.program();
        let Some(body) = program.body_once(id) else { return };
        let outline = Arc::new(Outline::of(&body));
        for event in &outline.events {
            if let Event::Return(value) = event
                && let Value::Made(class) = outline.values[*value as usize]
            {
                self.escaping.insert(class);
            }
        }
        let method = self.described(id, outline);
        self.link.add_method(id);
        self.link.add_fields(&method.outline);
        self.numbers.insert(id, self.methods.len() as u32);
        self.methods.push(method);
        self.summaries.push(None);
    }

    fn described(&mut self, id: MethodId, outline: Arc<Outline>) -> Method {
        let program = self.link.program.get_mut().expect("nobody panics with it");
        let entry = program.method(id);
        let (name, _) = program.selector_text(entry.selector);
        let says = |says: Says| {
            entry
                .annotations
                .iter()
                .any(|note| self.knowledge.says(&program.names[note.class]).contains(&says))
        };
        let of_class = |says: Says| {
            let class = program.class(entry.class);
            class
                .annotations
                .iter()
                .any(|note| self.knowledge.says(&program.names[note.class]).contains(&says))
        };
        let thread = match () {
            () if says(Says::MainThread) => Thread::Main,
            () if says(Says::BackgroundThread) => Thread::Background,
            () if says(Says::AnyThread) => Thread::Unknown,
            () if of_class(Says::MainThread) => Thread::Main,
            () => Thread::Unknown,
        };
        let is_static = entry.is_static();
        let mut needs = Vec::new();
        if says(Says::GuardedBy) {
            needs.push(crate::guard::of_method(program, &self.knowledge, id).unwrap_or(Path::UNKNOWN));
        } else if self.knowledge.says_held(name) {
            needs.push(Path::UNKNOWN);
        }
        Method {
            id,
            class: entry.class,
            outline,
            is_static,
            is_synchronized: entry.is_synchronized(),
            is_constructor: name == "<init>",
            is_initializer: name == "<clinit>",
            is_declared_safe: of_class(Says::ThreadSafe),
            thread,
            needs,
            returns_new: says(Says::ReturnsOwnership),
            digest: name_digest(program, program.method_ref(id)),
        }
    }

    /// Methods of libraries that are called from what is there.
    fn add_libraries(&mut self) {
        let mut next = 0;
        while next < self.methods.len() {
            let outline = self.methods[next].outline.clone();
            next += 1;
            for event in &outline.events {
                let Event::Call { target, .. } = event else { continue };
                let program = self.link.program();
                let Some(method) = program.resolve_method(*target) else { continue };
                let class = program.method_ref(method).class;
                let class = program.class(class);
                if class.layer == Layer::Library && class.loaded == Loaded::Yes {
                    self.add_method(method);
                }
            }
        }
    }

    /// Who is asked for when a method is summarised.
    fn needs(&self, method: &Method) -> Vec<u32> {
        let outline = &*method.outline;
        let mut needs: Vec<MethodId> = Vec::new();
        for event in &outline.events {
            let Event::Call { target, kind, args } = event else { continue };
            let receiver = args.first().filter(|_| *kind == ir::CallKind::Virtual);
            let class = receiver.and_then(|&value| self.link.class_of(outline, value));
            needs.extend(&self.link.callee(*target, *kind, class).targets);
            for class in args.iter().filter_map(|&arg| self.link.class_of(outline, arg)) {
                needs.extend(self.link.answers(class).iter());
            }
        }
        for lambda in &outline.lambdas {
            let kind = lambda.call_kind();
            let class = lambda.captures.first().and_then(|&value| self.link.class_of(outline, value));
            let class = class.filter(|_| kind == ir::CallKind::Virtual);
            needs.extend(&self.link.callee(lambda.target, kind, class).targets);
        }
        for value in &outline.values {
            if let Value::Made(class) = value {
                needs.extend(self.link.answers(*class).iter());
            }
        }
        let mut numbers: Vec<u32> = needs.iter().filter_map(|id| self.numbers.get(id).copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn summarise(&mut self) {
        let needs: Vec<Vec<u32>> = self.methods.par_iter().map(|method| self.needs(method)).collect();
        for level in order::levels(&needs) {
            let done: Vec<Vec<(u32, Arc<Summary>)>> =
                level.par_iter().map(|group| self.group(group, &needs)).collect();
            for (number, summary) in done.into_iter().flatten() {
                self.summaries[number as usize] = Some(summary);
                // Only where things are is asked for later.
                let Outline { lines, names, .. } = &*self.methods[number as usize].outline;
                let (lines, names) = (lines.clone(), names.clone());
                self.methods[number as usize].outline =
                    Arc::new(Outline { lines, names, ..Outline::default() });
            }
        }
    }

    /// Methods that need each other, until nothing changes.
    fn group(&self, group: &[u32], needs: &[Vec<u32>]) -> Vec<(u32, Arc<Summary>)> {
        let mut group = group.to_vec();
        group.sort_by_key(|&number| self.methods[number as usize].digest);
        let mut inside: FxHashMap<u32, Arc<Summary>> = FxHashMap::default();
        let is_alone = group.len() == 1 && !needs[group[0] as usize].contains(&group[0]);
        for _ in 0..MOST_ROUNDS {
            let mut is_settled = true;
            for &number in &group {
                let known = |id: MethodId| {
                    let number = *self.numbers.get(&id)?;
                    inside.get(&number).cloned().or_else(|| self.summaries[number as usize].clone())
                };
                let summary = summarise(&self.link, &self.knowledge, &known, &self.methods[number as usize]);
                is_settled &= inside.get(&number).is_some_and(|before| before.digest == summary.digest);
                inside.insert(number, Arc::new(summary));
            }
            if is_settled || is_alone {
                break;
            }
        }
        group.into_iter().filter_map(|number| Some((number, inside.remove(&number)?))).collect()
    }

    fn find_callers(&mut self) {
        let program = self.link.program.lock().expect("nobody panics with it");
        let (mut nameless, mut elsewhere, mut tasks) =
            (FxHashSet::default(), FxHashSet::default(), FxHashSet::default());
        let mut is_task: FxHashMap<ClassId, bool> = FxHashMap::default();
        for method in &self.methods {
            let is_task = *is_task
                .entry(method.class)
                .or_insert_with(|| evidence::of_class(&program, &self.knowledge, method.class).is_task);
            let selector = program.method_ref(method.id).selector;
            if !is_task
                && entry::is_nameless(&program, method.class)
                && !self.escaping.contains(&method.class)
            {
                nameless.insert(method.id);
            }
            if is_task && evidence::is_task(program.selector_text(selector).0) {
                tasks.insert(method.id);
            } else if self.link.is_called_elsewhere(&program, method.id) {
                elsewhere.insert(method.id);
            }
        }
        drop(program);
        let (nameless, elsewhere, tasks) = (&nameless, &elsewhere, &tasks);
        self.callers = crate::callers::find(self, &crate::callers::Asked { nameless, elsewhere, tasks });
    }

    pub(crate) fn summary(&self, id: MethodId) -> Option<&Arc<Summary>> {
        self.summaries[*self.numbers.get(&id)? as usize].as_ref()
    }

    pub(crate) fn method(&self, id: MethodId) -> Option<&Method> {
        Some(&self.methods[*self.numbers.get(&id)? as usize])
    }
}

/// The same two lines are told once, by whoever is surest and nearest.
fn once_each(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_cached_key(|finding| {
        let length: usize = finding.sites.iter().map(|site| site.trace.len()).sum();
        (finding.confidence, length, finding.id.clone())
    });
    let (mut told, mut blamed) = (FxHashSet::default(), FxHashSet::default());
    findings.retain_mut(|finding| {
        let mut places: Vec<_> = finding.sites.iter().map(|site| (site.place.clone(), site.access)).collect();
        let first = places[0].clone();
        places.sort();
        if !blamed.insert((finding.field.clone(), first)) {
            finding.confidence = Confidence::Low;
            finding.why.push("the same access is told already, against another".into());
        }
        told.insert((finding.rule, places))
    });
    findings
}

/// Can others call it?
pub(crate) fn is_callable(program: &Program, method: MethodId) -> bool {
    let entry = program.method(method);
    entry.access & (access::PRIVATE | access::SYNTHETIC) == 0
}

/// Stands in for the program while rules look at it.
struct Nothing;

impl ClassSource for Nothing {
    fn find(&self, _: &str) -> Option<classfile::ClassBytes> {
        None
    }

    fn app_classes(&self) -> Vec<String> {
        Vec::new()
    }

    fn resources(&self, _: &str) -> Vec<Vec<u8>> {
        Vec::new()
    }
}
