//! Workflow commands of GitHub's actions, which put each finding beside its line in a pull request. Knows how they are
//! escaped, and leaves the words to [`crate::text`].

use crate::{Sources, files::Files, names::Names, spot::Spot, text};
use findings::{Confidence, Finding, Level, Note, Report};

/// A command for every finding at least as certain as `min`, and for every note that a reader should see.
pub fn render(report: &Report, min: Confidence, sources: &dyn Sources) -> String {
    let (files, names) = (Files::new(sources), Names::new(sources));
    let findings = report.shown(min).map(|finding| command(finding, &files, &names));
    let notes = text::most_important(&report.notes).0.into_iter().map(notice);
    findings.chain(notes).collect()
}

/// `::error file=src/bank/Bank.java,line=30,title=race::…`.
fn command(finding: &Finding, files: &Files<'_>, names: &Names<'_>) -> String {
    let name = match finding.rule.level_at(finding.confidence) {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    let spot = Spot::of(finding, files);
    let mut properties = vec![("file", names.file_of(&spot.place(), spot.method()))];
    if spot.place().line > 0 {
        properties.push(("line", spot.place().line.to_string()));
    }
    if let Some(columns) = &spot.columns {
        properties.push(("col", columns.start.to_string()));
        properties.push(("endColumn", columns.end.to_string()));
    }
    properties.push(("title", format!("{} ({} confidence)", finding.rule.id(), finding.confidence.id())));
    let mut lines = text::sentences(finding, names);
    lines.push(format!("snarl explain {}", text::clean(&finding.id)));
    line(name, &properties, &lines.join("\n"))
}

fn notice(note: &Note) -> String {
    let properties = [("title", format!("snarl: {}", note.kind))];
    line("notice", &properties, &text::note::words(note))
}

fn line(name: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
    format!("::{name} {}::{}\n", properties.join(","), data(message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(&text::clean(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_end_a_command_or_a_property_is_escaped() {
        let properties = [("file", "a,b:c%.java".to_owned())];
        let command = line("error", &properties, "50%, at A.java:3\r\n::error::");
        assert_eq!(command, "::error file=a%2Cb%3Ac%25.java::50%25, at A.java:3%0D%0A::error::\n");
    }
}
