//! What annotations in the application's classes suppress. Reads class files and nothing else; which findings there are
//! is not its business.

use classfile::{Annotation, ClassFile, ClassSource};
use findings::{Covers, Note, Rule, Suppression};
use rayon::prelude::*;

/// By their simple names, in any package.
const SUPPRESSES: [&str; 2] = ["SuppressFBWarnings", "SuppressLint"];
/// Without this in its bytes, a class has none of them.
const SIGN: &[u8] = b"Suppress";

/// Suppressions that name Snarl or one of its rules, and notes about rules that are not known.
pub fn annotated(source: &(dyn ClassSource + Sync)) -> (Vec<Suppression>, Vec<Note>) {
    let classes = source.app_classes();
    let found: Vec<Found> =
        classes.par_iter().flat_map_iter(|name| of_class(source, name, &classes)).collect();
    let mut all = (Vec::new(), Vec::new());
    for one in found {
        all.0.extend(one.suppression);
        all.1.extend(one.notes);
    }
    all
}

#[derive(Default)]
struct Found {
    suppression: Option<Suppression>,
    notes: Vec<Note>,
}

fn of_class(source: &(dyn ClassSource + Sync), name: &str, classes: &[String]) -> Vec<Found> {
    let Some(found) = source.find(name).filter(|found| has_sign(&found.bytes)) else { return Vec::new() };
    let Ok(class) = classfile::parse(&found.bytes) else { return Vec::new() };
    let shown = name.replace('/', ".");
    let mut all = Vec::new();
    let mut add = |annotations: &[Annotation<'_>], place: &str, covers: &dyn Fn() -> Vec<Covers>| {
        all.extend(annotations.iter().filter_map(|annotation| read(annotation, place, covers)));
    };
    add(&class.annotations, &shown, &|| {
        let inner = format!("{name}$");
        let others = classes.iter().filter(|other| other.starts_with(&inner));
        let inner = others.filter_map(|other| lines_of_class(source, other));
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
fn read(annotation: &Annotation<'_>, place: &str, covers: &dyn Fn() -> Vec<Covers>) -> Option<Found> {
    let class = annotation.descriptor.strip_prefix('L')?.strip_suffix(';')?;
    let simple = class.rsplit(['/', '$']).next()?;
    let name = SUPPRESSES.into_iter().find(|name| *name == simple)?;
    let named = |element: &str| {
        let values = annotation.values.iter().filter(move |(name, _)| *name == *element);
        values.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    let place = format!("@{name} at {place}");
    let mut found = Found::default();
    let (mut rules, mut is_ours) = (Vec::new(), false);
    for value in named("value") {
        match (value, value.strip_prefix("snarl:")) {
            ("snarl", _) => {
                return Some(Found {
                    suppression: Some(suppression(vec![], covers(), place, &named)),
                    ..found
                });
            }
            (_, Some(rule)) => match Rule::named(rule) {
                Some(rule) => rules.push(rule),
                None => found.notes.push(unknown(rule, &place)),
            },
            // Other tools have names of their own.
            (other, None) => rules.extend(Rule::named(other)),
        }
        is_ours |= !rules.is_empty() || !found.notes.is_empty();
    }
    if !rules.is_empty() {
        found.suppression = Some(suppression(rules, covers(), place, &named));
    }
    is_ours.then_some(found)
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
