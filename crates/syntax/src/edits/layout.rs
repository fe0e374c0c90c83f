//! How a source is laid out: indentation and line ends, so that what is inserted looks like what is there. Knows
//! nothing of what is inserted.

use crate::Source;
use std::collections::BTreeMap;

impl Source {
    /// The spaces and tabs that a line begins with.
    pub(super) fn indent(&self, line: u32) -> &str {
        let text = self.line(line);
        &text[..text.len() - text.trim_start_matches([' ', '\t']).len()]
    }

    /// One step of indentation for something inside of code that has this one.
    pub(super) fn indent_step(&self, indent: &str) -> String {
        let (tabs, steps) = self.indent_steps();
        let is_tab = match indent.chars().next_back() {
            Some(last) => last == '\t',
            None => tabs > steps.values().sum(),
        };
        if is_tab {
            return "\t".to_owned();
        }
        let usual = steps.into_iter().max_by_key(|(width, count)| (*count, usize::MAX - width));
        " ".repeat(usual.map_or(4, |(width, _)| width))
    }

    /// How often a line after `{` is indented by one more tab, and how often by how many spaces.
    fn indent_steps(&self) -> (usize, BTreeMap<usize, usize>) {
        let (mut tabs, mut spaces) = (0, BTreeMap::new());
        for line in 1..self.line_count() {
            if self.line(line).trim().is_empty() || !self.line(line - 1).trim_end().ends_with('{') {
                continue;
            }
            match self.indent(line).strip_prefix(self.indent(line - 1)) {
                Some("\t") => tabs += 1,
                Some(step) if (1..=8).contains(&step.len()) && !step.contains('\t') => {
                    *spaces.entry(step.len()).or_default() += 1;
                }
                _ => {}
            }
        }
        (tabs, spaces)
    }

    /// How lines end, as the line itself does or else the first.
    pub(super) fn line_end(&self, line: u32) -> &str {
        let end_of = |line: u32| {
            let rest = &self.text[self.lines.span(&self.text, line).end..];
            ["\r\n", "\n", "\r"].into_iter().find(|end| rest.starts_with(end))
        };
        end_of(line).or_else(|| end_of(0)).unwrap_or("\n")
    }
}
