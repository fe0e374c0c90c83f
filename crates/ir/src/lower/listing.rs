//! The decoded instructions of one method with their pcs and lines. Owns the mapping from pcs to instructions;
//! refuses code whose jumps do not land on one.

use classfile::{ClassFile, Code, Const, Insn};

pub(super) struct Listing<'a> {
    pub(super) insns: Vec<Insn<'a>>,
    pub(super) pcs: Vec<u32>,
    /// Source line of each instruction, 0 if unknown.
    pub(super) lines: Vec<u16>,
    bytes: &'a [u8],
    /// By pc; `NONE` inside instructions.
    index: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<'a> Listing<'a> {
    pub(super) fn decode(file: &ClassFile<'a>, code: &Code<'a>) -> Result<Listing<'a>, String> {
        let expected = code.bytes.len() / 2;
        let (mut insns, mut pcs) = (Vec::with_capacity(expected), Vec::with_capacity(expected));
        let mut lines = Vec::with_capacity(expected);
        let mut index = vec![NONE; code.bytes.len()];
        let mut line_entries = code.lines.iter().peekable();
        let mut line = 0;
        for decoded in code.instructions(file) {
            let (pc, insn) = decoded.map_err(|error| error.to_string())?;
            while let Some(&&(start, next)) = line_entries.peek()
                && u32::from(start) <= pc
            {
                line = next;
                line_entries.next();
            }
            index[pc as usize] = insns.len() as u32;
            insns.push(insn);
            pcs.push(pc);
            lines.push(line);
        }
        Ok(Listing { insns, pcs, lines, bytes: code.bytes, index })
    }

    pub(super) fn len(&self) -> usize {
        self.insns.len()
    }

    /// The instruction that starts at `pc`.
    pub(super) fn at(&self, pc: u32) -> Result<u32, String> {
        match self.index.get(pc as usize) {
            Some(&index) if index != NONE => Ok(index),
            _ => Err(format!("jump to {pc}, which starts no instruction")),
        }
    }

    /// The first instruction at or after `pc`, `len` if there is none.
    pub(super) fn at_or_after(&self, pc: u32) -> usize {
        self.pcs.partition_point(|&start| start < pc)
    }

    pub(super) fn opcode(&self, insn: usize) -> u8 {
        self.bytes[self.pcs[insn] as usize]
    }

    /// May this instruction throw? Errors of the machine itself (out of memory in the middle of an addition) are
    /// left out: a handler that only they reach is dead code.
    pub(super) fn can_throw(&self, insn: usize) -> bool {
        match &self.insns[insn] {
            Insn::Arith { .. } => matches!(self.opcode(insn), 0x6c | 0x6d | 0x70 | 0x71),
            Insn::Const(constant) => matches!(
                constant,
                Const::Class(_) | Const::MethodType(_) | Const::MethodHandle(_) | Const::Dynamic { .. }
            ),
            Insn::ArrayLoad(_)
            | Insn::ArrayStore(_)
            | Insn::GetStatic(_)
            | Insn::PutStatic(_)
            | Insn::GetField(_)
            | Insn::PutField(_)
            | Insn::Invoke { .. }
            | Insn::InvokeDynamic { .. }
            | Insn::New(_)
            | Insn::NewPrimArray(_)
            | Insn::NewRefArray(_)
            | Insn::MultiNewArray { .. }
            | Insn::ArrayLength
            | Insn::Throw
            | Insn::CheckCast(_)
            | Insn::InstanceOf(_)
            | Insn::MonitorEnter
            | Insn::MonitorExit => true,
            _ => false,
        }
    }
}
