//! Where operands come from, computed twice: by a naive data flow over single instructions and two-slot stack
//! positions, and by following phis in the lowered body. Both must name the same instructions, for all of java.base.

mod support;

use classfile::{ArrayKind, ClassFile, ClassSource, Code, Const, Insn, InvokeKind, NumKind};
use ir::descriptor::{self, Type};
use ir::{Body, Program, StmtKind, Var};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;

#[test]
fn operands_come_from_the_same_instructions_as_in_the_bytecode() {
    let jdk = Arc::new(support::Jdk::open());
    let names = jdk.class_names("java.base");
    let compared: usize = names.par_chunks(100).map(|names| compare_classes(&jdk, names)).sum();
    println!("{compared} operands compared");
    assert!(compared > 500_000);
}

fn compare_classes(jdk: &Arc<support::Jdk>, names: &[String]) -> usize {
    let mut program = Program::new(jdk.clone());
    let mut compared = 0;
    for name in names {
        let class = program.class_id(name);
        program.load(class);
        let bytes = jdk.find(name).expect("listed").bytes;
        let file = classfile::parse(&bytes).expect("readable");
        for method in &file.methods {
            // The tables in initialisers of character data are long and dull.
            let Some(code) = method.code.as_ref().filter(|code| code.bytes.len() < 8000) else { continue };
            let selector = program.selector(&method.name, &method.descriptor);
            let id = program.declared_method(ir::MethodRef { class, selector }).expect("declared");
            let body = program.body(id).expect("lowered");
            let is_static = method.access & ir::access::STATIC != 0;
            match compare(&file, code, &method.descriptor, is_static, &body) {
                Ok(count) => compared += count,
                Err(wrong) => panic!("{name}.{}: {wrong}\n{}", method.name, ir::dump(&program, &body)),
            }
        }
    }
    compared
}

/// An instruction by pc, a parameter or the exception that arrives at a pc.
type Origin = u32;
const PARAMETER: Origin = 1 << 28;
const EXCEPTION: Origin = 1 << 29;
type Origins = BTreeSet<Origin>;

fn compare(
    file: &ClassFile<'_>,
    code: &Code<'_>,
    descriptor: &str,
    is_static: bool,
    body: &Body,
) -> Result<usize, String> {
    let insns: Vec<(u32, Insn<'_>)> = code.instructions(file).collect::<Result<_, _>>().expect("decodes");
    let states = flow(code, &insns, descriptor, is_static);
    let mut compared = 0;
    for (_, stmt) in body.stmts.iter() {
        let no_operands = matches!(
            stmt.kind,
            StmtKind::Phi { .. }
                | StmtKind::Catch { .. }
                | StmtKind::Const { .. }
                | StmtKind::NewArray { .. }
        );
        let at = insns.binary_search_by_key(&stmt.pc, |insn| insn.0).expect("a statement of an instruction");
        if no_operands || matches!(insns[at].1, Insn::MultiNewArray { .. }) {
            continue;
        }
        let state = states[at].as_ref().ok_or_else(|| format!("{} is dead", stmt.pc))?;
        let expected = match &insns[at].1 {
            Insn::Iinc { slot, .. } => vec![state.locals[usize::from(*slot)].clone()],
            insn => operands(insn, state),
        };
        let found: Vec<Origins> = stmt.kind.uses().map(|var| origins(body, var)).collect();
        let found = if matches!(insns[at].1, Insn::Iinc { .. }) { found[..1].to_vec() } else { found };
        let is_same =
            |(found, expected): (&Origins, &Origins)| is_as_expected(&insns, &states, found, expected);
        if found.len() != expected.len() || !found.iter().zip(&expected).all(is_same) {
            return Err(format!("operands at {}: {found:?} instead of {expected:?}", stmt.pc));
        }
        compared += found.len();
    }
    Ok(compared)
}

/// The same instructions, but for elements that were just stored: these are what was stored.
fn is_as_expected(
    insns: &[(u32, Insn<'_>)],
    states: &[Option<State>],
    found: &Origins,
    expected: &Origins,
) -> bool {
    if found == expected {
        return true;
    }
    let stored = |load: &Origin| just_stored(insns, states, *load);
    let is_there = |origin: &Origin| {
        found.contains(origin)
            || stored(origin).is_some_and(|stored| is_as_expected(insns, states, &(&stored & found), &stored))
    };
    let mut known = expected.clone();
    loop {
        let more: Origins = known.iter().filter_map(stored).flatten().collect();
        if more.is_subset(&known) {
            break;
        }
        known.extend(more);
    }
    found.is_subset(&known) && expected.iter().all(is_there)
}

/// Where the value comes from that the instruction before a load, constants and variables aside, stored in such an array.
fn just_stored(insns: &[(u32, Insn<'_>)], states: &[Option<State>], load: Origin) -> Option<Origins> {
    let at = insns.binary_search_by_key(&load, |insn| insn.0).ok()?;
    let Insn::ArrayLoad(ArrayKind::Ref) = insns[at].1 else { return None };
    let store = insns[..at].iter().rposition(|(_, insn)| matches!(insn, Insn::ArrayStore(ArrayKind::Ref)))?;
    let [base, index] = operands(&insns[at].1, states[at].as_ref()?).try_into().ok()?;
    let [into, place, stored]: [Origins; 3] =
        operands(&insns[store].1, states[store].as_ref()?).try_into().ok()?;
    let number = |of: &Origins| match of.iter().collect::<Vec<_>>()[..] {
        [&pc] => insns.binary_search_by_key(&pc, |insn| insn.0).ok().map(|at| format!("{:?}", insns[at].1)),
        _ => None,
    };
    let is_one = |a: &Origins, b: &Origins| a == b || (number(a).is_some() && number(a) == number(b));
    (is_one(&base, &into) && is_one(&index, &place)).then_some(stored)
}

fn origins(body: &Body, var: Var) -> Origins {
    let (mut found, mut seen, mut left) = (Origins::new(), BTreeSet::new(), vec![var]);
    while let Some(var) = left.pop() {
        if !seen.insert(var) {
            continue;
        }
        if let Some(at) = body.params.iter().position(|&param| param == var) {
            found.insert(PARAMETER + at as u32);
        }
        let Some(def) = body.vars[var].def else { continue };
        match &body.stmts[def].kind {
            StmtKind::Phi { srcs, .. } => left.extend(srcs),
            StmtKind::Catch { .. } => drop(found.insert(EXCEPTION + body.stmts[def].pc)),
            _ => drop(found.insert(body.stmts[def].pc)),
        }
    }
    found
}

#[derive(Clone, PartialEq)]
struct State {
    locals: Vec<Origins>,
    /// Slots: a long or double takes two, both of the same origins.
    stack: Vec<Origins>,
}

fn flow(code: &Code<'_>, insns: &[(u32, Insn<'_>)], descriptor: &str, is_static: bool) -> Vec<Option<State>> {
    let mut locals = vec![Origins::new(); usize::from(code.max_locals)];
    let receiver = (!is_static).then_some(Type::Ref("this"));
    let mut slot = 0;
    for (at, kind) in receiver.into_iter().chain(descriptor::parameters(descriptor)).enumerate() {
        locals[slot] = Origins::from([PARAMETER + at as u32]);
        slot += size(kind);
    }
    let mut states: Vec<Option<State>> = vec![None; insns.len()];
    states[0] = Some(State { locals, stack: Vec::new() });
    let mut left = BTreeSet::from([0]);
    let index = |pc: u32| insns.binary_search_by_key(&pc, |insn| insn.0).expect("instruction");
    while let Some(at) = left.pop_first() {
        let (pc, insn) = &insns[at];
        let before = states[at].clone().expect("reached");
        let mut arrive = |to: usize, state: &State| match &mut states[to] {
            Some(known) => {
                let old = known.clone();
                for (into, from) in known.locals.iter_mut().zip(&state.locals) {
                    into.extend(from);
                }
                for (into, from) in known.stack.iter_mut().zip(&state.stack) {
                    into.extend(from);
                }
                assert_eq!(known.stack.len(), state.stack.len(), "stack depths");
                if *known != old {
                    left.insert(to);
                }
            }
            unknown => {
                *unknown = Some(state.clone());
                left.insert(to);
            }
        };
        if can_throw(insn, code.bytes[*pc as usize]) {
            for handler in &code.handlers {
                if (u32::from(handler.start)..u32::from(handler.end)).contains(pc) {
                    let exception = Origins::from([EXCEPTION + u32::from(handler.target)]);
                    let state = State { locals: before.locals.clone(), stack: vec![exception] };
                    arrive(index(handler.target.into()), &state);
                    if handler.catch_type.is_none() {
                        break;
                    }
                }
            }
        }
        let mut after = before;
        step(insn, *pc, &mut after);
        let mut falls = true;
        match insn {
            Insn::If { target, .. } => arrive(index(*target), &after),
            Insn::Goto(target) => {
                arrive(index(*target), &after);
                falls = false;
            }
            Insn::TableSwitch { default, targets, .. } => {
                targets.iter().chain([default]).for_each(|&target| arrive(index(target), &after));
                falls = false;
            }
            Insn::LookupSwitch { default, pairs } => {
                let targets = pairs.iter().map(|(_, target)| target).chain([default]);
                targets.for_each(|&target| arrive(index(target), &after));
                falls = false;
            }
            Insn::Return(_) | Insn::Throw => falls = false,
            _ => {}
        }
        if falls {
            arrive(at + 1, &after);
        }
    }
    states
}

fn can_throw(insn: &Insn<'_>, opcode: u8) -> bool {
    match insn {
        Insn::Const(constant) => !matches!(
            constant,
            Const::Null
                | Const::Int(_)
                | Const::Long(_)
                | Const::Float(_)
                | Const::Double(_)
                | Const::String(_)
        ),
        Insn::Arith { .. } => [0x6c, 0x6d, 0x70, 0x71].contains(&opcode),
        Insn::Nop
        | Insn::Load { .. }
        | Insn::Store { .. }
        | Insn::Pop
        | Insn::Pop2
        | Insn::Dup
        | Insn::DupX1
        | Insn::DupX2
        | Insn::Dup2
        | Insn::Dup2X1
        | Insn::Dup2X2
        | Insn::Swap
        | Insn::Neg(_)
        | Insn::Iinc { .. }
        | Insn::Convert { .. }
        | Insn::Compare(_)
        | Insn::If { .. }
        | Insn::Goto(_)
        | Insn::TableSwitch { .. }
        | Insn::LookupSwitch { .. }
        | Insn::Return(_) => false,
        _ => true,
    }
}

fn size(kind: Type<'_>) -> usize {
    if kind == Type::Wide { 2 } else { 1 }
}

fn number(kind: NumKind) -> usize {
    if matches!(kind, NumKind::Long | NumKind::Double) { 2 } else { 1 }
}

fn element(kind: ArrayKind) -> usize {
    if matches!(kind, ArrayKind::Long | ArrayKind::Double) { 2 } else { 1 }
}

fn field(descriptor: &str) -> usize {
    size(descriptor::field_type(descriptor).expect("descriptor"))
}

/// Sizes of the values an instruction pops, lowest first, and of what it pushes.
fn effect(insn: &Insn<'_>) -> (Vec<usize>, usize) {
    let call = |receiver: bool, descriptor: &str| {
        let mut sizes = if receiver { vec![1] } else { vec![] };
        sizes.extend(descriptor::parameters(descriptor).map(size));
        (sizes, descriptor::result(descriptor).expect("descriptor").map_or(0, size))
    };
    match insn {
        Insn::Const(Const::Long(_) | Const::Double(_)) => (vec![], 2),
        Insn::Const(Const::Dynamic { descriptor, .. }) => (vec![], field(descriptor)),
        Insn::Const(_) | Insn::New(_) => (vec![], 1),
        Insn::Load { num, .. } => (vec![], num.map_or(1, number)),
        Insn::Store { num, .. } => (vec![num.map_or(1, number)], 0),
        Insn::ArrayLoad(kind) => (vec![1, 1], element(*kind)),
        Insn::ArrayStore(kind) => (vec![1, 1, element(*kind)], 0),
        Insn::Arith { kind, shift: true } => (vec![number(*kind), 1], number(*kind)),
        Insn::Arith { kind, shift: false } => (vec![number(*kind); 2], number(*kind)),
        Insn::Neg(kind) => (vec![number(*kind)], number(*kind)),
        Insn::Convert { from, to } => (vec![number(*from)], number(*to)),
        Insn::Compare(kind) => (vec![number(*kind); 2], 1),
        Insn::If { cond, .. } => {
            use classfile::Branch::{Eq, Ge, Gt, Le, Lt, Ne, RefEq, RefNe};
            let two = matches!(cond, Eq | Ne | Lt | Ge | Gt | Le | RefEq | RefNe);
            (vec![1; if two { 2 } else { 1 }], 0)
        }
        Insn::TableSwitch { .. } | Insn::LookupSwitch { .. } | Insn::Throw => (vec![1], 0),
        Insn::MonitorEnter | Insn::MonitorExit => (vec![1], 0),
        Insn::Return(kind) => (kind.iter().map(|kind| kind.map_or(1, number)).collect(), 0),
        Insn::GetStatic(found) => (vec![], field(&found.descriptor)),
        Insn::PutStatic(found) => (vec![field(&found.descriptor)], 0),
        Insn::GetField(found) => (vec![1], field(&found.descriptor)),
        Insn::PutField(found) => (vec![1, field(&found.descriptor)], 0),
        Insn::Invoke { kind, method } => call(*kind != InvokeKind::Static, &method.descriptor),
        Insn::InvokeDynamic { descriptor, .. } => call(false, descriptor),
        Insn::NewPrimArray(_) | Insn::NewRefArray(_) | Insn::ArrayLength => (vec![1], 1),
        Insn::CheckCast(_) | Insn::InstanceOf(_) => (vec![1], 1),
        Insn::MultiNewArray { dims, .. } => (vec![1; usize::from(*dims)], 1),
        _ => (vec![], 0),
    }
}

fn operands(insn: &Insn<'_>, state: &State) -> Vec<Origins> {
    let (sizes, _) = effect(insn);
    let mut at = state.stack.len() - sizes.iter().sum::<usize>();
    let mut found = Vec::new();
    for size in sizes {
        found.push(state.stack[at].clone());
        at += size;
    }
    found
}

fn step(insn: &Insn<'_>, pc: u32, state: &mut State) {
    let stack = &mut state.stack;
    let top = stack.len();
    match insn {
        Insn::Load { slot, num } => {
            let value = state.locals[usize::from(*slot)].clone();
            stack.extend(vec![value; num.map_or(1, number)]);
        }
        Insn::Store { slot, num } => {
            let value = stack[top - 1].clone();
            stack.truncate(top - num.map_or(1, number));
            state.locals[usize::from(*slot)] = value;
        }
        Insn::Iinc { slot, .. } => state.locals[usize::from(*slot)] = Origins::from([pc]),
        Insn::Pop => stack.truncate(top - 1),
        Insn::Pop2 => stack.truncate(top - 2),
        // Written slot by slot as in the specification: the values under the top, then the copy.
        Insn::Dup => stack.push(stack[top - 1].clone()),
        Insn::DupX1 => stack.insert(top - 2, stack[top - 1].clone()),
        Insn::DupX2 => stack.insert(top - 3, stack[top - 1].clone()),
        Insn::Dup2 => stack.extend_from_within(top - 2..),
        Insn::Dup2X1 => {
            let copied = [stack[top - 2].clone(), stack[top - 1].clone()];
            stack.splice(top - 3..top - 3, copied);
        }
        Insn::Dup2X2 => {
            let copied = [stack[top - 2].clone(), stack[top - 1].clone()];
            stack.splice(top - 4..top - 4, copied);
        }
        Insn::Swap => stack.swap(top - 1, top - 2),
        _ => {
            let (popped, pushed) = effect(insn);
            stack.truncate(top - popped.iter().sum::<usize>());
            stack.extend(vec![Origins::from([pc]); pushed]);
        }
    }
}
