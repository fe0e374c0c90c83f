//! The report as test results in JUnit's XML, which every build server can show: a suite for each rule, a failed test for
//! each finding. Knows what XML allows, and leaves the words to [`crate::text`].

use crate::{Sources, files::Files, names::Names, spot::Spot, text};
use findings::{Confidence, Finding, Report, Rule};

/// The findings at least as certain as `min`; without any, one test that passed. The notes are its output.
pub fn render(report: &Report, min: Confidence, sources: &dyn Sources) -> String {
    let of = |rule| report.shown(min).filter(|finding| finding.rule == rule).collect::<Vec<_>>();
    let found: Vec<(Rule, Vec<&Finding>)> = Rule::ALL.into_iter().map(|rule| (rule, of(rule))).collect();
    let failures: usize = found.iter().map(|(_, findings)| findings.len()).sum();
    let (files, names) = (Files::new(sources), Names::new(sources));

    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!("<testsuites name=\"snarl\" {}>\n", counts(failures)));
    for (rule, findings) in found.iter().filter(|(_, findings)| !findings.is_empty()) {
        out.push_str(&format!("  <testsuite name=\"{}\" {}>\n", rule.id(), counts(findings.len())));
        out.extend(findings.iter().map(|finding| case(finding, sources, &files, &names)));
        out.push_str("  </testsuite>\n");
    }
    out.push_str(&whole(report, failures));
    out.push_str("</testsuites>\n");
    out
}

/// Tests and failures; where nothing fails there is the one test that says so.
fn counts(failures: usize) -> String {
    format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\"", failures.max(1))
}

fn case(finding: &Finding, sources: &dyn Sources, files: &Files<'_>, names: &Names<'_>) -> String {
    let message = text::message(finding, names);
    let spot = Spot::of(finding, files);
    let name = attribute(&format!("{message} · {}", finding.id));
    let class = attribute(class(spot.method()));
    let whole = content(&text::finding(finding, sources, &text::Look::plain()));
    format!(
        "    <testcase name=\"{name}\" classname=\"{class}\">\n      \
         <failure type=\"{}\" message=\"{}\">{whole}</failure>\n    </testcase>\n",
        finding.rule.id(),
        attribute(&format!("{message} ({})", names.place(&spot.place())))
    )
}

/// What concerns no finding: that there is none, and the notes.
fn whole(report: &Report, failures: usize) -> String {
    let case = if failures == 0 { "    <testcase name=\"no findings\" classname=\"snarl\"/>\n" } else { "" };
    let notes: Vec<String> = report.notes.iter().map(|note| text::note(note, &text::Look::plain())).collect();
    let notes = match &notes[..] {
        [] => String::new(),
        notes => format!("    <system-out>{}</system-out>\n", content(&notes.join("\n"))),
    };
    if case.is_empty() && notes.is_empty() {
        return String::new();
    }
    let tests = usize::from(failures == 0);
    format!(
        "  <testsuite name=\"snarl\" tests=\"{tests}\" failures=\"0\" errors=\"0\">\n{case}{notes}  </testsuite>\n"
    )
}

/// `bank.Account.deposit(int)` → `bank.Account`.
fn class(method: &str) -> &str {
    let path = method.split('(').next().unwrap_or_default();
    path.rsplit_once('.').map_or("unknown", |(class, _)| class)
}

fn content(text: &str) -> String {
    text.chars()
        .map(allowed)
        .collect::<String>()
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Line ends and tabs would be read as blanks.
fn attribute(text: &str) -> String {
    let text = content(text).replace('"', "&quot;");
    text.replace('\n', "&#10;").replace('\r', "&#13;").replace('\t', "&#9;")
}

/// Most control characters have no place in XML, not even escaped.
fn allowed(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_does_not_allow_is_escaped_or_replaced() {
        assert_eq!(
            content("a < b && c > \"d\"\n\u{1b}[0m\u{0}"),
            "a &lt; b &amp;&amp; c &gt; \"d\"\n\u{fffd}[0m\u{fffd}"
        );
        assert_eq!(attribute("\"a\"\n\tb\r"), "&quot;a&quot;&#10;&#9;b&#13;");
        assert_eq!(content("]]>\u{ffff}𝒳"), "]]&gt;\u{fffd}𝒳");
    }

    #[test]
    fn a_test_belongs_to_the_class_of_its_method() {
        assert_eq!(class("bank.Account.deposit(java.lang.String)"), "bank.Account");
        assert_eq!(class("main"), "unknown");
        assert_eq!(class(""), "unknown");
    }
}
