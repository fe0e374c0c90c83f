//! Bytes of a method to [`Insn`]s, one at a time. Checks operands and constants, and that branches stay
//! inside the code; whether they hit the start of an instruction is left to the reader of the whole method.

use crate::code::{ArrayKind, Branch, Const, Insn, InvokeKind, NumKind};
use crate::cursor::{Cursor, Index};
use crate::error::Error;
use crate::pool::{Entry, Pool};
use crate::resolve::{Dynamic, Resolver};

/// How much text one method's constants may need to have re-encoded, counted at three bytes for each. In the
/// JDK it is 125 KB at most, for a character table written as strings.
const MAX_COPIED_TEXT: usize = 16 << 20;

/// Iterator over `(pc, instruction)`. Ends after the first error.
pub struct Instructions<'c, 'a> {
    code_len: usize,
    cursor: Cursor<'a>,
    resolver: Resolver<'c, 'a>,
    failed: bool,
}

impl<'c, 'a> Instructions<'c, 'a> {
    pub(crate) fn new(bytes: &'a [u8], pool: &'c Pool<'a>) -> Self {
        Instructions {
            code_len: bytes.len(),
            cursor: Cursor::new(bytes),
            resolver: Resolver::new(pool, MAX_COPIED_TEXT),
            failed: false,
        }
    }
}

impl<'c, 'a> Iterator for Instructions<'c, 'a> {
    type Item = Result<(u32, Insn<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.cursor.is_empty() {
            return None;
        }
        let pc = self.cursor.at();
        let decoded = self.decode(pc).map(|insn| (pc as u32, insn));
        self.failed = decoded.is_err();
        Some(decoded)
    }
}

impl<'c, 'a> Instructions<'c, 'a> {
    fn decode(&mut self, pc: usize) -> Result<Insn<'a>, Error> {
        let opcode = self.cursor.u8()?;
        Ok(match opcode {
            0x00 => Insn::Nop,
            0x01 => Insn::Const(Const::Null),
            0x02..=0x08 => Insn::Const(Const::Int(i32::from(opcode) - 3)),
            0x09..=0x0a => Insn::Const(Const::Long(i64::from(opcode) - 9)),
            0x0b..=0x0d => Insn::Const(Const::Float(f32::from(opcode - 11))),
            0x0e..=0x0f => Insn::Const(Const::Double(f64::from(opcode - 14))),
            0x10 => Insn::Const(Const::Int(self.cursor.i8()?.into())),
            0x11 => Insn::Const(Const::Int(self.cursor.i16()?.into())),
            0x12 => {
                let index = self.cursor.short_index()?;
                Insn::Const(self.narrow_constant(index)?)
            }
            0x13 => {
                let index = self.cursor.index()?;
                Insn::Const(self.narrow_constant(index)?)
            }
            0x14 => Insn::Const(self.wide_constant()?),
            0x15..=0x19 => Insn::Load { slot: self.cursor.u8()?.into(), num: operand(opcode - 0x15) },
            0x1a..=0x2d => {
                Insn::Load { slot: ((opcode - 0x1a) % 4).into(), num: operand((opcode - 0x1a) / 4) }
            }
            0x2e..=0x35 => Insn::ArrayLoad(element(opcode - 0x2e)),
            0x36..=0x3a => Insn::Store { slot: self.cursor.u8()?.into(), num: operand(opcode - 0x36) },
            0x3b..=0x4e => {
                Insn::Store { slot: ((opcode - 0x3b) % 4).into(), num: operand((opcode - 0x3b) / 4) }
            }
            0x4f..=0x56 => Insn::ArrayStore(element(opcode - 0x4f)),
            0x57 => Insn::Pop,
            0x58 => Insn::Pop2,
            0x59 => Insn::Dup,
            0x5a => Insn::DupX1,
            0x5b => Insn::DupX2,
            0x5c => Insn::Dup2,
            0x5d => Insn::Dup2X1,
            0x5e => Insn::Dup2X2,
            0x5f => Insn::Swap,
            0x60..=0x73 => Insn::Arith { kind: number((opcode - 0x60) % 4), shift: false },
            0x74..=0x77 => Insn::Neg(number(opcode - 0x74)),
            0x78..=0x7d => Insn::Arith { kind: number((opcode - 0x78) % 2), shift: true },
            0x7e..=0x83 => Insn::Arith { kind: number((opcode - 0x7e) % 2), shift: false },
            0x84 => Insn::Iinc { slot: self.cursor.u8()?.into(), by: self.cursor.i8()?.into() },
            0x85..=0x93 => conversion(opcode),
            0x94 => Insn::Compare(NumKind::Long),
            0x95..=0x96 => Insn::Compare(NumKind::Float),
            0x97..=0x98 => Insn::Compare(NumKind::Double),
            0x99..=0xa6 | 0xc6..=0xc7 => Insn::If { cond: condition(opcode), target: self.near(pc)? },
            0xa7 => Insn::Goto(self.near(pc)?),
            0xa8 => Insn::Jsr(self.near(pc)?),
            0xa9 => Insn::Ret(self.cursor.u8()?.into()),
            0xaa => self.table_switch(pc)?,
            0xab => self.lookup_switch(pc)?,
            0xac..=0xb0 => Insn::Return(Some(operand(opcode - 0xac))),
            0xb1 => Insn::Return(None),
            0xb2 => Insn::GetStatic(self.resolver.field(self.cursor.index()?)?),
            0xb3 => Insn::PutStatic(self.resolver.field(self.cursor.index()?)?),
            0xb4 => Insn::GetField(self.resolver.field(self.cursor.index()?)?),
            0xb5 => Insn::PutField(self.resolver.field(self.cursor.index()?)?),
            0xb6 => self.invoke(InvokeKind::Virtual)?,
            0xb7 => self.invoke(InvokeKind::Special)?,
            0xb8 => self.invoke(InvokeKind::Static)?,
            0xb9 => {
                let insn = self.invoke(InvokeKind::Interface)?;
                self.cursor.u16()?; // Argument count and a zero: both follow from the descriptor.
                insn
            }
            0xba => {
                let site = self.resolver.call_site(self.cursor.index()?)?;
                self.cursor.u16()?; // Two zeros.
                let Dynamic { bootstrap, name, descriptor } = site;
                Insn::InvokeDynamic { bootstrap, name, descriptor }
            }
            0xbb => Insn::New(self.resolver.class(self.cursor.index()?)?),
            0xbc => self.new_primitive_array()?,
            0xbd => Insn::NewRefArray(self.resolver.class(self.cursor.index()?)?),
            0xbe => Insn::ArrayLength,
            0xbf => Insn::Throw,
            0xc0 => Insn::CheckCast(self.resolver.class(self.cursor.index()?)?),
            0xc1 => Insn::InstanceOf(self.resolver.class(self.cursor.index()?)?),
            0xc2 => Insn::MonitorEnter,
            0xc3 => Insn::MonitorExit,
            0xc4 => self.wide()?,
            0xc5 => Insn::MultiNewArray {
                class: self.resolver.class(self.cursor.index()?)?,
                dims: self.cursor.u8()?,
            },
            0xc8 => Insn::Goto(self.far(pc)?),
            0xc9 => Insn::Jsr(self.far(pc)?),
            _ => return Err(Error { offset: pc, what: "unknown opcode" }),
        })
    }

    /// `ldc`, `ldc_w`: constants of one stack slot.
    fn narrow_constant(&mut self, index: Index) -> Result<Const<'a>, Error> {
        match self.resolver.entry(index) {
            Entry::Long(_) | Entry::Double(_) => Err(index.error("constant too wide for one slot")),
            _ => self.resolver.constant(index),
        }
    }

    /// `ldc2_w`: constants of two stack slots.
    fn wide_constant(&mut self) -> Result<Const<'a>, Error> {
        let index = self.cursor.index()?;
        match self.resolver.entry(index) {
            Entry::Long(_) | Entry::Double(_) | Entry::Dynamic { .. } => self.resolver.constant(index),
            _ => Err(index.error("not a constant of two slots")),
        }
    }

    fn invoke(&mut self, kind: InvokeKind) -> Result<Insn<'a>, Error> {
        Ok(Insn::Invoke { kind, method: self.resolver.method(self.cursor.index()?)? })
    }

    fn new_primitive_array(&mut self) -> Result<Insn<'a>, Error> {
        let unknown = self.cursor.error("unknown primitive array type");
        Ok(Insn::NewPrimArray(match self.cursor.u8()? {
            4 => ArrayKind::Boolean,
            5 => ArrayKind::Char,
            6 => ArrayKind::Float,
            7 => ArrayKind::Double,
            8 => ArrayKind::Byte,
            9 => ArrayKind::Short,
            10 => ArrayKind::Int,
            11 => ArrayKind::Long,
            _ => return Err(unknown),
        }))
    }

    fn wide(&mut self) -> Result<Insn<'a>, Error> {
        let unknown = self.cursor.error("instruction cannot be wide");
        let opcode = self.cursor.u8()?;
        let slot = self.cursor.u16()?;
        Ok(match opcode {
            0x15..=0x19 => Insn::Load { slot, num: operand(opcode - 0x15) },
            0x36..=0x3a => Insn::Store { slot, num: operand(opcode - 0x36) },
            0x84 => Insn::Iinc { slot, by: self.cursor.i16()? },
            0xa9 => Insn::Ret(slot),
            _ => return Err(unknown),
        })
    }

    fn table_switch(&mut self, pc: usize) -> Result<Insn<'a>, Error> {
        self.pad()?;
        let default = self.far(pc)?;
        let low = self.cursor.i32()?;
        let high = self.cursor.i32()?;
        if low > high {
            return Err(Error { offset: pc, what: "tableswitch with low above high" });
        }
        let count = i64::from(high) - i64::from(low) + 1;
        let targets = self.repeat(count as usize, 4, |this| this.far(pc))?;
        Ok(Insn::TableSwitch { default, low, targets })
    }

    fn lookup_switch(&mut self, pc: usize) -> Result<Insn<'a>, Error> {
        self.pad()?;
        let default = self.far(pc)?;
        let negative = self.cursor.error("lookupswitch with a negative count");
        let count = usize::try_from(self.cursor.i32()?).map_err(|_| negative)?;
        let pairs = self.repeat(count, 8, |this| Ok((this.cursor.i32()?, this.far(pc)?)))?;
        Ok(Insn::LookupSwitch { default, pairs })
    }

    fn repeat<T>(
        &mut self,
        count: usize,
        size: usize,
        mut read: impl FnMut(&mut Self) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let mut items = Vec::with_capacity(self.cursor.room_for(count, size));
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    /// Switch operands begin at a multiple of four.
    fn pad(&mut self) -> Result<(), Error> {
        let padding = self.cursor.at().wrapping_neg() % 4;
        self.cursor.take(padding).map(drop)
    }

    fn near(&mut self, pc: usize) -> Result<u32, Error> {
        let at = self.cursor.at();
        let offset = self.cursor.i16()?;
        self.target(pc, offset.into(), at)
    }

    fn far(&mut self, pc: usize) -> Result<u32, Error> {
        let at = self.cursor.at();
        let offset = self.cursor.i32()?;
        self.target(pc, offset, at)
    }

    fn target(&self, pc: usize, offset: i32, at: usize) -> Result<u32, Error> {
        let outside = Error { offset: at, what: "branch out of the code" };
        match pc.checked_add_signed(offset as isize) {
            Some(target) if target < self.code_len => u32::try_from(target).map_err(|_| outside),
            _ => Err(outside),
        }
    }
}

/// The opcodes' order int, long, float, double.
fn number(n: u8) -> NumKind {
    match n {
        0 => NumKind::Int,
        1 => NumKind::Long,
        2 => NumKind::Float,
        _ => NumKind::Double,
    }
}

/// The same order, with the reference at its end.
fn operand(n: u8) -> Option<NumKind> {
    (n < 4).then(|| number(n))
}

/// The order of array instructions. The one for bytes serves booleans as well.
fn element(n: u8) -> ArrayKind {
    match n {
        0 => ArrayKind::Int,
        1 => ArrayKind::Long,
        2 => ArrayKind::Float,
        3 => ArrayKind::Double,
        4 => ArrayKind::Ref,
        5 => ArrayKind::Byte,
        6 => ArrayKind::Char,
        _ => ArrayKind::Short,
    }
}

fn conversion<'a>(opcode: u8) -> Insn<'a> {
    use NumKind::*;
    let (from, to) = match opcode {
        0x85 => (Int, Long),
        0x86 => (Int, Float),
        0x87 => (Int, Double),
        0x88 => (Long, Int),
        0x89 => (Long, Float),
        0x8a => (Long, Double),
        0x8b => (Float, Int),
        0x8c => (Float, Long),
        0x8d => (Float, Double),
        0x8e => (Double, Int),
        0x8f => (Double, Long),
        0x90 => (Double, Float),
        _ => (Int, Int),
    };
    Insn::Convert { from, to }
}

fn condition(opcode: u8) -> Branch {
    match opcode {
        0x99 => Branch::EqZero,
        0x9a => Branch::NeZero,
        0x9b => Branch::LtZero,
        0x9c => Branch::GeZero,
        0x9d => Branch::GtZero,
        0x9e => Branch::LeZero,
        0x9f => Branch::Eq,
        0xa0 => Branch::Ne,
        0xa1 => Branch::Lt,
        0xa2 => Branch::Ge,
        0xa3 => Branch::Gt,
        0xa4 => Branch::Le,
        0xa5 => Branch::RefEq,
        0xa6 => Branch::RefNe,
        0xc6 => Branch::Null,
        _ => Branch::NonNull,
    }
}
