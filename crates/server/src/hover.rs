//! Who touches what is under the cursor, and what guards the fields of a file. Finds out what is meant from the text, and
//! leaves the words to `report`.

use crate::questions::Answerer;
use crate::told::Open;
use crate::uri;
use findings::{Place, Reported};
use report::about;
use serde_json::{Value, json};
use std::path::Path;
use syntax::{Position, Range, Source, Thing};

/// What is known of the field or lock at a position.
pub fn hover(asked: &Answerer<'_>, path: &Path, line: u32, character: u32) -> Option<Value> {
    let source = Source::parse(asked.text(path)?);
    let at = Position { line, character };
    let project = asked.source.project().clone();
    let open = Open { project: &project, texts: asked.open };
    let link = |place: &Place| {
        let file = open.path(&place.file)?;
        Some(format!("{}#L{}", uri::of_path(&file), place.line))
    };
    let (text, range) = match source.what_is_at(at)? {
        Thing::Field { class, name, range } => {
            let mut about = asked.session.about_field(&class, &name)?;
            about.findings.retain(|finding| is_shown(asked, finding));
            (about::markdown(&about, &link), range)
        }
        Thing::Synchronized(lock) => {
            let file = findings_name(path, &lock.class);
            (
                about::lock_markdown(&asked.session.about_lock(&file, lock.range.start.line + 1)?, &link),
                lock.range,
            )
        }
        Thing::Member { .. } | Thing::Method(_) => return None,
    };
    Some(json!({"contents": {"kind": "markdown", "value": text}, "range": range_json(range)}))
}

/// `bank/Account.java`: the package of the class, and the name of the file.
fn findings_name(path: &Path, class: &str) -> String {
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match class.rsplit_once('.') {
        Some((package, _)) => format!("{}/{file}", package.replace('.', "/")),
        None => file,
    }
}

/// What guards each field of a file, as lenses.
pub fn lenses(asked: &Answerer<'_>, path: &Path) -> Vec<Value> {
    let lens = |(range, words): (Range, String)| json!({"range": range_json(range), "command": {"title": words, "command": ""}});
    guards(asked, path).into_iter().map(lens).collect()
}

/// The same as hints behind the names.
pub fn hints(asked: &Answerer<'_>, path: &Path) -> Vec<Value> {
    let hint = |(range, words): (Range, String)| json!({"position": position_json(range.end), "label": words, "paddingLeft": true});
    guards(asked, path).into_iter().map(hint).collect()
}

fn guards(asked: &Answerer<'_>, path: &Path) -> Vec<(Range, String)> {
    let Some(text) = asked.text(path) else { return Vec::new() };
    let source = Source::parse(text);
    let fields = source.fields();
    let mut classes: Vec<&str> = fields.iter().map(|field| field.class.as_str()).collect();
    classes.dedup();
    let mut found = Vec::new();
    for class in classes {
        for mut guard in asked.session.guards(class) {
            guard.findings.retain(|finding| is_shown(asked, finding));
            let declared = fields.iter().find(|field| field.class == class && field.name == guard.field);
            if let (Some(field), Some(words)) = (declared, about::lens(&guard)) {
                found.push((field.name_range, words));
            }
        }
    }
    found.sort_by_key(|(range, _)| (range.start.line, range.start.character));
    found
}

/// Not suppressed, nor left out by settings.
fn is_shown(asked: &Answerer<'_>, finding: &Reported) -> bool {
    asked.shown.iter().any(|shown| shown.id == finding.id)
}

fn range_json(range: Range) -> Value {
    json!({"start": position_json(range.start), "end": position_json(range.end)})
}

fn position_json(at: Position) -> Value {
    json!({"line": at.line, "character": at.character})
}
