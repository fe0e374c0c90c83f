//! Comments that suppress a finding: where one covers all of it. Knows how findings are suppressed, and nothing of
//! messages.

use crate::fixes::{Sources, declaration};
use findings::{Covers, Finding, Report, Suppression};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use syntax::{Source, TextEdit};

/// Where a comment may stand.
pub struct Comment {
    pub path: PathBuf,
    pub edits: Vec<TextEdit>,
    /// In words: ` with a comment`.
    pub how: &'static str,
}

/// A comment at the line if it covers the finding, else one at the field; where neither does, the first, which covers a
/// part of it.
pub fn comment(finding: &Finding, path: &Path, line: u32, sources: &Sources<'_>) -> Option<Comment> {
    let at = |path: &Path, line: u32, how: &'static str| {
        let edits = (sources.parsed)(path)?.suppress(line, finding.rule.id(), "reviewed: ")?;
        Some(Comment { path: path.to_path_buf(), edits, how })
    };
    let here = at(path, line, " with a comment");
    let is_whole = |comment: &Comment| covers(comment, finding, sources);
    if here.as_ref().is_some_and(is_whole) {
        return here;
    }
    let at_field = || {
        let (class, name) = finding.field.as_deref()?.rsplit_once('.')?;
        let (path, _, field) = declaration(class, name, finding, sources)?;
        at(&path, field.name_range.start.line, " with a comment at the field")
    };
    let part = |comment| Comment { how: " here with a comment (other places remain)", ..comment };
    at_field().filter(is_whole).or_else(|| here.map(part))
}

/// Whether nothing is left of a finding once the comment is there.
fn covers(comment: &Comment, finding: &Finding, sources: &Sources<'_>) -> bool {
    let Some(source) = (sources.parsed)(&comment.path) else { return false };
    let text = syntax::apply(source.text(), &comment.edits);
    let name = comment.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut all = project::remarks_in(name, &text).suppressions;
    all.iter_mut().for_each(|one| without(one, &comment.edits, &source));
    let mut report = Report { findings: vec![Arc::new(finding.clone())], ..Report::default() };
    report.suppress(&all, &[], &str::to_owned);
    report.findings.is_empty()
}

/// In the lines that the code had before the comment.
fn without(suppression: &mut Suppression, edits: &[TextEdit], before: &Source) {
    let Some(edit) = edits.first() else { return };
    let added = edit.text.matches('\n').count() as u32;
    let first = edit.range.start.line + 1;
    let last = before.line_count() + added;
    for covers in &mut suppression.covers {
        if let Covers::Lines { from, to, .. } = covers {
            for line in [from, to] {
                if (first + added..=last).contains(line) {
                    *line -= added;
                }
            }
        }
    }
}
