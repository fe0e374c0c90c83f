//! Writes the comment that suppresses a rule on a line. Knows where such a comment is read, not which rules there are.

use super::TextEdit;
use crate::lexed::Kind;
use crate::outline::FieldKind;
use crate::{Position, Source};

impl Source {
    /// `// snarl: ignore RULE -- reason` above the line, or behind it where nothing can stand above. Not where a class
    /// is declared: there it would be of no effect.
    pub fn suppress(&self, line: u32, rule: &str, reason: &str) -> Option<Vec<TextEdit>> {
        let comment = comment(rule, reason)?;
        if self.code(line).is_empty() || self.declares_only_class(line) {
            return None;
        }
        let span = self.lines.span(&self.text, line);
        if self.lexed.across(span.start).is_none() {
            let start = self.offset(Position::new(line, 0));
            let text = format!("{}{comment}{}", self.indent(line), self.line_end(line));
            return Some(vec![self.insertion(start, text)]);
        }
        let is_full = self.lexed.within(span.clone()).any(|piece| piece.kind == Kind::LineComment);
        let can_stand_behind = !is_full && self.lexed.across(span.end).is_none();
        can_stand_behind.then(|| vec![self.insertion(span.end, format!(" {comment}"))])
    }

    fn declares_only_class(&self, line: u32) -> bool {
        let outline = self.outline();
        let on_line = |from: usize, to: usize| (self.lines.line(from)..=self.lines.line(to)).contains(&line);
        let fields = outline.fields.iter().filter(|field| field.kind == FieldKind::Declared);
        let fields = fields.map(|field| (field.span.start, field.name_span.start));
        let methods = outline.methods.iter().map(|method| (method.span.start, method.name_span.start));
        let mut classes = outline.classes.iter().filter(|class| !class.simple.is_empty());
        classes.any(|class| on_line(class.head.start, class.head.end))
            && !fields.chain(methods).any(|(from, to)| on_line(from, to))
    }
}

/// Compilers look for `\u` in comments as well.
fn comment(rule: &str, reason: &str) -> Option<String> {
    let is_rule = !rule.is_empty() && rule.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ").replace('\\', "/");
    let is_reason = !reason.is_empty() && !reason.contains(char::is_control);
    (is_rule && is_reason).then(|| format!("// snarl: ignore {rule} -- {reason}"))
}

#[cfg(test)]
#[path = "../tests/suppress.rs"]
mod tests;
