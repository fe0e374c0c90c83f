//! All classes of a source with their binary names, and their fields and methods, found in one walk. Knows nothing
//! of what stands inside methods, save the classes there.

mod reader;

pub(crate) use reader::spread_name;

use crate::position::Span;
use crate::tree::{Steps, is_class_body};
use reader::Reader;
use std::collections::BTreeMap;
use tree_sitter::Node;

#[derive(Debug, Clone, Default)]
pub(crate) struct Outline {
    pub classes: Vec<Class>,
    pub fields: Vec<Field>,
    pub methods: Vec<Method>,
    /// By where its body begins.
    bodies: BTreeMap<usize, usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Class {
    /// `bank.Bank$Node`.
    pub name: String,
    /// As it is written; empty for an anonymous class.
    pub simple: String,
    /// The simple names of what it extends and implements.
    pub supers: Vec<String>,
    /// Whether its fields are constants and its methods may not be synchronised.
    pub is_interface: bool,
    /// From the first modifier to the name; nothing for an anonymous class.
    pub head: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    Declared,
    Component,
    Constant,
}

#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub class: usize,
    pub kind: FieldKind,
    pub name: String,
    pub type_text: String,
    pub modifiers: Vec<String>,
    pub name_span: Span,
    /// The whole declaration, which may be of several fields.
    pub span: Span,
    pub has_initialiser: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Method {
    pub class: usize,
    pub name: String,
    pub parameters: Vec<String>,
    pub modifiers: Vec<String>,
    pub name_span: Span,
    pub span: Span,
    pub body: Option<Span>,
    pub is_constructor: bool,
}

impl Outline {
    pub fn of(root: Node<'_>, text: &str) -> Outline {
        let mut reader = Reader::new(root, text);
        Steps::of(root).for_each(|step| reader.step(step));
        reader.into_outline()
    }

    /// The class whose body this is.
    pub fn class_of_body(&self, body: Node<'_>) -> Option<usize> {
        self.bodies.get(&body.start_byte()).copied()
    }

    /// The innermost class around the end of a path through the tree.
    pub fn class_around(&self, path: &[Node<'_>]) -> Option<usize> {
        path.iter().rev().filter(|node| is_class_body(**node)).find_map(|body| self.class_of_body(*body))
    }

    /// The class that has such a field: this one, or one that it extends and that is in this source.
    pub fn owner(&self, class: usize, field: &str) -> Option<usize> {
        let mut seen = vec![class];
        let mut next = 0;
        while let Some(&class) = seen.get(next) {
            if self.fields.iter().any(|one| one.class == class && one.name == field) {
                return Some(class);
            }
            for name in &self.classes[class].supers {
                if let Some(above) = self.named(name).filter(|above| !seen.contains(above)) {
                    seen.push(above);
                }
            }
            next += 1;
        }
        None
    }

    pub fn named(&self, simple: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.simple == simple && !simple.is_empty())
    }
}

#[cfg(test)]
#[path = "tests/outline.rs"]
mod tests;
