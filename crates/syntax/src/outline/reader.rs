//! Reads the outline of a source, node by node. Knows how compilers name classes, and nothing of who asks.

use super::{Class, Field, FieldKind, Method, Outline};
use crate::tree::{self, Step, child_of_kind, is_class_body, role};
use std::collections::HashMap;
use tree_sitter::Node;

pub(super) struct Reader<'s, 't> {
    text: &'s str,
    package: String,
    path: Vec<Node<'t>>,
    /// The classes that are open, with how long the path was where each began.
    open: Vec<(usize, usize)>,
    /// How many classes inside of methods there are already, by the class around them and their name.
    numbers: HashMap<(usize, String), usize>,
    out: Outline,
}

impl<'s, 't> Reader<'s, 't> {
    pub fn new(root: Node<'t>, text: &'s str) -> Reader<'s, 't> {
        Reader {
            text,
            package: package(root, text),
            path: Vec::new(),
            open: Vec::new(),
            numbers: HashMap::new(),
            out: Outline::default(),
        }
    }

    pub fn into_outline(self) -> Outline {
        self.out
    }

    pub fn step(&mut self, step: Step<'t>) {
        match step {
            Step::Enter(node) => {
                self.enter(node);
                self.path.push(node);
            }
            Step::Leave => {
                self.path.pop();
                if self.open.last().is_some_and(|(_, depth)| *depth == self.path.len()) {
                    self.open.pop();
                }
            }
        }
    }

    fn enter(&mut self, node: Node<'t>) {
        // Most nodes are leaves, and asking for a kind is what takes time.
        if node.child_count() == 0 {
            return;
        }
        if is_class_body(node) {
            return self.class(node);
        }
        let Some(&(class, _)) = self.open.last() else { return };
        match node.kind() {
            "field_declaration" | "constant_declaration" => self.fields(class, node),
            "enum_constant" => self.constant(class, node),
            "method_declaration" | "constructor_declaration" | "compact_constructor_declaration" => {
                self.method(class, node);
            }
            _ => {}
        }
    }

    fn class(&mut self, body: Node<'t>) {
        let Some(&head) = self.path.last() else { return };
        let name = role(head, "name").filter(|_| is_class(head));
        let simple = name.map(|name| self.text_of(name).to_owned()).unwrap_or_default();
        let class = Class {
            name: self.binary_name(&simple),
            supers: self.supers(head),
            is_interface: matches!(body.kind(), "interface_body" | "annotation_type_body"),
            head: name
                .map_or(body.start_byte()..body.start_byte(), |name| head.start_byte()..name.end_byte()),
            simple,
        };
        let id = self.out.classes.len();
        self.out.classes.push(class);
        self.out.bodies.insert(body.start_byte(), id);
        self.open.push((id, self.path.len()));
        if head.kind() == "record_declaration" {
            self.components(id, head);
        }
    }

    /// As compilers do: `$` and the name for a member, a number as well for a class inside of a method, and the
    /// number alone for an anonymous class; the numbers count within the class that is directly around.
    fn binary_name(&mut self, simple: &str) -> String {
        let Some(&(outer, depth)) = self.open.last() else {
            let dot = if self.package.is_empty() { "" } else { "." };
            return format!("{}{dot}{simple}", self.package);
        };
        let is_local = |node: &Node<'_>| matches!(node.kind(), "block" | "constructor_body" | "switch_block");
        let around = &self.out.classes[outer].name;
        if !simple.is_empty() && !self.path[depth..].iter().any(is_local) {
            return format!("{around}${simple}");
        }
        let number = self.numbers.entry((outer, simple.to_owned())).or_default();
        *number += 1;
        format!("{around}${number}{simple}")
    }

    fn supers(&self, head: Node<'t>) -> Vec<String> {
        let lists = tree::children(head)
            .filter(|child| matches!(child.kind(), "superclass" | "super_interfaces" | "extends_interfaces"));
        let listed = lists.flat_map(|list| match child_of_kind(list, "type_list") {
            Some(types) => tree::children(types).collect::<Vec<_>>(),
            None => tree::children(list).collect(),
        });
        let created = role(head, "type").filter(|_| head.kind() == "object_creation_expression");
        let names = listed.chain(created).filter(Node::is_named).map(|one| {
            let written = tree::squeezed(self.text, one);
            let plain = written.split('<').next().unwrap_or_default();
            plain.rsplit('.').next().unwrap_or_default().to_owned()
        });
        names.collect()
    }

    fn fields(&mut self, class: usize, node: Node<'t>) {
        let type_text = role(node, "type").map(|one| tree::squeezed(self.text, one)).unwrap_or_default();
        for declarator in tree::children(node).filter(|child| child.kind() == "variable_declarator") {
            let Some(name) = role(declarator, "name") else { continue };
            let dimensions = role(declarator, "dimensions").map(|one| tree::squeezed(self.text, one));
            self.out.fields.push(Field {
                class,
                kind: FieldKind::Declared,
                name: self.text_of(name).to_owned(),
                type_text: type_text.clone() + &dimensions.unwrap_or_default(),
                modifiers: self.modifiers(node),
                name_span: name.byte_range(),
                span: node.byte_range(),
                has_initialiser: role(declarator, "value").is_some(),
            });
        }
    }

    fn constant(&mut self, class: usize, node: Node<'t>) {
        let Some(name) = role(node, "name") else { return };
        self.implied(class, FieldKind::Constant, String::new(), name, node);
    }

    fn components(&mut self, class: usize, record: Node<'t>) {
        let Some(parameters) = role(record, "parameters") else { return };
        for parameter in tree::children(parameters) {
            let name = role(parameter, "name").or_else(|| spread_name(parameter));
            if let Some(name) = name {
                let type_text = parameter_type(self.text, parameter).unwrap_or_default();
                self.implied(class, FieldKind::Component, type_text, name, parameter);
            }
        }
    }

    fn implied(
        &mut self,
        class: usize,
        kind: FieldKind,
        type_text: String,
        name: Node<'t>,
        declaration: Node<'t>,
    ) {
        self.out.fields.push(Field {
            class,
            kind,
            name: self.text_of(name).to_owned(),
            type_text,
            modifiers: Vec::new(),
            name_span: name.byte_range(),
            span: declaration.byte_range(),
            has_initialiser: true,
        });
    }

    fn method(&mut self, class: usize, node: Node<'t>) {
        let Some(name) = role(node, "name") else { return };
        let parameters = role(node, "parameters");
        let types = parameters.into_iter().flat_map(tree::children);
        self.out.methods.push(Method {
            class,
            name: self.text_of(name).to_owned(),
            parameters: types.filter_map(|one| parameter_type(self.text, one)).collect(),
            modifiers: self.modifiers(node),
            name_span: name.byte_range(),
            span: node.byte_range(),
            body: role(node, "body").map(|body| body.byte_range()),
            is_constructor: node.kind() != "method_declaration",
        });
    }

    /// The words; annotations are none.
    fn modifiers(&self, node: Node<'t>) -> Vec<String> {
        let all = child_of_kind(node, "modifiers").into_iter().flat_map(tree::children);
        all.filter(|one| !one.is_named()).map(|one| self.text_of(one).to_owned()).collect()
    }

    fn text_of(&self, node: Node<'_>) -> &str {
        tree::text(self.text, node)
    }
}

fn package(root: Node<'_>, text: &str) -> String {
    let declared = tree::children(root).find(|child| child.kind() == "package_declaration");
    let name = declared.and_then(|declared| {
        tree::children(declared).find(|child| matches!(child.kind(), "identifier" | "scoped_identifier"))
    });
    name.map(|name| tree::squeezed(text, name)).unwrap_or_default()
}

fn is_class(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration"
            | "annotation_type_declaration"
    )
}

/// `int[]` of `int a[]`, `String...` of `String... a`.
fn parameter_type(text: &str, parameter: Node<'_>) -> Option<String> {
    let squeezed = |node| tree::squeezed(text, node);
    match parameter.kind() {
        "formal_parameter" => {
            let dimensions = role(parameter, "dimensions").map(squeezed).unwrap_or_default();
            Some(squeezed(role(parameter, "type")?) + &dimensions)
        }
        "spread_parameter" => {
            let written = tree::children(parameter).find(|child| {
                child.is_named() && !matches!(child.kind(), "modifiers" | "line_comment" | "block_comment")
            });
            Some(squeezed(written?) + "...")
        }
        _ => None,
    }
}

pub(crate) fn spread_name(parameter: Node<'_>) -> Option<Node<'_>> {
    child_of_kind(parameter, "variable_declarator").and_then(|declarator| role(declarator, "name"))
}
