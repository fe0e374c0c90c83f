//! Names of lambdas that tell where they are written. The JDK's compiler makes them up so, Eclipse's numbers all lambdas of
//! a class: what is told of them, and how it is known again, must not depend on who has compiled it.

use crate::types::{ClassFile, Method};
use crate::{BootstrapArg, Insn};
use std::collections::{BTreeMap, BTreeSet};

/// How all their names begin.
pub const LAMBDA: &str = "lambda$";

/// Gives lambdas that only have a number names that tell.
pub(crate) fn tell(class: &mut ClassFile<'_>) {
    let told = told_lambdas(class);
    if told.is_empty() {
        return;
    }
    for method in &mut class.methods {
        if let Some(name) = told.get(&*method.name) {
            method.name = name.clone().into();
        }
    }
    let own = class.name.clone();
    for arg in class.bootstrap_methods.iter_mut().flat_map(|bootstrap| &mut bootstrap.args) {
        if let BootstrapArg::MethodHandle(handle) = arg
            && handle.class == own
            && let Some(name) = told.get(&*handle.name)
        {
            handle.name = name.clone().into();
        }
    }
}

/// The lambdas of a class by the method they are written in, for those whose names do not tell: from `lambda$3` to
/// `lambda$deposit$3`.
pub fn told_lambdas(class: &ClassFile<'_>) -> BTreeMap<String, String> {
    let mut told = BTreeMap::new();
    let is_plain = |name: &str| name.strip_prefix(LAMBDA).is_some_and(is_number);
    if !class.methods.iter().any(|method| is_plain(&method.name)) {
        return told;
    }
    for method in class.methods.iter().filter(|method| !is_plain(&method.name)) {
        let within = match &*method.name {
            "<init>" => "new",
            "<clinit>" => "static",
            name => name,
        };
        for lambda in lambdas_of(class, &[method]) {
            if let Some(number) = lambda.strip_prefix(LAMBDA).filter(|number| is_number(number)) {
                told.insert(lambda.clone(), format!("{LAMBDA}{within}${number}"));
            }
        }
    }
    told
}

/// Is it a number and nothing else?
pub fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names of the lambdas that these methods make, and those that these make in turn.
pub fn lambdas_of(class: &ClassFile<'_>, methods: &[&Method<'_>]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&Method<'_>> = methods.to_vec();
    while let Some(method) = open.pop() {
        for name in made_in(class, method) {
            if found.insert(name.clone()) {
                open.extend(class.methods.iter().filter(|other| *other.name == *name));
            }
        }
    }
    found
}

fn made_in(class: &ClassFile<'_>, method: &Method<'_>) -> Vec<String> {
    let Some(code) = &method.code else { return Vec::new() };
    let mut names = Vec::new();
    for (_, insn) in code.instructions(class).flatten() {
        let Insn::InvokeDynamic { bootstrap, .. } = insn else { continue };
        let Some(bootstrap) = class.bootstrap_methods.get(usize::from(bootstrap)) else { continue };
        for arg in &bootstrap.args {
            if let BootstrapArg::MethodHandle(handle) = arg
                && handle.class == class.name
                && handle.name.starts_with(LAMBDA)
            {
                names.push(handle.name.to_string());
            }
        }
    }
    names
}
