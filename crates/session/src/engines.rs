//! Two engines, one report: what both have found is told once, with more confidence. Decides nothing about findings
//! that only one of them has.

use crate::Options;
use bytes::Bytes;
use classfile::ClassSource;
use compositional::Compositional;
use detect::{Proof, Proofs};
use findings::{Confidence, Engine, Finding, Note, Place, Report, Rule, Unguarded};
use models::{Knowledge, Models};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
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

    /// Was there anything to look at?
    pub fn is_of_use(&self) -> bool {
        self.sizes.first().is_some_and(|(_, methods)| *methods > 0)
    }
}

fn knowledge(options: &Options) -> Knowledge {
    let mut knowledge = Knowledge::builtin();
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

/// One report of both.
pub(crate) fn together(whole: &Arc<Report>, beside: &Beside, proofs: Option<&Proofs<'_>>) -> Arc<Report> {
    if beside.findings.is_empty() {
        return whole.clone();
    }
    let findings = merged(whole.findings.clone(), &beside.findings, proofs);
    let mut report = Report { findings, ..Report::clone(whole) };
    report.sort();
    Arc::new(report)
}

/// Said where both engines are wanted and one of them has nothing to begin with.
pub(crate) fn only_method_by_method() -> Note {
    let message =
        "there is no main method: looked method by method only, not from entry points; --entry names one";
    Note { kind: "no-main".into(), message: message.into(), count: 1 }
}

/// One list of what the two have found.
fn merged(
    whole: Vec<Arc<Finding>>,
    compositional: &[Arc<Finding>],
    proofs: Option<&Proofs<'_>>,
) -> Vec<Arc<Finding>> {
    let mut by_cause: FxHashMap<Cause, Vec<usize>> = FxHashMap::default();
    let mut merged = whole;
    for (number, finding) in merged.iter().enumerate() {
        for cause in causes(finding) {
            by_cause.entry(cause).or_default().push(number);
        }
    }
    for finding in compositional {
        let counts = |cause: &Cause| !matches!(cause, Cause::Lines(_)) || finding.rule == Rule::ContainerRace;
        let same = causes(finding).into_iter().filter(counts);
        let same = same.into_iter().find_map(|cause| by_cause.get(&cause)?.first().copied());
        match same {
            Some(number) => merged[number] = Arc::new(both(&merged[number], finding)),
            None => match proofs.and_then(|proofs| proof(finding, proofs)) {
                Some(proof) => {
                    let discharged = Some(proof.text().to_owned());
                    merged.push(Arc::new(Finding { discharged, ..Finding::clone(finding) }));
                }
                None => merged.push(finding.clone()),
            },
        }
    }
    merged
}

/// The fields about which findings of the compositional engine are, as far as they can be discharged.
pub(crate) fn fields(beside: &Beside) -> FxHashSet<&str> {
    beside
        .findings
        .iter()
        .filter(|finding| is_race(finding))
        .filter_map(|finding| finding.field.as_deref())
        .collect()
}

fn is_race(finding: &Finding) -> bool {
    matches!(finding.rule, Rule::Race | Rule::UnprotectedWrite)
}

/// Why none of the pairs that a finding stands for can happen.
fn proof(finding: &Finding, proofs: &Proofs<'_>) -> Option<Proof> {
    let field = finding.field.as_deref().filter(|_| is_race(finding))?;
    let [first, second] = finding.sites.as_slice() else { return None };
    let own = (&first.place, &second.place);
    let also = finding.also.iter().map(|(a, b)| (a, b));
    let mut weakest = None;
    for (a, b) in std::iter::once(own).chain(also) {
        let proof = proofs.of(field, [a, b])?;
        weakest = Some(weakest.map_or(proof, |known: Proof| known.min(proof)));
    }
    weakest
}

/// What two findings have in common that are about the same thing: the memory and two places, or two methods; the
/// methods that take the locks of a cycle.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Cause {
    Places(Option<String>, Vec<Place>),
    Lines(Vec<Place>),
    Methods(Option<String>, Vec<String>),
    Locks(Vec<String>),
}

fn causes(finding: &Finding) -> Vec<Cause> {
    let mut methods: Vec<String> = finding.sites.iter().map(|site| site.method.clone()).collect();
    methods.sort();
    if finding.rule == Rule::Deadlock {
        methods.dedup();
        return vec![Cause::Locks(methods)];
    }
    let own = finding.sites.iter().map(|site| site.place.clone()).collect();
    let also = finding.also.iter().map(|(a, b)| vec![a.clone(), b.clone()]);
    let mut pairs: Vec<Vec<Place>> = std::iter::once(own).chain(also).collect();
    pairs.iter_mut().for_each(|places| places.sort());
    // One cause may be about several fields.
    let fields = finding.field.iter().chain(&finding.fields);
    let fields: BTreeSet<Option<&String>> = fields.map(Some).collect();
    let fields = if fields.is_empty() { BTreeSet::from([None]) } else { fields };
    let mut causes = Vec::new();
    for field in fields {
        let places = pairs.iter().map(|places| Cause::Places(field.cloned(), places.clone()));
        causes.extend(places.chain([Cause::Methods(field.cloned(), methods.clone())]));
    }
    // A container has another name in each engine: by its class, or by the field that has it.
    causes.extend(pairs.into_iter().map(Cause::Lines));
    causes
}

fn both(whole: &Finding, compositional: &Finding) -> Finding {
    let mut finding = whole.clone();
    if !finding.engines.contains(&Engine::Compositional) {
        finding.engines.push(Engine::Compositional);
        finding.why.push("both engines have found it, each in its own way".into());
    }
    finding.confidence = raised(whole.confidence.min(compositional.confidence));
    finding.fix.extend(compositional.fix.iter().filter(|fix| !whole.fix.contains(fix)).cloned());
    // A container has another name in each engine: one access is one entry.
    let is_known = |one: &Unguarded| {
        let is_same = |known: &Unguarded| {
            (known.access, &known.method, &known.place) == (one.access, &one.method, &one.place)
        };
        whole.unguarded.iter().any(is_same)
    };
    let more = compositional.unguarded.iter().filter(|one| !is_known(one)).cloned();
    finding.unguarded = Unguarded::listed(whole.unguarded.iter().cloned().chain(more));
    for (site, other) in finding.sites.iter_mut().zip(&compositional.sites) {
        if site.place == other.place {
            site.concurrent.clone_from(&other.concurrent);
        }
    }
    finding
}

/// Two that agree are believed more than each alone.
fn raised(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::Low => Confidence::Medium,
        Confidence::Medium | Confidence::High => Confidence::High,
    }
}
