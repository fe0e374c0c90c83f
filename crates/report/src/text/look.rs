//! How text looks: with colour or without, and how wide. Knows nothing of what the text says, nor whether
//! a terminal is there.

use annotate_snippets::renderer::{AnsiColor, DecorStyle, Effects, Renderer, Style};

pub struct Look {
    renderer: Renderer,
    colour: bool,
}

impl Look {
    pub fn plain() -> Look {
        Look { renderer: Renderer::plain().decor_style(DecorStyle::Unicode), colour: false }
    }

    pub fn coloured() -> Look {
        Look { renderer: Renderer::styled().decor_style(DecorStyle::Unicode), colour: true }
    }

    /// Cuts excerpts of longer source lines to this many columns, within reason.
    pub fn width(self, columns: usize) -> Look {
        let columns = columns.max(NARROWEST) - INDENT.len();
        Look { renderer: self.renderer.term_width(columns), ..self }
    }

    pub(super) fn renderer(&self) -> &Renderer {
        &self.renderer
    }

    /// A word that names what follows it.
    pub(crate) fn key(&self, text: &str) -> String {
        self.paint(text, Style::new().effects(Effects::BOLD))
    }

    /// Something good.
    pub(super) fn good(&self, text: &str) -> String {
        self.paint(text, AnsiColor::Green.on_default().effects(Effects::BOLD))
    }

    /// Something to act on.
    pub(super) fn alert(&self, text: &str) -> String {
        self.paint(text, AnsiColor::Yellow.on_default().effects(Effects::BOLD))
    }

    fn paint(&self, text: &str, style: Style) -> String {
        if self.colour && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Terminals that claim less do not know their width.
const NARROWEST: usize = 40;

/// What belongs to a finding stands this far in from its header.
pub(super) const INDENT: &str = "  ";

pub(super) fn indent(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.lines() {
        if !line.is_empty() {
            out.push_str(INDENT);
        }
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Names come from class files and may hold anything: control characters would reach the terminal.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
