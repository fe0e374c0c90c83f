//! Compares with what the JDK's own `javap` prints of a handful of classes: descriptors, pcs, branch targets,
//! names in instructions, handlers, lines and local variables.

use crate::image;
use classfile::{ClassFile, Code, Const, Insn, MethodRef};
use std::process::Command;

const CLASSES: [&str; 8] = [
    "java.lang.String",
    "java.lang.Thread",
    "java.util.HashMap",
    "java.util.concurrent.CompletableFuture",
    "java.util.concurrent.ConcurrentHashMap",
    "java.util.concurrent.ThreadPoolExecutor",
    "java.util.concurrent.locks.ReentrantLock$Sync",
    "java.util.regex.Pattern",
];

#[test]
fn a_handful_of_classes_is_read_as_javap_prints_it() {
    let theirs = facts_of_javap(&javap(&CLASSES));
    let ours: Vec<_> = image::with_classes(|classes| {
        let path = |name: &str| format!("/java.base/{}.class", name.replace('.', "/"));
        let find = |path| classes.iter().find(|class| class.full_name() == path).expect("in java.base");
        let found = CLASSES.iter().map(|name| find(path(name)));
        found.flat_map(|class| facts_of_class(&classfile::parse(class.data()).expect("a class"))).collect()
    });
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
    println!("{} facts are the same", ours.len());
    assert!(ours.len() > 20_000);
}

fn javap(classes: &[&str]) -> String {
    let javap = image::java_home().join("bin/javap");
    let output = Command::new(&javap).args(["-p", "-c", "-l", "-s"]).args(classes).output();
    let output = output.unwrap_or_else(|e| panic!("{}: {e}", javap.display()));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("javap prints UTF-8")
}

/// What a line stands under.
#[derive(Clone, Copy)]
enum Section {
    Other,
    Code,
    Switch,
    Handlers,
    Lines,
    Locals,
}

/// The lines of javap's output that state something we read too, in a form both sides can write.
fn facts_of_javap(output: &str) -> Vec<String> {
    let mut facts = Vec::new();
    let mut section = Section::Other;
    for line in output.lines().map(str::trim) {
        let words: Vec<_> = line.split_whitespace().collect();
        match (section, &*words) {
            (_, ["descriptor:", descriptor]) => facts.push(format!("descriptor {descriptor}")),
            (_, ["Code:"]) => section = Section::Code,
            (_, ["Exception", "table:"]) => section = Section::Handlers,
            (_, ["LineNumberTable:"]) => section = Section::Lines,
            (_, ["LocalVariableTable:"]) => section = Section::Locals,
            (_, [] | ["Compiled", "from", ..]) => section = Section::Other,
            (Section::Code, [pc, opcode, operands @ ..]) => {
                let comment = line.split_once("// ").map_or("", |(_, comment)| comment);
                facts.push(format!("{pc}{}", operand_of_javap(opcode, operands, comment)));
                if opcode.ends_with("switch") {
                    section = Section::Switch;
                }
            }
            (Section::Switch, ["}"]) => section = Section::Code,
            (Section::Switch, [key, target]) => facts.push(format!("case {key} -> {target}")),
            (Section::Handlers, [from, to, target, class @ ..]) if *from != "from" => {
                facts.push(format!("handler {from} {to} {target} {}", class.last().unwrap_or(&"")));
            }
            (Section::Lines, ["line", line, pc]) => facts.push(format!("line {line} {pc}")),
            (Section::Locals, [start, len, slot, name, descriptor]) if *start != "Start" => {
                facts.push(format!("local {start} {len} {slot} {name} {descriptor}"));
            }
            _ => {}
        }
    }
    facts
}

fn operand_of_javap(opcode: &str, operands: &[&str], comment: &str) -> String {
    let told = ["Method ", "InterfaceMethod ", "Field ", "class ", "InvokeDynamic "];
    if told.iter().any(|kind| comment.starts_with(kind)) {
        return format!(" {comment}");
    }
    match operands {
        [target] if opcode.starts_with("if") || opcode.starts_with("goto") => format!(" -> {target}"),
        _ => String::new(),
    }
}

fn facts_of_class(class: &ClassFile<'_>) -> Vec<String> {
    let mut facts = Vec::new();
    facts.extend(class.fields.iter().map(|field| format!("descriptor {}", field.descriptor)));
    for method in &class.methods {
        facts.push(format!("descriptor {}", method.descriptor));
        if let Some(code) = &method.code {
            facts_of_code(class, code, &mut facts);
        }
    }
    facts
}

fn facts_of_code(class: &ClassFile<'_>, code: &Code<'_>, facts: &mut Vec<String>) {
    for insn in code.instructions(class) {
        let (pc, insn) = insn.expect("decodable");
        facts.push(format!("{pc}:{}", operand(class, &insn)));
        match insn {
            Insn::TableSwitch { default, low, targets } => {
                facts.extend((low..).zip(targets).map(|(key, target)| format!("case {key}: -> {target}")));
                facts.push(format!("case default: -> {default}"));
            }
            Insn::LookupSwitch { default, pairs } => {
                facts.extend(pairs.iter().map(|(key, target)| format!("case {key}: -> {target}")));
                facts.push(format!("case default: -> {default}"));
            }
            _ => {}
        }
    }
    for handler in &code.handlers {
        let class = handler.catch_type.as_deref().unwrap_or("any");
        facts.push(format!("handler {} {} {} {class}", handler.start, handler.end, handler.target));
    }
    facts.extend(code.lines.iter().map(|(pc, line)| format!("line {line}: {pc}")));
    for local in &code.locals {
        let (start, len, slot) = (local.start, local.len, local.slot);
        facts.push(format!("local {start} {len} {slot} {} {}", local.name, local.descriptor));
    }
}

fn operand(class: &ClassFile<'_>, insn: &Insn<'_>) -> String {
    let member = |owner: &str, name: &str, descriptor: &str| {
        let owner = if owner == class.name { String::new() } else { quoted(owner) + "." };
        format!("{owner}{}:{descriptor}", quoted(name))
    };
    match insn {
        Insn::If { target, .. } | Insn::Goto(target) => format!(" -> {target}"),
        Insn::GetField(field) | Insn::PutField(field) | Insn::GetStatic(field) | Insn::PutStatic(field) => {
            format!(" Field {}", member(&field.class, &field.name, &field.descriptor))
        }
        Insn::Invoke { method: MethodRef { class, name, descriptor, interface }, .. } => {
            let kind = if *interface { "InterfaceMethod" } else { "Method" };
            format!(" {kind} {}", member(class, name, descriptor))
        }
        Insn::InvokeDynamic { bootstrap, name, descriptor } => {
            format!(" InvokeDynamic #{bootstrap}:{}:{descriptor}", quoted(name))
        }
        Insn::New(class)
        | Insn::NewRefArray(class)
        | Insn::MultiNewArray { class, .. }
        | Insn::CheckCast(class)
        | Insn::InstanceOf(class)
        | Insn::Const(Const::Class(class)) => format!(" class {}", quoted(class)),
        _ => String::new(),
    }
}

/// javap puts what is no identifier or package path between quotes.
fn quoted(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_alphanumeric() || "_$/".contains(c));
    if plain { name.to_owned() } else { format!("\"{name}\"") }
}
