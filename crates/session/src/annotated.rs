//! What annotations in the application's classes suppress. Reads class files and nothing else; which findings there are
//! is not its business.

use classfile::{Annotation, ClassBytes, ClassFile, ClassSource, Layer};
use findings::{Covers, Note, Rule, Suppression};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// By their simple names, in any package.
const SUPPRESSES: [&str; 2] = ["SuppressFBWarnings", "SuppressLint"];
/// Without this in its bytes, a class has none of them.
const SIGN: &[u8] = b"Suppress";

/// What the annotations of a program say.
#[derive(Default)]
pub struct Annotated {
    /// By class; only for classes where they say something.
    said: BTreeMap<String, Vec<Said>>,
    /// Stamps of classes in which nothing is said, whatever they are called.
    silent: FxHashSet<u64>,
}

#[derive(Default)]
struct Said {
    suppression: Option<Suppression>,
    notes: Vec<Note>,
}

impl Annotated {
    /// `silent` are the stamps of classes of which it is known that nothing is said in them ([`Annotated::silent`]).
    pub fn of(source: &(dyn ClassSource + Sync), silent: Vec<u64>) -> Annotated {
        let mut annotated = Annotated { silent: silent.into_iter().collect(), ..Annotated::default() };
        annotated.read(source, &source.app_classes());
        annotated
    }

    /// Stamps of classes in which nothing is said, for a later run, in ascending order.
    pub fn silent(&self) -> Vec<u64> {
        let mut stamps: Vec<u64> = self.silent.iter().copied().collect();
        stamps.sort_unstable();
        stamps
    }

    /// The same after these classes have appeared, changed or gone.
    pub fn follow(&mut self, source: &(dyn ClassSource + Sync), changed: &[String]) {
        // What is said about a class is about those in it as well.
        let has_changed = |class: &&String| changed.iter().any(|name| is_in(name, class));
        let around: Vec<String> = self.said.keys().filter(has_changed).cloned().collect();
        changed.iter().chain(&around).for_each(|name| _ = self.said.remove(name));
        self.read(source, &[changed, &around].concat());
    }

    /// Suppressions that name Snarl or one of its rules.
    pub fn suppressions(&self) -> impl Iterator<Item = &Suppression> {
        self.said.values().flatten().filter_map(|said| said.suppression.as_ref())
    }

    /// About rules that there are not.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.said.values().flatten().flat_map(|said| &said.notes)
    }

    fn read(&mut self, source: &(dyn ClassSource + Sync), names: &[String]) {
        let said = |name: &String| {
            let stamp = source.stamp(name);
            let is_silent = stamp.is_some_and(|stamp| self.silent.contains(&stamp));
            (!is_silent).then(|| (stamp, name.clone(), of_class(source, name)))
        };
        let found: Vec<_> = names.par_iter().filter_map(said).collect();
        for (stamp, name, said) in found {
            if said.is_empty() {
                self.silent.extend(stamp);
            } else {
                self.said.insert(name, said);
            }
        }
    }
}

/// Whether a class is inside another.
fn is_in(name: &str, class: &str) -> bool {
    name.strip_prefix(class).is_some_and(|rest| rest.starts_with('$'))
}

fn of_class(source: &(dyn ClassSource + Sync), name: &str) -> Vec<Said> {
    let is_candidate = |found: &ClassBytes| found.layer == Layer::App && has_sign(&found.bytes);
    let Some(found) = source.find(name).filter(is_candidate) else { return Vec::new() };
    let Ok(class) = classfile::parse(&found.bytes) else { return Vec::new() };
    let shown = name.replace('/', ".");
    let mut all = Vec::new();
    let mut add = |annotations: &[Annotation<'_>], place: &str, covers: &dyn Fn() -> Vec<Covers>| {
        all.extend(annotations.iter().filter_map(|annotation| read(annotation, place, covers)));
    };
    add(&class.annotations, &shown, &|| {
        let classes = source.app_classes();
        let inner = classes.iter().filter(|other| is_in(other, name));
        let inner = inner.filter_map(|other| lines_of_class(source, other));
        let lines = lines(&class, |_| true).into_iter().chain(inner).reduce(around);
        lines.into_iter().chain([Covers::FieldsOf(shown.clone())]).collect()
    });
    for field in &class.fields {
        let name = format!("{shown}.{}", field.name);
        add(&field.annotations, &name, &|| vec![Covers::Field(name.clone())]);
    }
    for method in &class.methods {
        let lambda = format!("lambda${}$", method.name);
        let is_in = |other: &classfile::Method<'_>| {
            other.name.starts_with(&lambda)
                || other.name == method.name && other.descriptor == method.descriptor
        };
        let place = format!("{shown}.{}", method.name);
        add(&method.annotations, &place, &|| lines(&class, is_in).into_iter().collect());
    }
    all
}

fn has_sign(bytes: &[u8]) -> bool {
    bytes.windows(SIGN.len()).any(|part| part == SIGN)
}

fn lines_of_class(source: &(dyn ClassSource + Sync), name: &str) -> Option<Covers> {
    let found = source.find(name)?;
    lines(&classfile::parse(&found.bytes).ok()?, |_| true)
}

/// From the first to the last line of the methods that are meant.
fn lines(class: &ClassFile<'_>, is_meant: impl Fn(&classfile::Method<'_>) -> bool) -> Option<Covers> {
    let package = class.name.rsplit_once('/').map_or(String::new(), |(package, _)| format!("{package}/"));
    let file = format!("{package}{}", class.source_file.as_ref()?);
    let code =
        class.methods.iter().filter(|method| is_meant(method)).filter_map(|method| method.code.as_ref());
    let lines: Vec<u32> = code.flat_map(|code| &code.lines).map(|(_, line)| u32::from(*line)).collect();
    Some(Covers::Lines { file, from: *lines.iter().min()?, to: *lines.iter().max()? })
}

/// The lines of both, which are in one file.
fn around(one: Covers, other: Covers) -> Covers {
    match (one, other) {
        (Covers::Lines { file, from, to }, Covers::Lines { from: first, to: last, .. }) => {
            Covers::Lines { file, from: from.min(first), to: to.max(last) }
        }
        (one, _) => one,
    }
}

/// None if it is about something else.
fn read(annotation: &Annotation<'_>, place: &str, covers: &dyn Fn() -> Vec<Covers>) -> Option<Said> {
    let class = annotation.descriptor.strip_prefix('L')?.strip_suffix(';')?;
    let simple = class.rsplit(['/', '$']).next()?;
    let name = SUPPRESSES.into_iter().find(|name| *name == simple)?;
    let named = |element: &str| {
        let values = annotation.values.iter().filter(move |(name, _)| *name == *element);
        values.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    let place = format!("@{name} at {place}");
    let mut said = Said::default();
    let (mut rules, mut is_ours) = (Vec::new(), false);
    for value in named("value") {
        match (value, value.strip_prefix("snarl:")) {
            ("snarl", _) => {
                return Some(Said {
                    suppression: Some(suppression(vec![], covers(), place, &named)),
                    ..said
                });
            }
            (_, Some(rule)) => match Rule::named(rule) {
                Some(rule) => rules.push(rule),
                None => said.notes.push(unknown(rule, &place)),
            },
            // Other tools have names of their own.
            (other, None) => rules.extend(Rule::named(other)),
        }
        is_ours |= !rules.is_empty() || !said.notes.is_empty();
    }
    if !rules.is_empty() {
        said.suppression = Some(suppression(rules, covers(), place, &named));
    }
    is_ours.then_some(said)
}

fn suppression<'v>(
    rules: Vec<Rule>,
    covers: Vec<Covers>,
    place: String,
    named: &dyn Fn(&str) -> Vec<&'v str>,
) -> Suppression {
    let reason = named("justification").first().map_or("annotated", |reason| reason).to_owned();
    Suppression { rules, covers, reason, place }
}

fn unknown(rule: &str, place: &str) -> Note {
    let known = Rule::ALL.map(Rule::id).join(", ");
    let message = format!("{place} names the rule `{rule}`, which there is not; there are {known}");
    Note { kind: "unknown-rule".to_owned(), message, count: 1 }
}
