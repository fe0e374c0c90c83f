//! What differs between two versions of a program, as text and as JSON. Owns the layout; which findings are the same was
//! decided before.

use crate::json::{JsonFinding, JsonNote, JsonTool, SCHEMA};
use crate::names::Names;
use crate::text::{self, Look};
use crate::{Sources, json};
use findings::{Comparison, Finding, Note};
use serde::Serialize;
use std::sync::Arc;

/// A comparison with what it takes to show it.
pub struct Diff<'a> {
    pub comparison: &'a Comparison,
    /// What the versions are called: `main`, `working tree`.
    pub base: &'a str,
    pub head: &'a str,
    /// The sources of each.
    pub before: &'a dyn Sources,
    pub after: &'a dyn Sources,
    pub notes: &'a [Note],
}

impl Diff<'_> {
    /// What is introduced in full, everything else in a line each.
    pub fn text(&self, look: &Look) -> String {
        let mut out = String::new();
        let mut line = |text: String| {
            out.push_str(&text);
            out.push('\n');
        };
        for finding in &self.comparison.introduced {
            line(text::introduced(finding, self.after, look));
        }
        for finding in &self.comparison.raised {
            line(text::raised(finding, self.after, look));
        }
        for one in &self.comparison.suppressed {
            line(text::suppressed(one, self.after, look));
        }
        for finding in &self.comparison.fixed {
            line(text::fixed(finding, self.before, look));
        }
        out
    }

    /// "1 introduced, 2 fixed, 5 unchanged (1 in a renamed class) · main → working tree".
    pub fn summary(&self) -> String {
        let compared = self.comparison;
        let count = |count: usize| if count == 0 { "nothing".to_owned() } else { count.to_string() };
        let mut parts = vec![
            format!("{} introduced", count(compared.introduced.len())),
            format!("{} fixed", count(compared.fixed.len())),
        ];
        let others = [
            (compared.raised.len(), "more certain"),
            (compared.suppressed.len(), "suppressed"),
            (compared.unchanged.len(), "unchanged"),
        ];
        parts.extend(
            others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
        );
        let moved = if compared.moved > 0 {
            format!(" ({} in renamed classes)", compared.moved)
        } else {
            String::new()
        };
        format!("{}{moved} · {} → {}", parts.join(", "), self.base, self.head)
    }

    pub fn json(&self) -> String {
        let findings = |list: &[Arc<Finding>], sources: &dyn Sources| {
            let names = Names::new(sources);
            list.iter().map(|finding| JsonFinding::new(finding, &names)).collect::<Vec<_>>()
        };
        let compared = self.comparison;
        let names = Names::new(self.after);
        let document = Document {
            schema: SCHEMA,
            tool: json::tool(),
            base: self.base,
            head: self.head,
            introduced: findings(&compared.introduced, self.after),
            fixed: findings(&compared.fixed, self.before),
            raised: findings(&compared.raised, self.after),
            suppressed: compared
                .suppressed
                .iter()
                .map(|one| json::JsonSuppressed::new(one, &names))
                .collect(),
            unchanged: compared.unchanged.len(),
            moved: compared.moved,
            notes: self.notes.iter().map(JsonNote::new).collect(),
        };
        let mut text = serde_json::to_string_pretty(&document).expect("strings and numbers always serialise");
        text.push('\n');
        text
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    tool: JsonTool,
    base: &'a str,
    head: &'a str,
    introduced: Vec<JsonFinding>,
    fixed: Vec<JsonFinding>,
    raised: Vec<JsonFinding>,
    suppressed: Vec<json::JsonSuppressed>,
    unchanged: usize,
    moved: usize,
    notes: Vec<JsonNote>,
}
