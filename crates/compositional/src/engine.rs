//! The engine as a whole: follows the classes of a class path, works out summaries callees first, and asks the rules.
//! A first run is a change in which everything is new; owns what is kept between changes.

use crate::callers::Callers;
use crate::frame::Method;
use crate::homes::{self, Homes, Touched};
use crate::link::Link;
use crate::methods::{Methods, Size, Slot};
use crate::sketch::Ahead;
use crate::stages::Stages;
use crate::stale::Stale;
use crate::summary::{Stranger, Summary};
use crate::tell::{self, Tell};
use crate::{blocking, deadlock, misuse};
use classfile::{ClassSource, Layer};
use findings::{Confidence, Finding};
use ir::{ClassId, MethodId, Program, access};
use models::{Knowledge, Models};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A program and what is known of its methods.
pub struct Compositional {
    pub(crate) link: Link,
    pub(crate) knowledge: Knowledge,
    pub(crate) methods: Methods,
    pub(crate) callers: Callers,
    /// Classes whose objects the method that makes them returns.
    pub(crate) escaping: FxHashSet<ClassId>,
    /// Classes of the application.
    pub(crate) classes: FxHashSet<ClassId>,
    /// What was found, and what has changed since.
    pub(crate) homes: Homes,
    pub(crate) touched: Touched,
    pub(crate) stages: Stages,
}

/// How much a change had to work out again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Redone {
    /// Methods whose outline is another, that came or went.
    pub outlines: usize,
    /// Methods that were summarised.
    pub summaries: usize,
    /// Of those, the ones that look other to their callers.
    pub changed: usize,
}

impl Compositional {
    /// Reads all classes of the application and summarises their methods, and those of libraries that they call.
    pub fn new(source: Arc<dyn ClassSource>, models: Models, knowledge: Knowledge) -> Compositional {
        let link = Link::new(Program::new(source.clone()), models);
        let mut engine = Compositional::with(link, knowledge, Methods::default(), FxHashSet::default());
        let all = source.app_classes();
        engine.apply(source, &all);
        engine
    }

    /// What follows from the rest is there after the next change.
    pub(crate) fn with(
        link: Link,
        knowledge: Knowledge,
        methods: Methods,
        classes: FxHashSet<ClassId>,
    ) -> Compositional {
        let (callers, escaping, homes, touched, stages) = Default::default();
        Compositional { link, knowledge, methods, callers, escaping, classes, homes, touched, stages }
    }

    /// Follows a change of the class path, given the internal names of the classes that may have come, changed or gone.
    /// Afterwards everything is as if it had been new.
    pub fn apply(&mut self, source: Arc<dyn ClassSource>, classes: &[String]) -> Redone {
        self.stages.begin();
        let ahead = Arc::new(Ahead::over(source));
        let mut stale = Stale::default();
        let before = self.change_program(&ahead, classes, &mut stale);
        let mut outlines = self.read_classes(&ahead, classes, before, &mut stale);
        self.describe_again(&mut stale);
        self.stages.end("outlines");
        self.add_mentions(&mut stale);
        self.stages.end("mentions");
        let names = stale.count_names();
        outlines += self.follow_libraries(&ahead, &mut stale);
        self.stages.end("libraries");
        // Nobody is asked before all classes and methods are there.
        self.link.forget(&stale);
        self.find_stores(&mut stale);
        self.stages.end("stores");
        if stale.count_names() != names {
            self.add_mentions(&mut stale);
            self.stages.end("mentions of stores");
        }
        let (summaries, changed) = self.summarise(&stale);
        self.stages.end("summaries");
        self.link.tidy();
        let returned = self.methods.iter().flat_map(|slot| slot.facts.escaping.iter().copied());
        let before = std::mem::replace(&mut self.escaping, returned.collect());
        let escaping: Vec<ClassId> = before.symmetric_difference(&self.escaping).copied().collect();
        self.ask_standing(&stale, &escaping);
        self.touched.classes.extend(escaping);
        self.touched.classes.extend(stale.classes.into_iter().chain(stale.locked));
        self.find_callers();
        self.stages.end("callers");
        Redone { outlines, summaries, changed }
    }

    /// Lets go of the class path, and leaves the rest to the end of the program.
    pub fn end(mut self) {
        let program = std::mem::replace(self.link.program(), Program::new(Arc::new(Nothing)));
        std::mem::forget(program.over(Arc::new(Nothing)));
        std::mem::forget(self);
    }

    /// How much there is of everything.
    pub fn sizes(&self) -> Vec<(&'static str, u64)> {
        let names = [
            "accesses in summaries",
            "locks in summaries",
            "functions in summaries",
            "calls in summaries",
            "blocking calls in summaries",
            "summaries cut",
            "calls not followed back",
        ];
        let mut counts = names.map(|_| 0);
        for slot in self.methods.iter() {
            let Size { accesses, taken, nested, runs, blocking, is_cut, .. } = slot.size;
            let locks = u64::from(taken) + u64::from(nested);
            let (calls, cut) = (slot.calls.len() as u64, slot.cut.len() as u64);
            let own = [accesses.into(), locks, runs.into(), calls, blocking.into(), is_cut.into(), cut];
            counts.iter_mut().zip(own).for_each(|(count, own)| *count += own);
        }
        std::iter::once(("summarised methods", self.methods.len() as u64))
            .chain(names.into_iter().zip(counts))
            .collect()
    }

    /// Everything the rules have to say.
    /// Those less sure than `least` are told in brief, without ways, locks and reasons.
    pub fn findings(&mut self, least: Confidence) -> Vec<Arc<Finding>> {
        self.stages.begin();
        let program = std::mem::replace(self.link.program(), Program::new(Arc::new(Nothing)));
        let (mut homes, touched) = (std::mem::take(&mut self.homes), std::mem::take(&mut self.touched));
        let found = homes::findings(self, &program, &mut homes, touched, least);
        self.stages.end("rules of memory");
        let tell = Tell { engine: self, program: &program, least };
        let (mut found, ()) = rayon::join(|| tell::together(once_each(found)), || self.open_summaries());
        found.extend(deadlock::cycles(self, &program).iter().map(|cycle| Arc::new(tell.cycle(cycle))));
        found.extend(blocking::find(self, &program).iter().map(|blocked| Arc::new(tell.blocked(blocked))));
        found.extend(misuse::find(self, &program).iter().map(|misuse| Arc::new(tell.misuse(misuse))));
        found.extend(
            self.strangers(&program)
                .into_iter()
                .map(|(method, stranger)| Arc::new(tell.stranger(method, stranger))),
        );
        *self.link.program() = program;
        self.homes = homes;
        let found = tell::sorted(found);
        self.stages.end("other rules");
        found
    }

    /// Seconds of each stage since the last time.
    pub fn take_seconds(&mut self) -> Vec<(&'static str, f64)> {
        self.stages.take()
    }

    /// Reads the summaries that rules about locks and calls ask for one by one.
    fn open_summaries(&self) {
        let is_asked = |slot: &&Slot| slot.size.nested > 0 || slot.size.may_block || slot.size.strangers > 0;
        self.methods.slots().par_iter().flatten().filter(is_asked).for_each(|slot| _ = slot.summary.get());
    }

    /// Calls of interfaces that promise nothing, in classes that promise much.
    fn strangers(&self, program: &Program) -> Vec<(MethodId, &Stranger)> {
        let of_app = |slot: &&Slot| {
            slot.size.strangers > 0
                && program.class(slot.method.class).layer == Layer::App
                && !slot.method.is_constructor
        };
        let slots = self.methods.iter().filter(of_app);
        slots
            .flat_map(|slot| {
                let mut told = FxHashSet::default();
                let all = slot.summary.get().map_or(&[][..], |summary| &summary.strangers).iter();
                all.filter(move |stranger| told.insert((stranger.receiver, stranger.interface)))
                    .map(|stranger| (slot.method.id, stranger))
            })
            .collect()
    }

    pub(crate) fn summary(&self, id: MethodId) -> Option<&Arc<Summary>> {
        self.methods.get(id)?.summary.get()
    }

    /// Does something of it run in threads that it starts?
    pub(crate) fn starts_threads(&self, id: MethodId) -> bool {
        self.methods.get(id).is_some_and(|slot| slot.size.starts)
    }

    pub(crate) fn method(&self, id: MethodId) -> Option<&Method> {
        Some(&self.methods.get(id)?.method)
    }
}

/// The same two lines are told once, by whoever is surest and nearest.
fn once_each(mut findings: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
    findings.par_sort_by(|a, b| tell::nearest(a, b));
    let (mut told, mut blamed) = (FxHashSet::default(), FxHashSet::default());
    // Whether it is told, and whether its access was told before.
    let mut judged: Vec<(bool, bool)> = Vec::with_capacity(findings.len());
    for finding in &findings {
        let mut places: Vec<_> = finding.sites.iter().map(|site| (&site.place, site.access)).collect();
        let is_again = !blamed.insert((&finding.field, places[0]));
        places.sort();
        judged.push((told.insert((finding.rule, places)), is_again));
    }
    let told = findings.into_iter().zip(judged).filter(|(_, (is_told, _))| *is_told);
    told.map(|(mut finding, (_, is_again))| {
        if is_again {
            let finding = Arc::make_mut(&mut finding);
            finding.confidence = Confidence::Low;
            finding.why.push("the same access is told already, against another".into());
        }
        finding
    })
    .collect()
}

/// Can others call it?
pub(crate) fn is_callable(program: &Program, method: MethodId) -> bool {
    let entry = program.method(method);
    entry.access & (access::PRIVATE | access::SYNTHETIC) == 0
}

/// Stands in for the program while rules look at it.
pub(crate) struct Nothing;

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
