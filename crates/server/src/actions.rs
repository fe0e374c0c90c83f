//! What can be done about a finding, as the protocol's code actions: go to the other side, repair it, suppress it.

use crate::fixes::{Sources, candidates};
use crate::questions::Answerer;
use crate::suppressing::comment;
use crate::told::{Diagnostic, Open, Range};
use crate::trial::tried;
use crate::uri;
use findings::Finding;
use report::editor::{Editor, Texts};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use syntax::{Source, TextEdit};

/// For the findings that meet the range.
pub fn actions(asked: &mut Answerer<'_>, path: &Path, range: Range, shows: bool) -> Value {
    let mut here = Vec::new();
    for finding in asked.shown {
        let Some(marks) = asked.pictures.of(finding).map(|picture| &picture.marks) else { continue };
        let mine = marks.iter().find(|(file, mark)| file == path && mark.range.meets(range));
        if let Some((_, mark)) = mine {
            here.push((mark.clone(), marks.clone(), finding.clone()));
        }
    }
    let mut actions = Vec::new();
    for (mark, marks, finding) in &here {
        let [repairs, suppress] = fixes(asked, finding, path, mark.range.start.0);
        let action = |(title, edit): (String, Value)| json!({"title": title, "kind": "quickfix", "diagnostics": [mark.json(&uri::of_path)], "edit": edit});
        actions.extend(repairs.into_iter().map(action));
        actions.extend(other_side(path, mark, marks).filter(|_| shows));
        actions.extend(suppress.into_iter().map(action));
    }
    Value::Array(actions)
}

/// Titles and edits of what repairs a finding for certain, and then of what suppresses it at a line.
fn fixes(asked: &mut Answerer<'_>, finding: &Finding, path: &Path, line: u32) -> [Vec<(String, Value)>; 2] {
    let key = (finding.id.clone(), path.to_path_buf(), line);
    if let Some(known) = asked.fixes.get(&key) {
        return known.clone();
    }
    let project = asked.source.project().clone();
    let parsed: RefCell<BTreeMap<PathBuf, Rc<Source>>> = RefCell::default();
    let parse = |path: &Path| {
        let known = parsed.borrow().get(path).cloned();
        known.or_else(|| {
            let source = Rc::new(Source::parse(asked.text(path)?));
            parsed.borrow_mut().insert(path.to_path_buf(), source.clone());
            Some(source)
        })
    };
    let open = Open { project: &project, texts: asked.open };
    let mut texts = Texts::default();
    texts.read([finding], &open);
    let editor = Editor { texts: &texts, sources: &open };
    let sources = Sources { path: &|file| open.path(file), parsed: &parse, editor };
    let comment = comment(finding, path, line, &sources);
    let candidates = candidates(finding, &sources, (path, line));
    let good = tried(asked, finding, candidates);
    let changes = |edits: &BTreeMap<PathBuf, Vec<TextEdit>>| {
        let changes = edits.iter().map(|(path, edits)| (uri::of_path(path), text_edits(edits)));
        json!({"changes": changes.collect::<serde_json::Map<String, Value>>()})
    };
    let repairs = good.into_iter().map(|fix| (fix.title, changes(&fix.edits))).collect();
    let suppress = comment.map(|comment| {
        let title = format!("Suppress this {}{}", finding.rule.id(), comment.how);
        (title, changes(&BTreeMap::from([(comment.path, comment.edits)])))
    });
    let told = [repairs, suppress.into_iter().collect()];
    if !(asked.is_overtaken)() {
        asked.fixes.insert(key, told.clone());
    }
    told
}

fn other_side(path: &Path, mark: &Diagnostic, marks: &[(PathBuf, Diagnostic)]) -> Option<Value> {
    let (file, other) = marks.iter().find(|(file, other)| file != path || other.range != mark.range)?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let line = other.range.start.0 + 1;
    Some(json!({
        "title": format!("Go to the other side ({name}:{line})"),
        "kind": "quickfix",
        "diagnostics": [mark.json(&uri::of_path)],
        "command": {
            "title": "Go to the other side",
            "command": "snarl.otherSide",
            "arguments": [uri::of_path(path), mark.range.start.0, mark.range.start.1],
        },
    }))
}

fn text_edits(edits: &[TextEdit]) -> Value {
    let point = |at: syntax::Position| json!({"line": at.line, "character": at.character});
    let edit = |edit: &TextEdit| json!({"range": {"start": point(edit.range.start), "end": point(edit.range.end)}, "newText": edit.text});
    Value::Array(edits.iter().map(edit).collect())
}
