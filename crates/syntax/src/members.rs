//! The fields and methods that a source declares, as others see them. Refuses to tell of fields that nobody has
//! declared as such: components of records and constants of enums.

use crate::outline::{Field, FieldKind, Method};
use crate::{Range, Source};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDeclaration {
    /// The binary name of its class: `bank.Bank$Node`.
    pub class: String,
    pub name: String,
    /// The type as it is written, without spaces: `Map<String, int[]>`.
    pub type_text: String,
    /// In their order, without annotations.
    pub modifiers: Vec<String>,
    pub name_range: Range,
    /// The whole declaration with its modifiers and `;`, which may be of several fields.
    pub range: Range,
    pub has_initialiser: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodDeclaration {
    /// The binary name of its class: `bank.Bank$Node`.
    pub class: String,
    /// As it is written, which is the name of the class for a constructor.
    pub name: String,
    /// Their types as they are written: `int[]`, `List<String>`, `Object...`.
    pub parameters: Vec<String>,
    /// In their order, without annotations.
    pub modifiers: Vec<String>,
    pub name_range: Range,
    /// The whole declaration with its modifiers and annotations.
    pub range: Range,
    /// From `{` to `}`.
    pub body: Option<Range>,
    pub is_static: bool,
    pub is_abstract: bool,
    pub is_constructor: bool,
}

impl Source {
    /// All fields that are declared, in the order of the text.
    pub fn fields(&self) -> Vec<FieldDeclaration> {
        let declared = self.outline().fields.iter().filter(|field| field.kind == FieldKind::Declared);
        declared.map(|field| self.field(field)).collect()
    }

    /// All methods and constructors, in the order of the text.
    pub fn methods(&self) -> Vec<MethodDeclaration> {
        self.outline().methods.iter().map(|method| self.method(method)).collect()
    }

    /// The innermost method that has this line, its header and annotations included.
    pub fn method_at(&self, line: u32) -> Option<MethodDeclaration> {
        let has_line = |method: &&Method| {
            (self.lines.line(method.span.start)..=self.lines.line(method.span.end)).contains(&line)
        };
        let around = self.outline().methods.iter().filter(has_line);
        around.min_by_key(|method| method.span.len()).map(|method| self.method(method))
    }

    /// The binary names of all classes, in the order of the text.
    pub fn classes(&self) -> Vec<String> {
        self.outline().classes.iter().map(|class| class.name.clone()).collect()
    }

    fn field(&self, field: &Field) -> FieldDeclaration {
        FieldDeclaration {
            class: self.outline().classes[field.class].name.clone(),
            name: field.name.clone(),
            type_text: field.type_text.clone(),
            modifiers: field.modifiers.clone(),
            name_range: self.range(field.name_span.clone()),
            range: self.range(field.span.clone()),
            has_initialiser: field.has_initialiser,
        }
    }

    pub(crate) fn method(&self, method: &Method) -> MethodDeclaration {
        let has = |modifier: &str| method.modifiers.iter().any(|one| one == modifier);
        MethodDeclaration {
            class: self.outline().classes[method.class].name.clone(),
            name: method.name.clone(),
            parameters: method.parameters.clone(),
            modifiers: method.modifiers.clone(),
            name_range: self.range(method.name_span.clone()),
            range: self.range(method.span.clone()),
            body: method.body.clone().map(|body| self.range(body)),
            is_static: has("static"),
            is_abstract: has("abstract") || method.body.is_none() && !has("native"),
            is_constructor: method.is_constructor,
        }
    }
}

#[cfg(test)]
#[path = "tests/members.rs"]
mod tests;
