//! Adds a modifier to a method or field, where convention has it. Knows which modifiers exclude each other, not what
//! they do.

use super::TextEdit;
use crate::outline::{FieldKind, Method};
use crate::tree::{child_of_kind, children, is_comment, path};
use crate::{FieldDeclaration, MethodDeclaration, Range, Source};
use tree_sitter::Node;

/// The order in which the language's own specification lists them.
const ORDER: [&str; 14] = [
    "public",
    "protected",
    "private",
    "abstract",
    "default",
    "static",
    "sealed",
    "non-sealed",
    "final",
    "transient",
    "volatile",
    "synchronized",
    "native",
    "strictfp",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldModifier {
    Volatile,
    Final,
}

impl FieldModifier {
    fn word(self) -> &'static str {
        match self {
            FieldModifier::Volatile => "volatile",
            FieldModifier::Final => "final",
        }
    }
}

impl Source {
    /// Makes a method synchronised. Constructors, abstract methods and those of interfaces cannot be.
    pub fn make_synchronized(&self, method: &MethodDeclaration) -> Option<Vec<TextEdit>> {
        let outline = self.outline();
        let name = self.span(method.name_range);
        let found: &Method = outline.methods.iter().find(|one| one.name_span == name)?;
        let can_be = !found.is_constructor && !outline.classes[found.class].is_interface;
        let has = |modifier: &str| found.modifiers.iter().any(|one| one == modifier);
        if !can_be || self.method(found).is_abstract || has("synchronized") {
            return None;
        }
        self.with_modifier(method.name_range, "method_declaration", "synchronized")
    }

    /// Makes a field volatile or final, and with it the others that the same declaration has. Never both, and not what
    /// it is already.
    pub fn add_field_modifier(
        &self,
        field: &FieldDeclaration,
        modifier: FieldModifier,
    ) -> Option<Vec<TextEdit>> {
        let outline = self.outline();
        let name = self.span(field.name_range);
        let found = outline.fields.iter().find(|one| one.name_span == name)?;
        let can_be = found.kind == FieldKind::Declared && !outline.classes[found.class].is_interface;
        if !can_be || found.modifiers.iter().any(|one| one == "volatile" || one == "final") {
            return None;
        }
        self.with_modifier(field.name_range, "field_declaration", modifier.word())
    }

    fn with_modifier(&self, name: Range, kind: &str, modifier: &str) -> Option<Vec<TextEdit>> {
        let path = path(self.root(), &self.span(name));
        let declaration = *path.iter().rev().find(|node| node.kind() == kind)?;
        let before = following(declaration, modifier)?;
        Some(vec![self.insertion(before.start_byte(), format!("{modifier} "))])
    }
}

/// What stands behind the modifiers that come before this one: behind annotations too if there is no other.
fn following<'t>(declaration: Node<'t>, modifier: &str) -> Option<Node<'t>> {
    let rank = |word: &str| ORDER.iter().position(|one| *one == word);
    let modifiers = child_of_kind(declaration, "modifiers").into_iter().flat_map(children);
    let rest = children(declaration).filter(|child| child.kind() != "modifiers");
    let parts: Vec<Node<'t>> = modifiers.chain(rest).filter(|node| !is_comment(*node)).collect();
    let is_before = |node: &Node<'t>| rank(node.kind()).is_some_and(|one| Some(one) < rank(modifier));
    let is_annotation = |node: &&Node<'t>| matches!(node.kind(), "annotation" | "marker_annotation");
    match parts.iter().rposition(is_before) {
        Some(last) => parts.get(last + 1).copied(),
        None => parts.iter().find(|node| !is_annotation(node)).copied(),
    }
}

#[cfg(test)]
#[path = "../tests/modifier.rs"]
mod tests;
