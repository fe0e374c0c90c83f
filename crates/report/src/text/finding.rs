//! One finding as text: header, one block per side, then what concerns the whole. Leaves the sides to
//! [`super::side`].

use super::{
    extent::Extent,
    look::{Look, clean, indent},
    side::sides,
};
use crate::{Sources, names::Names};
use annotate_snippets::{Group, Level};
use findings::{Confidence, Finding};

pub(super) fn render(finding: &Finding, sources: &dyn Sources, extent: &Extent, look: &Look) -> String {
    let names = &Names::new(sources);
    let mut out = header(finding, names, look);
    out.push('\n');
    for side in sides(finding) {
        out.push('\n');
        out.push_str(&indent(&side.render(sources, names, extent, look)));
    }
    out.push('\n');
    out.push_str(&indent(&facts(finding, names, extent, look)));
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

/// Two columns: what it is, and what is known.
fn facts(finding: &Finding, names: &Names<'_>, extent: &Extent, look: &Look) -> String {
    let mut rows: Vec<(&str, String)> = vec![];
    let mut tell = |key, sentences: &[String]| {
        rows.extend(sentences.iter().map(|sentence| (key, names.prose(sentence))));
    };
    tell("why", &finding.why);
    tell("assumed", &finding.assumed);
    tell("fix", &finding.fix);
    let dismissed: Vec<String> = finding.dismissed.iter().map(|why| why.text().to_owned()).collect();
    tell("dismissed", &dismissed);
    if let Some(object) = &finding.object {
        rows.push(("object", format!("allocated at {}", names.place(object))));
    }
    if !finding.fields.is_empty() {
        rows.push(("affects", affected(finding, extent.fields)));
    }
    if extent.also > 0 && !finding.also.is_empty() {
        rows.push(("also", also(finding, extent.also, names)));
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
fn affected(finding: &Finding, most: usize) -> String {
    let short = |field: &String| field.rsplit('.').next().unwrap_or(field).to_string();
    let mut names: Vec<String> = finding.fields.iter().take(most).map(short).collect();
    if finding.fields.len() > most {
        names.push(format!("{} more", finding.fields.len() - most));
    }
    format!("{} fields of this object: {}", finding.fields.len(), names.join(", "))
}

fn also(finding: &Finding, most: usize, names: &Names<'_>) -> String {
    let mut pairs: Vec<String> = finding.also.iter().take(most).map(|pair| names.pair(pair)).collect();
    if finding.also.len() > most {
        pairs.push(format!("{} more", finding.also.len() - most));
    }
    pairs.join(", ")
}
