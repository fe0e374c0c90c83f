//! What the user should know about the run: everything that was not understood, not found or assumed, counted.

use crate::Options;
use crate::needed::{Needed, is_needed};
use findings::Note;
use happens_before::{HappensBefore, OriginKind};
use ir::{Problem, Program};
use pointsto::{Gaps, PointsTo};
use std::collections::BTreeMap;

/// A part of a program that starts no thread has no races of its own, which says nothing about its callers.
pub(crate) fn one_thread(happens_before: &HappensBefore) -> Option<Note> {
    let is_task =
        happens_before.origins().any(|origin| happens_before.origin(origin).kind == OriginKind::Task);
    let message = "no second thread is started from here, so that nothing can race; name an entry point that starts some";
    (!is_task).then(|| Note { kind: "one-thread".into(), message: message.into(), count: 1 })
}

pub(crate) fn collect(program: &Program, options: &Options, pointsto: &PointsTo, gaps: &Gaps) -> Vec<Note> {
    let mut counted: BTreeMap<(&'static str, String), u64> = BTreeMap::new();
    // What only an attempt came across that was given up is not missed.
    let needed = gaps.is_cut.then(|| Needed::of(program, options, [pointsto].into_iter()));
    let is_missed =
        |problem: &&Problem| needed.as_ref().is_none_or(|needed| is_needed(needed, program, problem));
    for problem in program.problems.iter().filter(is_missed) {
        let (kind, message) = match problem {
            Problem::MissingClass(class) => {
                ("missing-class", format!("{} is not on the class path", program.class_display(*class)))
            }
            Problem::CorruptClass(class, why) => {
                ("corrupt-class", format!("{} cannot be read: {why}", program.class_display(*class)))
            }
            Problem::NewerVersion(class, major) => (
                "newer-class-version",
                format!(
                    "{} has class-file version {major}, newer than known; read as far as possible",
                    program.class_display(*class)
                ),
            ),
            Problem::CyclicHierarchy(class) => (
                "cyclic-hierarchy",
                format!("{} is its own supertype; the cycle was cut", program.class_display(*class)),
            ),
            Problem::Body(method, why) => {
                ("unreadable-body", format!("{}: {why}", program.method_display(*method)))
            }
        };
        *counted.entry((kind, message)).or_default() += 1;
    }
    for (&class, &count) in &gaps.opaque_calls {
        let message = format!("calls into {} are not followed", program.class_display(class));
        *counted.entry(("opaque-call", message)).or_default() += count;
    }
    for &method in &gaps.native_calls {
        let message = format!("{} is native and has no model", program.method_display(method));
        *counted.entry(("native-call", message)).or_default() += 1;
    }
    for (kind, sites, what) in [
        ("reflection", &gaps.reflective_calls, "reflection on a name or class that is not constant"),
        ("unsupported-dynamic", &gaps.dynamic_calls, "invokedynamic of an unknown kind"),
        ("unresolved-call", &gaps.unresolved_calls, "call of a method that is not on the class path"),
    ] {
        for &(method, _) in sites {
            let message = format!("{what} in {}", program.method_display(method));
            *counted.entry((kind, message)).or_default() += 1;
        }
    }
    if gaps.merged_origins > 0 {
        let message = "threads whose code is too large to be told apart; their objects are analysed together";
        *counted.entry(("merged-origins", message.to_string())).or_default() += gaps.merged_origins;
    }
    if gaps.opaque_dependencies {
        let message = "too much code of dependencies is reached to analyse it from the entry points: calls into them \
                       are not followed, and threads that they start are not seen; --budget raises the limit";
        *counted.entry(("opaque-dependencies", message.to_string())).or_default() += 1;
    }
    for &entry in &gaps.left_out {
        let message = format!(
            "{} reaches too much to be analysed from there: what only it reaches is judged method by method; \
             --main picks entry points, --budget raises the limit",
            program.method_display(entry)
        );
        *counted.entry(("over-budget", message)).or_default() += 1;
    }
    let note =
        |((kind, message), count): ((&str, String), u64)| Note { kind: kind.to_string(), message, count };
    counted.into_iter().map(note).collect()
}
