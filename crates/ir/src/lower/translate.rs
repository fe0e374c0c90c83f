//! What each instruction means: runs the [`Machine`] over every block and emits statements. Call sites linked at
//! run time are next door, in [`dynamic`](super::dynamic).

use super::blocks::{Graph, NodeKind};
use super::listing::Listing;
use super::live::Live;
use super::machine::{Draft, Machine};
use crate::body::{BlockId, CallKind, Cond, Const, Op, StmtKind, Var};
use crate::descriptor::{self, Type};
use crate::program::{ClassId, FieldRef, MethodRef, Program};
use arena::Id;
use classfile::{ArrayKind, Branch, ClassFile, Code, HandleKind, Insn, InvokeKind, Method, NumKind};

pub(super) fn translate(
    program: &mut Program,
    method: &Method<'_>,
    file: &ClassFile<'_>,
    code: &Code<'_>,
    listing: &Listing<'_>,
    graph: &Graph,
    live: &Live,
) -> Result<Draft, String> {
    let mut machine = Machine::new(program, file, code, listing, graph, live);
    if graph.uses_subroutines {
        machine.draft.problems.push("jsr/ret inlined".to_owned());
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        machine.block = BlockId::new(at);
        machine.pc = listing.pcs[node.first as usize];
        machine.line = listing.lines[node.first as usize].into();
        if at == 0 {
            machine.parameters(method)?;
        } else {
            machine.enter(at as u32, node.preds.len());
        }
        for &handler in &node.handlers {
            machine.throw_to(handler)?;
        }
        match node.kind {
            NodeKind::Entry => {}
            NodeKind::Catch(number) => {
                let class = code.handlers[number as usize].catch_type.as_deref();
                let class = class.map(|name| machine.program.class_id(name));
                let dst = machine.push_new(Type::Ref(""));
                machine.emit(StmtKind::Catch { dst, class });
            }
            NodeKind::Code => {
                for insn in node.first as usize..node.end as usize {
                    machine.pc = listing.pcs[insn];
                    machine.line = listing.lines[insn].into();
                    machine.step(listing, insn)?;
                }
            }
        }
        for &succ in &node.succs {
            machine.leave_to(succ)?;
        }
        machine.draft.ends.push(machine.draft.stmts.len() as u32);
    }
    Ok(machine.draft)
}

impl Machine<'_, '_> {
    fn compute(&mut self, operands: usize, op: Op, result: Type<'_>) -> Result<(), String> {
        let args = self.pop_many(operands)?;
        let dst = self.push_new(result);
        self.emit(StmtKind::Compute { dst, args, op });
        Ok(())
    }

    fn step(&mut self, listing: &Listing<'_>, at: usize) -> Result<(), String> {
        let next_pc = listing.pcs.get(at + 1).copied().unwrap_or(u32::MAX);
        match &listing.insns[at] {
            Insn::Nop | Insn::Goto(_) | Insn::Ret(_) => {}
            Insn::Const(constant) => self.constant(constant)?,
            Insn::Load { slot, num } => {
                let value = self.read(*slot, *num)?;
                self.push(value);
            }
            Insn::Store { slot, num } => {
                let value = self.pop()?;
                self.write(*slot, matches!(num, Some(NumKind::Long | NumKind::Double)), value, next_pc)?;
            }
            Insn::ArrayLoad(kind) => {
                let (index, base) = (self.pop()?, self.pop()?);
                let dst = self.push_new(element_type(*kind));
                let is_argument = matches!(
                    listing.insns.get(at + 1),
                    Some(Insn::Invoke { method, .. }) if !method.descriptor.starts_with("()")
                );
                let stored = self.just_stored(base, index, is_argument).filter(|_| *kind == ArrayKind::Ref);
                self.emit(StmtKind::LoadElem { dst, base, index });
                if let Some(stored) = stored {
                    self.pop()?;
                    self.push(stored);
                }
            }
            Insn::ArrayStore(_) => {
                let (src, index, base) = (self.pop()?, self.pop()?, self.pop()?);
                self.emit(StmtKind::StoreElem { base, index, src });
            }
            Insn::Pop => self.drop_slots(1)?,
            Insn::Pop2 => self.drop_slots(2)?,
            Insn::Dup => self.dup(1, 0)?,
            Insn::DupX1 => self.dup(1, 1)?,
            Insn::DupX2 => self.dup(1, 2)?,
            Insn::Dup2 => self.dup(2, 0)?,
            Insn::Dup2X1 => self.dup(2, 1)?,
            Insn::Dup2X2 => self.dup(2, 2)?,
            Insn::Swap => {
                let (top, under) = (self.pop()?, self.pop()?);
                self.push(top);
                self.push(under);
            }
            Insn::Arith { kind, .. } => {
                let op = if (0x60..=0x63).contains(&listing.opcode(at)) { Op::Add } else { Op::Other };
                self.compute(2, op, number_type(*kind))?;
            }
            Insn::Neg(kind) => self.compute(1, Op::Other, number_type(*kind))?,
            Insn::Iinc { slot, by } => {
                let old = self.read(*slot, Some(NumKind::Int))?;
                let step = self.new_var(false, false);
                self.emit(StmtKind::Const { dst: step, value: Const::Int((*by).into()) });
                let dst = self.new_var(false, false);
                self.emit(StmtKind::Compute { dst, args: vec![old, step], op: Op::Add });
                self.write(*slot, false, dst, next_pc)?;
            }
            Insn::Convert { to, .. } => self.compute(1, Op::Other, number_type(*to))?,
            Insn::Compare(_) => self.compute(2, Op::Compare, Type::Narrow)?,
            Insn::If { cond, .. } => self.branch(*cond)?,
            Insn::Jsr(_) => {
                let dst = self.push_new(Type::Narrow);
                self.emit(StmtKind::Const { dst, value: Const::Int(next_pc.into()) });
            }
            Insn::TableSwitch { .. } | Insn::LookupSwitch { .. } => {
                let on = self.pop()?;
                self.emit(StmtKind::Switch { on });
            }
            Insn::Return(kind) => {
                let value = kind.map(|_| self.pop()).transpose()?;
                self.emit(StmtKind::Return { value });
            }
            Insn::GetStatic(field) => {
                let (field, kind) = self.field(field)?;
                let dst = self.push_new(kind);
                self.emit(StmtKind::LoadStatic { dst, field });
            }
            Insn::PutStatic(field) => {
                let (field, _) = self.field(field)?;
                let src = self.pop()?;
                self.emit(StmtKind::StoreStatic { field, src });
            }
            Insn::GetField(field) => {
                let (field, kind) = self.field(field)?;
                let base = self.pop()?;
                let dst = self.push_new(kind);
                self.emit(StmtKind::Load { dst, base, field });
            }
            Insn::PutField(field) => {
                let (field, _) = self.field(field)?;
                let (src, base) = (self.pop()?, self.pop()?);
                self.emit(StmtKind::Store { base, field, src });
            }
            Insn::Invoke { kind, method } => self.invoke(*kind, method)?,
            Insn::InvokeDynamic { bootstrap, name, descriptor } => {
                self.invoke_dynamic(*bootstrap, name, descriptor)?;
            }
            Insn::New(class) => {
                let class = self.program.class_id(class);
                let dst = self.push_new(Type::Ref(""));
                self.emit(StmtKind::New { dst, class });
            }
            Insn::NewPrimArray(kind) => self.new_array(primitive_array(*kind))?,
            Insn::NewRefArray(element) => self.new_array(&descriptor::array_of(element))?,
            Insn::MultiNewArray { class, dims } => self.new_arrays(class, (*dims).into())?,
            Insn::ArrayLength => self.compute(1, Op::ArrayLength, Type::Narrow)?,
            Insn::Throw => {
                let value = self.pop()?;
                self.emit(StmtKind::Throw { value });
            }
            Insn::CheckCast(class) => {
                let class = self.program.class_id(class);
                let src = self.pop()?;
                let dst = self.push_new(Type::Ref(""));
                self.emit(StmtKind::Cast { dst, src, class });
            }
            Insn::InstanceOf(class) => {
                let class = self.program.class_id(class);
                self.compute(1, Op::InstanceOf(class), Type::Narrow)?;
            }
            Insn::MonitorEnter => {
                let lock = self.pop()?;
                self.emit(StmtKind::MonitorEnter { lock });
            }
            Insn::MonitorExit => {
                let lock = self.pop()?;
                self.emit(StmtKind::MonitorExit { lock });
            }
        }
        Ok(())
    }

    /// What was stored at this place of an array, if nothing has happened since that could change it:
    /// `runners[0] = new Runner(); runners[0].run();`. At a variable place only arguments of calls: a thread that a loop
    /// starts as an element is joined as one.
    fn just_stored(&self, base: Var, index: Var, is_argument: bool) -> Option<Var> {
        let here = self.draft.stmts.iter().rev().take_while(|stmt| stmt.block == self.block);
        let defined =
            |var: Var| here.clone().find(|stmt| stmt.kind.def() == Some(var)).map(|stmt| &stmt.kind);
        let number = |var: Var| match defined(var) {
            Some(StmtKind::Const { value: Const::Int(value), .. }) => Some(*value),
            _ => None,
        };
        let is_same = |a: Var, b: Var| match (defined(a), defined(b)) {
            _ if a == b => true,
            (Some(StmtKind::LoadStatic { field: a, .. }), Some(StmtKind::LoadStatic { field: b, .. })) => {
                a == b
            }
            _ => false,
        };
        let changes_nothing = |kind: &StmtKind| {
            matches!(
                kind,
                StmtKind::Const { .. }
                    | StmtKind::LoadStatic { .. }
                    | StmtKind::Copy { .. }
                    | StmtKind::New { .. }
            )
        };
        match here.clone().map(|stmt| &stmt.kind).find(|kind| !changes_nothing(kind))? {
            &StmtKind::StoreElem { base: into, index: at, src } => {
                let is_here = is_same(base, into)
                    && match is_argument && at == index {
                        true => true,
                        false => number(at)? == number(index)?,
                    };
                is_here.then_some(src)
            }
            _ => None,
        }
    }

    fn constant(&mut self, constant: &classfile::Const<'_>) -> Result<(), String> {
        let reference = Type::Ref("");
        let (value, kind) = match constant {
            classfile::Const::Null => (Const::Null, reference),
            classfile::Const::Int(value) => (Const::Int((*value).into()), Type::Narrow),
            classfile::Const::Long(value) => (Const::Int(*value), Type::Wide),
            classfile::Const::Float(_) => (Const::Float, Type::Narrow),
            classfile::Const::Double(_) => (Const::Float, Type::Wide),
            classfile::Const::String(text) => (Const::String(self.program.names.intern(text)), reference),
            classfile::Const::Class(name) => (Const::Class(self.program.class_id(name)), reference),
            classfile::Const::MethodType(_) => {
                (Const::Other(self.program.class_id("java/lang/invoke/MethodType")), reference)
            }
            classfile::Const::MethodHandle(handle) => match handle.kind {
                HandleKind::GetField
                | HandleKind::GetStatic
                | HandleKind::PutField
                | HandleKind::PutStatic => {
                    (Const::Other(self.program.class_id("java/lang/invoke/MethodHandle")), reference)
                }
                _ => {
                    let target = self.method_ref(&handle.class, &handle.name, &handle.descriptor);
                    (Const::MethodHandle(target), reference)
                }
            },
            classfile::Const::Dynamic { descriptor, .. } => {
                let kind = descriptor::field_type(descriptor).ok_or("malformed descriptor")?;
                match kind.class() {
                    Some(class) => (Const::Other(self.program.class_id(class)), reference),
                    None => return self.compute(0, Op::Other, kind),
                }
            }
        };
        let dst = self.push_new(kind);
        self.emit(StmtKind::Const { dst, value });
        Ok(())
    }

    fn branch(&mut self, branch: Branch) -> Result<(), String> {
        let (cond, operands) = match branch {
            Branch::EqZero | Branch::Null => (Cond::Eq, 1),
            Branch::NeZero | Branch::NonNull => (Cond::Ne, 1),
            Branch::LtZero => (Cond::Lt, 1),
            Branch::GeZero => (Cond::Ge, 1),
            Branch::GtZero => (Cond::Gt, 1),
            Branch::LeZero => (Cond::Le, 1),
            Branch::Eq | Branch::RefEq => (Cond::Eq, 2),
            Branch::Ne | Branch::RefNe => (Cond::Ne, 2),
            Branch::Lt => (Cond::Lt, 2),
            Branch::Ge => (Cond::Ge, 2),
            Branch::Gt => (Cond::Gt, 2),
            Branch::Le => (Cond::Le, 2),
        };
        let b = if operands == 2 { Some(self.pop()?) } else { None };
        let a = self.pop()?;
        self.emit(StmtKind::Branch { cond, a, b });
        Ok(())
    }

    fn field<'f>(&mut self, field: &'f classfile::FieldRef<'_>) -> Result<(FieldRef, Type<'f>), String> {
        let kind = descriptor::field_type(&field.descriptor).ok_or("malformed field descriptor")?;
        Ok((self.field_ref(&field.class, &field.name, &field.descriptor), kind))
    }

    pub(super) fn field_ref(&mut self, class: &str, name: &str, descriptor: &str) -> FieldRef {
        FieldRef {
            class: self.program.class_id(class),
            name: self.program.names.intern(name),
            descriptor: self.program.names.intern(descriptor),
        }
    }

    pub(super) fn method_ref(&mut self, class: &str, name: &str, descriptor: &str) -> MethodRef {
        MethodRef { class: self.program.class_id(class), selector: self.program.selector(name, descriptor) }
    }

    fn invoke(&mut self, kind: InvokeKind, method: &classfile::MethodRef<'_>) -> Result<(), String> {
        let result = descriptor::result(&method.descriptor).ok_or("malformed method descriptor")?;
        let (kind, receiver) = match kind {
            InvokeKind::Virtual | InvokeKind::Interface => (CallKind::Virtual, 1),
            InvokeKind::Special => (CallKind::Special, 1),
            InvokeKind::Static => (CallKind::Static, 0),
        };
        let args = self.pop_many(receiver + descriptor::parameters(&method.descriptor).count())?;
        let target = self.method_ref(&method.class, &method.name, &method.descriptor);
        let dst = result.map(|kind| self.push_new(kind));
        self.emit(StmtKind::Call { dst, kind, target, args });
        Ok(())
    }

    fn new_array(&mut self, class: &str) -> Result<(), String> {
        let class = self.program.class_id(class);
        let length = self.pop()?;
        let zero = StmtKind::Const { dst: length, value: Const::Int(0) };
        let empty = self.draft.stmts.last().is_some_and(|last| last.kind == zero);
        let dst = self.push_new(Type::Ref(""));
        self.emit(StmtKind::NewArray { dst, class, empty });
        Ok(())
    }

    /// An array of arrays: one allocation per dimension, each stored into some element of the one outside it.
    fn new_arrays(&mut self, class: &str, dims: usize) -> Result<(), String> {
        if dims == 0 || !class.bytes().take(dims).all(|byte| byte == b'[') || class.len() <= dims {
            return Err("multianewarray of no such array".to_owned());
        }
        let counts = self.pop_many(dims)?;
        let class_of =
            |machine: &mut Self, dim: usize| -> ClassId { machine.program.class_id(&class[dim..]) };
        let outermost = self.push_new(Type::Ref(""));
        let array = class_of(self, 0);
        self.emit(StmtKind::NewArray { dst: outermost, class: array, empty: false });
        let mut base = outermost;
        for dim in 1..dims {
            let array = class_of(self, dim);
            let src = self.new_var(true, false);
            self.emit(StmtKind::NewArray { dst: src, class: array, empty: false });
            let index = self.new_var(false, false);
            self.emit(StmtKind::Compute { dst: index, args: vec![counts[dim - 1]], op: Op::Other });
            self.emit(StmtKind::StoreElem { base, index, src });
            base = src;
        }
        Ok(())
    }
}

fn number_type(kind: NumKind) -> Type<'static> {
    match kind {
        NumKind::Int | NumKind::Float => Type::Narrow,
        NumKind::Long | NumKind::Double => Type::Wide,
    }
}

fn element_type(kind: ArrayKind) -> Type<'static> {
    match kind {
        ArrayKind::Ref => Type::Ref(""),
        ArrayKind::Long | ArrayKind::Double => Type::Wide,
        _ => Type::Narrow,
    }
}

fn primitive_array(kind: ArrayKind) -> &'static str {
    match kind {
        ArrayKind::Boolean => "[Z",
        ArrayKind::Char => "[C",
        ArrayKind::Float => "[F",
        ArrayKind::Double => "[D",
        ArrayKind::Byte => "[B",
        ArrayKind::Short => "[S",
        ArrayKind::Int => "[I",
        ArrayKind::Long => "[J",
        ArrayKind::Ref => "[Ljava/lang/Object;",
    }
}
