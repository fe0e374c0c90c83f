//! What an identifier means where it is used: a local variable, a field of a class around it, or something else. Sees
//! one source only, so what is inherited from elsewhere stays unknown.

use crate::outline::{FieldKind, Outline, spread_name};
use crate::tree::{self, children, is_class_body, nodes, role};
use tree_sitter::Node;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A field of this class.
    Field(usize),
    /// Perhaps a field, of another class.
    Unknown,
    /// No field: a local variable, a label, a method, a type.
    Nothing,
}

/// What the identifier at the end of a path means.
pub(crate) fn meaning(text: &str, outline: &Outline, path: &[Node<'_>]) -> Meaning {
    let [.., parent, name] = path else { return Meaning::Nothing };
    let above = &path[..path.len() - 1];
    match parent.kind() {
        "field_access" if role(*parent, "field") == Some(*name) => {
            selected(text, outline, above, *parent, tree::text(text, *name))
        }
        _ if is_value(*parent, *name) => bare(text, outline, path, tree::text(text, *name)),
        _ => Meaning::Nothing,
    }
}

/// Whether an identifier is an expression, rather than a name that is declared or of something else than a variable.
fn is_value(parent: Node<'_>, name: Node<'_>) -> bool {
    match parent.kind() {
        "variable_declarator"
        | "formal_parameter"
        | "enhanced_for_statement"
        | "method_invocation"
        | "instanceof_expression" => role(parent, "name") != Some(name),
        "resource" => role(parent, "name").is_none(),
        "lambda_expression" => role(parent, "parameters") != Some(name),
        "element_value_pair" => role(parent, "key") != Some(name),
        "method_reference" => children(parent).next() == Some(name),
        "catch_formal_parameter"
        | "inferred_parameters"
        | "type_pattern"
        | "record_pattern"
        | "record_pattern_component"
        | "receiver_parameter"
        | "spread_parameter"
        | "labeled_statement"
        | "break_statement"
        | "continue_statement"
        | "scoped_identifier"
        | "marker_annotation"
        | "annotation"
        | "package_declaration"
        | "import_declaration"
        | "class_declaration"
        | "interface_declaration"
        | "enum_declaration"
        | "record_declaration"
        | "annotation_type_declaration"
        | "annotation_type_element_declaration"
        | "method_declaration"
        | "constructor_declaration"
        | "compact_constructor_declaration"
        | "enum_constant" => false,
        kind => !kind.ends_with("_directive") && kind != "module_declaration",
    }
}

/// `this.x`, `Outer.this.x`, `super.x`, `Outer.x`; anything else before the dot has a type that is not known here.
fn selected(text: &str, outline: &Outline, path: &[Node<'_>], access: Node<'_>, name: &str) -> Meaning {
    let class = || outline.class_around(path);
    let Some(object) = role(access, "object") else { return Meaning::Unknown };
    let of = match object.kind() {
        "this" => class(),
        "super" => class()
            .and_then(|class| outline.classes[class].supers.iter().find_map(|above| outline.named(above))),
        "field_access" if role(object, "field").is_some_and(|field| field.kind() == "this") => {
            role(object, "object").and_then(|outer| outline.named(tree::text(text, outer)))
        }
        "identifier" if tree::child_of_kind(access, "super").is_none() => {
            let mut to_object = path.to_vec();
            to_object.push(object);
            let word = tree::text(text, object);
            let is_class = bare(text, outline, &to_object, word) == Meaning::Unknown;
            outline.named(word).filter(|_| is_class)
        }
        _ => None,
    };
    of.and_then(|class| outline.owner(class, name)).map_or(Meaning::Unknown, Meaning::Field)
}

/// Looks outwards from the end of a path: the nearest thing of that name is meant.
fn bare(text: &str, outline: &Outline, path: &[Node<'_>], name: &str) -> Meaning {
    for pair in path.windows(2).rev() {
        let (around, inner) = (pair[0], pair[1]);
        if is_class_body(around) {
            let owner = outline.class_of_body(around).and_then(|class| outline.owner(class, name));
            if let Some(owner) = owner {
                return Meaning::Field(owner);
            }
        } else if around.kind() == "compact_constructor_declaration" {
            let class = outline.class_around(path);
            let is_it = |kind| kind == FieldKind::Component;
            if outline
                .fields
                .iter()
                .any(|one| Some(one.class) == class && one.name == name && is_it(one.kind))
            {
                return Meaning::Nothing;
            }
        } else if declares(text, around, inner, name) {
            return Meaning::Nothing;
        }
    }
    Meaning::Unknown
}

/// Whether a node declares a local variable that its child `inner` can see.
fn declares(text: &str, around: Node<'_>, inner: Node<'_>, name: &str) -> bool {
    let is_it = |node: Node<'_>| tree::text(text, node) == name;
    let named = |node: Node<'_>| role(node, "name").is_some_and(is_it);
    let before = || children(around).take_while(|child| child.start_byte() < inner.start_byte());
    match around.kind() {
        "block" | "constructor_body" | "switch_block_statement_group" | "program" => before().any(|child| {
            variable(child, &is_it)
                || child.kind() == "switch_label" && binds(child, &is_it)
                || lets_through(text, child) && binds(child, &is_it)
        }),
        "switch_block" => before().flat_map(children).any(|child| variable(child, &is_it)),
        "local_variable_declaration" => {
            children(around).take_while(|child| child.start_byte() <= inner.start_byte()).any(named)
        }
        "for_statement" => before().any(|child| variable(child, &is_it) || binds(child, &is_it)),
        "enhanced_for_statement" => role(around, "value") != Some(inner) && named(around),
        "try_with_resources_statement" => {
            role(around, "body") == Some(inner)
                && role(around, "resources").is_some_and(|all| children(all).any(named))
        }
        "resource_specification" => before().any(named),
        "catch_clause" => before().any(named),
        "lambda_expression" | "method_declaration" | "constructor_declaration" => {
            role(around, "parameters").is_some_and(|all| parameter(all, &is_it))
        }
        "if_statement" | "while_statement" | "binary_expression" | "ternary_expression" | "switch_rule"
        | "switch_label" => before().any(|child| binds(child, &is_it)),
        _ => false,
    }
}

fn variable<'t>(node: Node<'t>, is_it: &impl Fn(Node<'t>) -> bool) -> bool {
    node.kind() == "local_variable_declaration"
        && children(node).filter_map(|child| role(child, "name")).any(is_it)
}

fn parameter<'t>(list: Node<'t>, is_it: &impl Fn(Node<'t>) -> bool) -> bool {
    let name = |node: Node<'t>| match node.kind() {
        "identifier" => Some(node),
        "spread_parameter" => spread_name(node),
        _ => role(node, "name"),
    };
    list.kind() == "identifier" && is_it(list) || children(list).filter_map(name).any(is_it)
}

/// `if (!(o instanceof A a)) return;` lets `a` be seen by what follows.
pub(crate) fn lets_through(text: &str, node: Node<'_>) -> bool {
    let condition = || role(node, "condition").is_some_and(|it| tree::text(text, it).contains('!'));
    matches!(node.kind(), "if_statement" | "while_statement") && condition()
}

/// Whether a pattern in there binds the name.
fn binds<'t>(node: Node<'t>, is_it: &impl Fn(Node<'t>) -> bool) -> bool {
    nodes(node).filter_map(bound).any(is_it)
}

/// The variable that a pattern binds.
pub(crate) fn bound(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "instanceof_expression" => role(node, "name"),
        "type_pattern" | "record_pattern_component" => {
            children(node).filter(|child| child.kind() == "identifier").last()
        }
        _ => None,
    }
}
