//! Which engines look at a program, and the compositional one with what it has to say. How findings of both become one
//! report is decided in `merge`.

use crate::Options;
use bytes::Bytes;
use classfile::ClassSource;
use compositional::Compositional;
use findings::{Finding, Note, Report};
use models::{Assumed, Knowledge, Models};
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// Which engines look at a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Engines {
    Both,
    /// From the entry points, with points-to and order.
    #[default]
    WholeProgram,
    /// Method by method, without entry points.
    Compositional,
}

impl Engines {
    pub(crate) fn whole_program(self) -> bool {
        self != Engines::Compositional
    }

    pub(crate) fn compositional(self) -> bool {
        self != Engines::WholeProgram
    }
}

/// Whether annotations can mean this.
pub fn is_meaning(word: &str) -> bool {
    Knowledge::builtin().add_annotation(word, "Any").is_ok()
}

/// The compositional engine and what it has to say.
#[derive(Default)]
pub(crate) struct Beside {
    /// Nothing where nobody will ask again.
    engine: Option<Compositional>,
    findings: Vec<Arc<Finding>>,
    pub sizes: Vec<(String, u64)>,
    pub redone: compositional::Redone,
    /// Of the last time, stage by stage.
    pub seconds: Vec<(String, f64)>,
    /// It went on from an earlier run.
    is_recalled: bool,
}

/// Where at most one in so many methods was summarised again, what was kept is as good as what there is now.
const FEW: usize = 50;

impl Beside {
    pub fn of(source: Arc<dyn ClassSource>, models: Models, options: &Options) -> Beside {
        let engine = Compositional::new(source, models, knowledge(options));
        let mut beside = Beside { engine: Some(engine), ..Beside::default() };
        beside.ask(options);
        if !options.follow && !options.keep {
            beside.engine = None;
        }
        beside
    }

    /// Goes on from the state of an earlier run. `None` if that is of no use.
    pub fn recall(
        state: Bytes,
        source: Arc<dyn ClassSource>,
        models: Models,
        options: &Options,
    ) -> Option<Beside> {
        let (engine, redone) = Compositional::recall(state, source, models, knowledge(options))?;
        let mut beside = Beside { engine: Some(engine), redone, is_recalled: true, ..Beside::default() };
        beside.ask(options);
        Some(beside)
    }

    /// For who asks now and then.
    pub fn engine(&self) -> Option<&Compositional> {
        self.engine.as_ref()
    }

    /// Whether there is something that a later run should go on from: not if it went on from a state that still does.
    pub fn is_worth_keeping(&self) -> bool {
        let methods = self.sizes.first().map_or(0, |(_, methods)| *methods as usize);
        let is_as_good = self.is_recalled && self.redone.summaries.max(self.redone.outlines) * FEW < methods;
        self.engine.is_some() && !is_as_good
    }

    /// Nobody will ask any more, and the program ends.
    pub fn end(&mut self) {
        self.engine.take().into_iter().for_each(Compositional::end);
    }

    /// Writes what [`Beside::recall`] goes on from.
    pub fn write(&mut self, to: &mut (dyn Write + Send)) -> io::Result<()> {
        self.engine.as_mut().map_or(Ok(()), |engine| engine.write(to))
    }

    /// Follows a change of the class path. `models` are for who has to begin.
    pub fn follow(
        &mut self,
        source: Arc<dyn ClassSource>,
        classes: &[String],
        models: Option<Models>,
        options: &Options,
    ) {
        match (&mut self.engine, models) {
            (Some(engine), _) => {
                self.redone = engine.apply(source, classes);
                self.is_recalled = false;
                self.ask(options);
            }
            (None, models) => *self = Beside::of(source, models.unwrap_or_default(), options),
        }
    }

    fn ask(&mut self, options: &Options) {
        let Some(engine) = &mut self.engine else { return };
        let told = std::mem::take(&mut self.findings);
        self.findings = as_before(told, engine.findings(options.least));
        let seconds = engine.take_seconds().into_iter();
        self.seconds = seconds.map(|(stage, seconds)| (stage.to_owned(), seconds)).collect();
        self.sizes = engine.sizes().into_iter().map(|(name, size)| (name.to_owned(), size)).collect();
    }

    pub fn findings(&self) -> &[Arc<Finding>] {
        &self.findings
    }

    /// What it has found, as a report of its own.
    pub fn alone(&self) -> Arc<Report> {
        let findings = crate::merge::merged(&[], &self.findings, None);
        let mut report = Report { findings, ..Report::default() };
        report.sort();
        Arc::new(report)
    }

    /// Was there anything to look at?
    pub fn is_of_use(&self) -> bool {
        self.sizes.first().is_some_and(|(_, methods)| *methods > 0)
    }
}

/// What annotations and settings mean.
pub(crate) fn knowledge(options: &Options) -> Knowledge {
    let mut knowledge = Knowledge::builtin();
    knowledge.assumed = Assumed::new(&options.assume);
    for (meaning, name) in &options.annotations {
        // What nothing is known to mean means nothing; whoever asks has checked it.
        let _ = knowledge.add_annotation(meaning, name);
    }
    knowledge
}

/// What is told as before is the same finding.
fn as_before(before: Vec<Arc<Finding>>, now: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
    let known: FxHashMap<String, Arc<Finding>> =
        before.into_iter().map(|finding| (finding.id.clone(), finding)).collect();
    let same = |finding: Arc<Finding>| match known.get(&finding.id) {
        Some(known) if *known == finding => known.clone(),
        _ => finding,
    };
    now.into_iter().map(same).collect()
}

/// Said where both engines are wanted and one of them has nothing to begin with.
pub(crate) fn only_method_by_method() -> Note {
    let message =
        "there is no main method: looked method by method only, not from entry points; --entry names one";
    Note { kind: "no-main".into(), message: message.into(), count: 1 }
}
