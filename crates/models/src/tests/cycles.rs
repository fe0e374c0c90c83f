//! No model can run itself: expanding it at a call would never end.

use super::jdk::entries;
use crate::file::Entry;
use crate::step::Step;

/// Only by a method reference to itself; a static method; a thread that is the task of a thread, where the
/// solver merges what models call for models.
const HARMLESS: [&str; 3] = ["java/lang/ThreadLocal", "java/util/Collections", "java/lang/Thread"];

#[test]
fn no_model_runs_itself() {
    let entries: Vec<Entry> = entries().into_iter().map(|(_, entry)| entry).collect();
    let runs: Vec<Vec<usize>> = entries
        .iter()
        .map(|entry| {
            let called: Vec<_> = entry.model.steps.iter().filter_map(called).collect();
            let may_be = |other: &Entry| called.iter().any(|&(name, args)| is_called(other, name, args));
            (0..entries.len()).filter(|&at| may_be(&entries[at])).collect()
        })
        .collect();
    let mut wrong = Vec::new();
    for (start, entry) in entries.iter().enumerate() {
        let is_harmless = HARMLESS.iter().any(|class| entry.class.starts_with(class));
        if !is_harmless && reaches(&runs, start) {
            wrong.push(format!("{}.{:?}", entry.class, entry.signature));
        }
    }
    assert!(wrong.is_empty(), "models that may run themselves:\n{}", wrong.join("\n"));
}

fn called(step: &Step) -> Option<(&str, usize)> {
    match step {
        Step::Call { method, args, .. } => Some((method, args.len())),
        Step::Spawn(spawn) => Some((&spawn.method, spawn.args.len())),
        _ => None,
    }
}

/// Whether a call by name and number of arguments could mean the entry's method, on whatever object.
fn is_called(entry: &Entry, name: &str, args: usize) -> bool {
    entry.signature.name == name && entry.signature.params.as_ref().is_none_or(|params| params.len() == args)
}

fn reaches(runs: &[Vec<usize>], start: usize) -> bool {
    let mut seen = vec![false; runs.len()];
    let mut todo = runs[start].clone();
    while let Some(next) = todo.pop() {
        if next == start {
            return true;
        }
        if !std::mem::replace(&mut seen[next], true) {
            todo.extend(&runs[next]);
        }
    }
    false
}
