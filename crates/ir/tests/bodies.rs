//! What small Java methods become, as snapshots to be read beside the sources in `java/`. Each is also verified.

mod support;

use ir::{Program, dump, verify};
use std::sync::Arc;

/// The dumps of all methods of the file's class, constructors left out.
fn lowered(class: &str) -> String {
    let source = support::Memory { classes: support::java().clone(), below: None };
    let mut program = Program::new(Arc::new(source));
    let mut out = String::new();
    let class = program.class_id(class);
    for method in program.load(class).methods.clone() {
        let Some(body) = program.body(method) else { continue };
        verify(&body).expect("valid body");
        let (name, _) = program.selector_text(program.method(method).selector);
        if name != "<init>" {
            out += &format!("{}{}\n", program.method_display(method), dump(&program, &body));
        }
    }
    out
}

#[test]
fn a_loop_joins_its_variables() {
    insta::assert_snapshot!(lowered("Loop"));
}

#[test]
fn a_synchronized_block_keeps_both_exits() {
    insta::assert_snapshot!(lowered("Synchronized"));
}

#[test]
fn a_handler_sees_every_value_of_its_range() {
    insta::assert_snapshot!(lowered("Handlers"));
}

#[test]
fn lambdas_and_method_references() {
    insta::assert_snapshot!(lowered("Lambdas"));
}

#[test]
fn long_and_double_take_two_slots() {
    insta::assert_snapshot!(lowered("Wide"));
}

#[test]
fn arrays_of_arrays() {
    insta::assert_snapshot!(lowered("Arrays"));
}

#[test]
fn records_strings_and_constants() {
    insta::assert_snapshot!(lowered("Point"));
}

#[test]
fn switches_and_conditions() {
    insta::assert_snapshot!(lowered("Choices"));
}

#[test]
fn code_after_an_endless_loop_is_dropped() {
    insta::assert_snapshot!(lowered("Spin"));
}
