//! What stands at a place of the text: a field, a method, something synchronised. Says no more than syntax alone can
//! tell; whose member `other.x` is, it refuses to guess.

use crate::outline::Outline;
use crate::scope::{Meaning, meaning};
use crate::tree::{path, role};
use crate::{MethodDeclaration, Position, Range, Source, tree};
use tree_sitter::Node;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// The declaration of a field or a use of it. The class has a binary name: `bank.Bank$Node`.
    Field {
        class: String,
        name: String,
        range: Range,
    },
    /// Something that may be a field, of a class that syntax does not tell.
    Member {
        name: String,
        range: Range,
    },
    /// The name of a method or constructor where it is declared.
    Method(MethodDeclaration),
    Synchronized(Synchronized),
}

/// A `synchronized` block or method, at the word or at what it locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synchronized {
    /// The class that it stands in.
    pub class: String,
    /// The method that it stands in, or is; none in an initialiser.
    pub method: Option<String>,
    pub is_method: bool,
    /// What is locked, as it is written; for a method `this` or `Account.class`.
    pub lock: String,
    /// `synchronized (lock)`, or the bare word of a method.
    pub range: Range,
    /// The lock alone; the bare word of a method.
    pub lock_range: Range,
}

impl Source {
    /// What stands at a position, or ends there.
    pub fn what_is_at(&self, position: Position) -> Option<Thing> {
        let at = self.offset(position);
        self.thing_at(at).or_else(|| self.thing_at(self.text[..at].char_indices().next_back()?.0))
    }

    fn thing_at(&self, at: usize) -> Option<Thing> {
        let path = path(self.root(), &(at..at + 1));
        let leaf = *path.last().filter(|leaf| leaf.byte_range().contains(&at))?;
        if let Some(found) = self.synchronized(&path) {
            return Some(Thing::Synchronized(found));
        }
        if leaf.kind() != "identifier" {
            return None;
        }
        self.declared(leaf).or_else(|| self.used(&path))
    }

    /// `path` ends at the word or inside of what is locked.
    fn synchronized(&self, path: &[Node<'_>]) -> Option<Synchronized> {
        path.windows(2).enumerate().rev().find_map(|(at, pair)| match (pair[0].kind(), pair[1].kind()) {
            ("synchronized_statement", "synchronized" | "parenthesized_expression") => {
                self.synchronized_block(pair[0], &path[..at])
            }
            ("modifiers", "synchronized") => self.synchronized_method(pair[1], &path[..at]),
            _ => None,
        })
    }

    fn synchronized_block(&self, block: Node<'_>, above: &[Node<'_>]) -> Option<Synchronized> {
        let parentheses = tree::child_of_kind(block, "parenthesized_expression")?;
        let lock = lock_of(block)?;
        Some(Synchronized {
            class: self.class_name(above),
            method: self.method_name(above),
            is_method: false,
            lock: self.text_of(lock).to_owned(),
            range: self.range(block.start_byte()..parentheses.end_byte()),
            lock_range: self.range(lock.byte_range()),
        })
    }

    fn synchronized_method(&self, word: Node<'_>, above: &[Node<'_>]) -> Option<Synchronized> {
        let method = self.method_name(above)?;
        let class = self.outline().class_around(above).map(|class| &self.outline().classes[class]);
        let modifiers = above.last().and_then(|method| tree::child_of_kind(*method, "modifiers"))?;
        let lock = match tree::child_of_kind(modifiers, "static") {
            Some(_) => format!("{}.class", class.map_or("", |class| &class.simple)),
            None => "this".to_owned(),
        };
        Some(Synchronized {
            class: class.map(|class| class.name.clone()).unwrap_or_default(),
            method: Some(method),
            is_method: true,
            lock,
            range: self.range(word.byte_range()),
            lock_range: self.range(word.byte_range()),
        })
    }

    fn class_name(&self, path: &[Node<'_>]) -> String {
        let class = self.outline().class_around(path);
        class.map(|class| self.outline().classes[class].name.clone()).unwrap_or_default()
    }

    fn method_name(&self, path: &[Node<'_>]) -> Option<String> {
        let mut inside = path.iter().rev().take_while(|node| !tree::is_class_body(**node));
        let name = role(*inside.find(|node| is_method(**node))?, "name")?;
        Some(self.text_of(name).to_owned())
    }

    fn declared(&self, name: Node<'_>) -> Option<Thing> {
        let outline = self.outline();
        let span = name.byte_range();
        if let Some(field) = outline.fields.iter().find(|field| field.name_span == span) {
            return Some(self.field_thing(outline, field.class, name));
        }
        let method = outline.methods.iter().find(|method| method.name_span == span)?;
        Some(Thing::Method(self.method(method)))
    }

    fn used(&self, path: &[Node<'_>]) -> Option<Thing> {
        let outline = self.outline();
        let name = *path.last()?;
        match meaning(&self.text, outline, path) {
            Meaning::Field(class) => Some(self.field_thing(outline, class, name)),
            Meaning::Unknown => {
                let range = self.range(name.byte_range());
                Some(Thing::Member { name: self.text_of(name).to_owned(), range })
            }
            Meaning::Nothing => None,
        }
    }

    fn field_thing(&self, outline: &Outline, class: usize, name: Node<'_>) -> Thing {
        Thing::Field {
            class: outline.classes[class].name.clone(),
            name: self.text_of(name).to_owned(),
            range: self.range(name.byte_range()),
        }
    }
}

/// What a `synchronized` block locks.
pub(crate) fn lock_of(block: Node<'_>) -> Option<Node<'_>> {
    let parentheses = tree::child_of_kind(block, "parenthesized_expression")?;
    tree::children(parentheses).find(|child| child.is_named() && !tree::is_comment(*child))
}

fn is_method(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "method_declaration" | "constructor_declaration" | "compact_constructor_declaration"
    )
}

#[cfg(test)]
#[path = "tests/at.rs"]
mod tests;
