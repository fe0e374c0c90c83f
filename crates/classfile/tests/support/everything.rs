//! Reads all there is in a class and checks what the reader promises about it, whatever the bytes.

use classfile::{ClassFile, Code, Insn, parse};

/// How many instructions could be decoded; `None` if the class was refused.
pub fn read_everything(bytes: &[u8]) -> Option<usize> {
    let class = parse(bytes).ok()?;
    let bodies = class.methods.iter().filter_map(|method| method.code.as_ref());
    let decoded = bodies.map(|code| check_code(&class, code)).sum();
    assert!(class.problems.iter().all(|problem| problem.offset <= bytes.len()));
    // Touches every text and number once.
    assert!(!format!("{class:?}").is_empty());
    Some(decoded)
}

fn check_code(class: &ClassFile<'_>, code: &Code<'_>) -> usize {
    let len = code.bytes.len();
    let inside = |pc: u16| usize::from(pc) < len;
    assert!(!code.bytes.is_empty());
    assert!(code.lines.is_sorted_by_key(|&(pc, _)| pc));
    assert!(code.lines.iter().all(|&(pc, _)| inside(pc)));
    assert!(code.locals.iter().all(|local| usize::from(local.start) + usize::from(local.len) <= len));
    for handler in &code.handlers {
        assert!(handler.start < handler.end && usize::from(handler.end) <= len && inside(handler.target));
    }
    let mut decoded = 0;
    let mut last_pc = None;
    let mut insns = code.instructions(class);
    for insn in insns.by_ref() {
        let Ok((pc, insn)) = insn else { break };
        assert!(last_pc < Some(pc));
        last_pc = Some(pc);
        assert!(targets(&insn).iter().all(|&target| (target as usize) < len));
        decoded += 1;
    }
    assert!(insns.next().is_none(), "nothing may follow an error");
    decoded
}

fn targets(insn: &Insn<'_>) -> Vec<u32> {
    match insn {
        Insn::If { target, .. } | Insn::Goto(target) | Insn::Jsr(target) => vec![*target],
        Insn::TableSwitch { default, targets, .. } => targets.iter().copied().chain([*default]).collect(),
        Insn::LookupSwitch { default, pairs } => {
            pairs.iter().map(|&(_, target)| target).chain([*default]).collect()
        }
        _ => Vec::new(),
    }
}
