//! Threads, locks and guards of a program as text and as JSON. Chooses words and columns; knows nothing of how they were
//! found.

use crate::Sources;
use crate::text::readable;
use findings::{ClassGuards, LockInfo, Place, ThreadInfo};
use serde_json::{Value, json};

pub fn threads_text(threads: &[ThreadInfo], sources: &dyn Sources) -> String {
    let mut text = String::new();
    for thread in threads {
        let several = if thread.is_several { ", several at a time" } else { "" };
        let serial = if thread.is_serial { ", one task after the other" } else { "" };
        text.push_str(&format!("{}{several}{serial}\n", shown_name(&thread.name, &thread.started, sources)));
        text.push_str(&format!("  runs      {}\n", readable(&thread.runs)));
        list(&mut text, "started", thread.started.iter().map(|place| shown(place, sources)));
        let others = thread.overlaps.iter().map(|name| places_in(name, threads, sources));
        match thread.overlaps.is_empty() {
            true => text.push_str("  overlaps  nothing else\n"),
            false => list(&mut text, "overlaps", others),
        }
        text.push('\n');
    }
    text.push_str(&counted(threads.len(), "thread"));
    text
}

pub fn locks_text(locks: &[LockInfo], sources: &dyn Sources) -> String {
    let mut text = String::new();
    for lock in locks {
        text.push_str(&format!("{}\n", lock.name));
        list(&mut text, "taken", lock.taken.iter().map(|place| shown(place, sources)));
        list(&mut text, "guards", lock.guards.iter().cloned());
        let before = lock.before.iter();
        list(
            &mut text,
            "then",
            before.map(|edge| format!("{} at {}", edge.lock, shown(&edge.place, sources))),
        );
        text.push('\n');
    }
    text.push_str(&counted(locks.len(), "lock"));
    text
}

pub fn guards_text(classes: &[ClassGuards]) -> String {
    let mut text = String::new();
    let width = classes.iter().flat_map(|class| &class.fields).map(|field| field.field.len()).max();
    let width = width.unwrap_or(0);
    let mut count = 0;
    for class in classes {
        text.push_str(&format!("{}\n", class.class));
        for field in &class.fields {
            count += 1;
            let guard = match &field.guard {
                Some(guard) if guard.is_declared => {
                    format!(
                        "declared to be guarded by {}: {} of {} accesses hold it",
                        guard.name, guard.with, guard.of
                    )
                }
                Some(guard) => format!("{}: {} of {} accesses hold it", guard.name, guard.with, guard.of),
                None => format!("no guard: {}", field.why.text()),
            };
            let reported = if field.findings.is_empty() { "" } else { "  (reported)" };
            text.push_str(&format!("  {:width$}  {guard}{reported}\n", field.field));
        }
        text.push('\n');
    }
    text.push_str(&counted(count, "field"));
    text
}

pub fn threads_json(threads: &[ThreadInfo], sources: &dyn Sources) -> String {
    let thread = |thread: &ThreadInfo| {
        json!({
            "name": thread.name,
            "started": places(&thread.started, sources),
            "runs": thread.runs,
            "several": thread.is_several,
            "serial": thread.is_serial,
            "overlaps": thread.overlaps,
        })
    };
    document("threads", threads.iter().map(thread).collect())
}

pub fn locks_json(locks: &[LockInfo], sources: &dyn Sources) -> String {
    let lock = |lock: &LockInfo| {
        let edge =
            |edge: &findings::LockEdge| json!({ "lock": edge.lock, "place": place(&edge.place, sources) });
        json!({
            "name": lock.name,
            "taken": places(&lock.taken, sources),
            "guards": lock.guards,
            "then": lock.before.iter().map(edge).collect::<Vec<Value>>(),
        })
    };
    document("locks", locks.iter().map(lock).collect())
}

pub fn guards_json(classes: &[ClassGuards]) -> String {
    let field = |class: &str, field: &findings::FieldGuard| {
        let guard = field.guard.as_ref().map(|guard| {
            json!({ "lock": guard.name, "with": guard.with, "of": guard.of, "declared": guard.is_declared })
        });
        let ids: Vec<&String> = field.findings.iter().map(|finding| &finding.id).collect();
        json!({
            "field": format!("{class}.{}", field.field),
            "guard": guard,
            "why": field.why.text(),
            "findings": ids,
        })
    };
    let fields = classes.iter().flat_map(|class| class.fields.iter().map(|of| field(&class.class, of)));
    document("guards", fields.collect())
}

fn document(name: &str, values: Vec<Value>) -> String {
    let document = json!({ "schema": 1, name: values });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn places(all: &[Place], sources: &dyn Sources) -> Vec<Value> {
    all.iter().map(|one| place(one, sources)).collect()
}

fn place(place: &Place, sources: &dyn Sources) -> Value {
    json!({ "file": sources.display(&place.file), "line": place.line })
}

/// `src/bank/Main.java:20`.
fn shown(place: &Place, sources: &dyn Sources) -> String {
    let file = sources.display(&place.file);
    if place.line == 0 { file } else { format!("{file}:{}", place.line) }
}

/// Names of threads end in the place where they start, as class files call it.
fn shown_name(name: &str, started: &[Place], sources: &dyn Sources) -> String {
    let ends_in = |place: &&Place| name.ends_with(&format!("{}:{}", place.file, place.line));
    match started.iter().find(ends_in) {
        Some(place) => name.replace(&place.file, &sources.display(&place.file)),
        None => name.to_owned(),
    }
}

fn places_in(name: &str, threads: &[ThreadInfo], sources: &dyn Sources) -> String {
    let thread = threads.iter().find(|thread| thread.name == name);
    thread.map_or_else(|| name.to_owned(), |thread| shown_name(name, &thread.started, sources))
}

/// The first beside its heading, the others below.
fn list(text: &mut String, heading: &str, items: impl Iterator<Item = String>) {
    for (number, item) in items.enumerate() {
        let heading = if number == 0 { heading } else { "" };
        text.push_str(&format!("  {heading:8}  {item}\n"));
    }
}

fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s found\n"),
        1 => format!("1 {what}\n"),
        count => format!("{count} {what}s\n"),
    }
}
