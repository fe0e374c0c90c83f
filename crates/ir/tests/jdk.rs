//! Lowers every method of the JDK and checks each body with the independent verifier and against its bytecode.
//! Says nothing of meaning beyond "the statement is there".

mod support;

use classfile::{ClassSource, Code, Insn};
use ir::{Program, StmtKind, verify};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;

#[test]
fn every_method_of_the_jdk_becomes_a_valid_body() {
    let start = Instant::now();
    let jdk = Arc::new(support::Jdk::open());
    let names = jdk.class_names("");
    let counts: Vec<(usize, usize)> = names.par_chunks(250).map(|names| check_classes(&jdk, names)).collect();
    let methods: usize = counts.iter().map(|count| count.0).sum();
    let stmts: usize = counts.iter().map(|count| count.1).sum();
    println!(
        "{} classes, {methods} methods, {stmts} statements checked in {:.1?}",
        names.len(),
        start.elapsed()
    );
    assert!(methods > 100_000, "only {methods} methods found");
}

fn check_classes(jdk: &Arc<support::Jdk>, names: &[String]) -> (usize, usize) {
    let mut program = Program::new(jdk.clone());
    let (mut methods, mut stmts) = (0, 0);
    for name in names {
        let class = program.class_id(name);
        program.load(class);
        let bytes = jdk.find(name).expect("listed").bytes;
        let file = classfile::parse(&bytes).expect("readable");
        for parsed in &file.methods {
            let selector = program.selector(&parsed.name, &parsed.descriptor);
            let method = program.declared_method(ir::MethodRef { class, selector }).expect("declared");
            let Some(body) = program.body(method) else {
                assert!(parsed.code.is_none(), "{name}.{} has no body", parsed.name);
                continue;
            };
            let code = parsed.code.as_ref().expect("a body comes from code");
            let checked = verify(&body).and_then(|()| covers(&body, &file, code));
            if let Err(wrong) = checked {
                panic!("{name}.{}{}: {wrong}\n{}", parsed.name, parsed.descriptor, ir::dump(&program, &body));
            }
            methods += 1;
            stmts += body.stmts.count();
        }
    }
    assert_eq!(program.problems, [], "{names:?}");
    (methods, stmts)
}

/// Every reachable access, monitor and call instruction has its statement.
fn covers(body: &ir::Body, file: &classfile::ClassFile<'_>, code: &Code<'_>) -> Result<(), String> {
    let insns: Vec<(u32, Insn<'_>)> = code.instructions(file).collect::<Result<_, _>>().expect("decodes");
    let mut found: Vec<(u32, u8)> =
        body.stmts.iter().filter_map(|(_, stmt)| Some((stmt.pc, kind_of_stmt(&stmt.kind)?))).collect();
    found.sort_unstable();
    for at in reachable(&insns, code) {
        let (pc, insn) = &insns[at];
        if let Some(kind) = kind_of_insn(insn)
            && found.binary_search(&(*pc, kind)).is_err()
        {
            return Err(format!("no statement for {insn:?} at {pc}"));
        }
    }
    Ok(())
}

fn kind_of_stmt(kind: &StmtKind) -> Option<u8> {
    Some(match kind {
        StmtKind::Load { .. } => 0,
        StmtKind::Store { .. } => 1,
        StmtKind::LoadStatic { .. } => 2,
        StmtKind::StoreStatic { .. } => 3,
        StmtKind::LoadElem { .. } => 4,
        StmtKind::StoreElem { .. } => 5,
        StmtKind::Call { .. } => 6,
        StmtKind::MonitorEnter { .. } => 7,
        StmtKind::MonitorExit { .. } => 8,
        StmtKind::New { .. } => 9,
        StmtKind::NewArray { .. } => 10,
        StmtKind::Throw { .. } => 11,
        _ => return None,
    })
}

fn kind_of_insn(insn: &Insn<'_>) -> Option<u8> {
    Some(match insn {
        Insn::GetField(_) => 0,
        Insn::PutField(_) => 1,
        Insn::GetStatic(_) => 2,
        Insn::PutStatic(_) => 3,
        Insn::ArrayLoad(_) => 4,
        Insn::ArrayStore(_) => 5,
        Insn::Invoke { .. } => 6,
        Insn::MonitorEnter => 7,
        Insn::MonitorExit => 8,
        Insn::New(_) => 9,
        Insn::NewPrimArray(_) | Insn::NewRefArray(_) | Insn::MultiNewArray { .. } => 10,
        Insn::Throw => 11,
        _ => return None,
    })
}

/// Instructions reached from the first one; a handler by an instruction of interest in its range.
fn reachable(insns: &[(u32, Insn<'_>)], code: &Code<'_>) -> Vec<usize> {
    let index = |pc: u32| insns.binary_search_by_key(&pc, |insn| insn.0).expect("a jump to an instruction");
    let mut seen = vec![false; insns.len()];
    let mut left = vec![0];
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let (pc, insn) = &insns[at];
        let mut falls = true;
        match insn {
            Insn::If { target, .. } => left.push(index(*target)),
            Insn::Goto(target) => {
                left.push(index(*target));
                falls = false;
            }
            Insn::TableSwitch { default, targets, .. } => {
                left.extend(targets.iter().chain([default]).map(|&target| index(target)));
                falls = false;
            }
            Insn::LookupSwitch { default, pairs } => {
                left.extend(pairs.iter().map(|&(_, target)| target).chain([*default]).map(index));
                falls = false;
            }
            Insn::Return(_) | Insn::Throw => falls = false,
            _ => {}
        }
        if falls {
            left.push(at + 1);
        }
        if kind_of_insn(insn).is_some() {
            for handler in &code.handlers {
                if (u32::from(handler.start)..u32::from(handler.end)).contains(pc) {
                    left.push(index(handler.target.into()));
                    if handler.catch_type.is_none() {
                        break;
                    }
                }
            }
        }
    }
    (0..insns.len()).filter(|&at| seen[at]).collect()
}
