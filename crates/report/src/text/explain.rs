//! One finding with all there is to say about it, and what its rule means. Leaves the finding itself to
//! [`super::finding`], and adds what only one who asks wants to read.

use super::{
    extent::Extent,
    finding,
    look::{Look, clean, indent},
};
use crate::{Sources, names::Names};
use findings::{Engine, Finding, Rule};

/// The finding without anything cut, who found it, and the short text of its rule.
pub fn explain(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    let mut out = finding::render(finding, sources, &Extent::whole(), look);
    out.push_str(&indent(&seen_by(&finding.engines, look)));
    out.push_str(&also(finding, &Names::new(sources), look));
    out.push('\n');
    out.push_str(&about(finding, look));
    out
}

fn seen_by(engines: &[Engine], look: &Look) -> String {
    if engines.is_empty() {
        return String::new();
    }
    let engines: Vec<&str> = engines.iter().map(|engine| engine.id()).collect();
    format!("{} {} analysis\n", look.key("seen by"), engines.join(" and "))
}

/// Where else the same cause shows, a line each.
fn also(finding: &Finding, names: &Names<'_>, look: &Look) -> String {
    if finding.also.is_empty() {
        return String::new();
    }
    let pairs: String = finding.also.iter().map(|pair| format!("{}\n", clean(&names.pair(pair)))).collect();
    format!("\n{}\n{}", look.key("also by the same cause"), indent(&pairs))
}

/// What would repair this finding stands with it; otherwise the rule says what usually does.
fn about(finding: &Finding, look: &Look) -> String {
    let rule = finding.rule;
    let mut text = format!("{}\n", wrapped(rule.meaning()));
    if finding.fix.is_empty() {
        text.push_str(&format!("\n{}\n{}\n", look.key("what repairs it"), remedy(rule)));
    }
    let id = rule.id();
    let more = format!("`snarl rules {id}` shows examples, and how to suppress it.");
    format!("{}\n{}", look.key(&format!("about {id}")), indent(&format!("{text}\n{more}\n")))
}

fn remedy(rule: Rule) -> String {
    rule.remedy().lines().map(wrapped_item).collect::<Vec<_>>().join("\n")
}

fn wrapped_item(line: &str) -> String {
    wrapped(line).replace('\n', "\n  ")
}

/// Columns of prose that read well, whatever the terminal has.
const COLUMNS: usize = 96;

/// A paragraph in lines.
fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + word.chars().count() < COLUMNS => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_wrapped_between_words() {
        let text = wrapped(&"word ".repeat(60));
        assert!(text.lines().all(|line| line.len() <= COLUMNS), "{text}");
        assert_eq!(text.lines().count(), 4);
        assert_eq!(wrapped(""), "");
        assert_eq!(wrapped(&"x".repeat(200)).len(), 200);
    }

    #[test]
    fn every_rule_has_a_remedy_to_fall_back_on() {
        for rule in Rule::ALL {
            assert!(remedy(rule).starts_with("- "), "{}", rule.id());
        }
    }
}
