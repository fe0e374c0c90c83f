//! One finding as text: header, one block per side, then what concerns the whole. Leaves the sides to
//! [`Side`].

use super::{
    excerpt::Target,
    look::{Look, clean, indent},
    side::{Side, Thread},
};
use crate::{Sources, names::Names};
use annotate_snippets::{Group, Level};
use findings::{Confidence, Finding};

/// Further pairs beyond these are only counted.
const ALSO: usize = 2;
/// Names of affected fields that are listed.
const FIELDS: usize = 8;

pub(super) fn render(finding: &Finding, sources: &dyn Sources, names: &Names<'_>, look: &Look) -> String {
    let mut out = header(finding, names, look);
    out.push('\n');
    for side in sides(finding) {
        out.push('\n');
        out.push_str(&indent(&side.render(sources, names, look)));
    }
    out.push('\n');
    out.push_str(&indent(&facts(finding, names, look)));
    out
}

fn header(finding: &Finding, names: &Names<'_>, look: &Look) -> String {
    let level = match finding.confidence {
        Confidence::High => Level::ERROR,
        Confidence::Medium => Level::WARNING,
        Confidence::Low => Level::NOTE,
    };
    let name = format!("{} ({} confidence)", finding.rule.id(), finding.confidence.id());
    let title = level.with_name(name).primary_title(clean(&names.prose(&finding.message)));
    look.renderer().render(&[Group::with_title(title)])
}

fn sides(finding: &Finding) -> Vec<Side<'_>> {
    let target = target(finding);
    if let [site, twin] = &finding.sites[..]
        && site == twin
    {
        return vec![Side { site, target, thread: Thread::Both }];
    }
    let mut sides: Vec<Side<'_>> = vec![];
    for site in &finding.sites {
        let alike = sides.iter().any(|side| side.site.origin == site.origin);
        sides.push(Side { site, target, thread: if alike { Thread::Another } else { Thread::New } });
    }
    sides
}

fn target(finding: &Finding) -> Target<'_> {
    match finding.field.as_deref() {
        Some(field) if field.ends_with("[]") => Target::Elements,
        Some(field) => Target::Field(field.rsplit('.').next().unwrap_or(field)),
        None => Target::Unnamed,
    }
}

/// Two columns: what it is, and what is known.
fn facts(finding: &Finding, names: &Names<'_>, look: &Look) -> String {
    let mut rows: Vec<(&str, String)> = vec![];
    for why in &finding.why {
        rows.push(("why", names.prose(why)));
    }
    if let Some(object) = &finding.object {
        rows.push(("object", format!("allocated at {}", names.place(object))));
    }
    if !finding.fields.is_empty() {
        rows.push(("affects", affected(finding)));
    }
    if !finding.also.is_empty() {
        rows.push(("also", also(finding, names)));
    }
    rows.push(("id", finding.id.clone()));

    let mut out = String::new();
    let mut last = "";
    for (key, text) in rows {
        let label = if key == last { "" } else { key };
        out.push_str(&format!("{}{:pad$}{}\n", look.key(label), "", clean(&text), pad = 8 - label.len()));
        last = key;
    }
    out
}

/// `17 fields of this object: a, b, c and 14 more`, without their common owner's name.
fn affected(finding: &Finding) -> String {
    let short = |field: &String| field.rsplit('.').next().unwrap_or(field).to_string();
    let mut names: Vec<String> = finding.fields.iter().take(FIELDS).map(short).collect();
    if finding.fields.len() > FIELDS {
        names.push(format!("{} more", finding.fields.len() - FIELDS));
    }
    format!("{} fields of this object: {}", finding.fields.len(), names.join(", "))
}

fn also(finding: &Finding, names: &Names<'_>) -> String {
    let mut pairs: Vec<String> = finding.also.iter().take(ALSO).map(|pair| names.pair(pair)).collect();
    if finding.also.len() > ALSO {
        pairs.push(format!("{} more", finding.also.len() - ALSO));
    }
    pairs.join(", ")
}
