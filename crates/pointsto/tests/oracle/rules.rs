//! Programs that once went wrong, each for the rule it is about. Their sources and models are in `java`.

use crate::case::{Case, compile, open};
use fixture::Fixture;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[test]
fn tasks_made_by_constructors_of_tasks_end() {
    let case = case("TasksInConstructors");
    case.agree();
    assert!(case.solve().acts < 50);
}

#[test]
fn constructors_called_by_containers_end() {
    let case = case("ConstructorsInContainers");
    case.agree();
    assert!(case.solve().acts < 50);
}

#[test]
fn contexts_that_multiply_are_given_up() {
    let solved = case("MultiplyingContexts").solve();
    assert!(solved.merged_origins > 0);
    assert!(solved.acts < 100_000);
}

#[test]
fn private_methods_are_not_overridden() {
    let case = case("PrivateMethods");
    case.agree();
    let methods = case.solve().methods;
    assert!(methods.contains("PrivateMethods$Upper.lambdaOfUpper()"), "{methods:?}");
    assert!(methods.contains("PrivateMethods$Upper.callOfUpper()"), "{methods:?}");
    assert!(!methods.iter().any(|name| name.contains("OfLower")), "{methods:?}");
}

#[test]
fn foreign_objects_run_nothing() {
    let case = case("ForeignReceivers");
    case.agree();
    let methods = case.solve().methods;
    assert!(methods.contains("ForeignReceivers$Owner.method()"), "{methods:?}");
    assert!(!methods.iter().any(|name| name.contains("step")), "{methods:?}");
}

#[test]
fn defaults_of_opaque_interfaces_are_called_back_once() {
    let mut case = case("OpaqueDefaults");
    case.options.exclude.push("OpaqueDefaults$Hook".to_string());
    case.agree();
}

#[test]
fn constants_are_those_of_the_call_itself() {
    let case = case("ConstantsBehindLambdas");
    case.agree();
    let methods = case.solve().methods;
    assert!(!methods.iter().any(|name| name.contains("Wrong")), "{methods:?}");
}

#[test]
fn results_nobody_keeps_are_the_models_alone() {
    case("UnkeptResults").agree();
}

#[test]
fn new_results_are_of_the_method_that_runs() {
    case("ResultTypes").agree();
}

#[test]
fn models_may_call_each_other() {
    case("ModelCycles").agree();
}

fn case(name: &str) -> Case {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/java");
    static COMPILED: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let sources = Fixture::below(&directory, "").expect("readable sources");
    let at = sources.iter().position(|source| source.name == format!("{name}.java")).expect("a source");
    let classes = &COMPILED.get_or_init(|| compile(&sources))[at];
    let mut case = Case::new(name, open(classes));
    case.models = std::fs::read_to_string(directory.join(format!("{name}.toml"))).unwrap_or_default();
    case
}
