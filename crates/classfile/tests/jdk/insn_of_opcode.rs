//! cafebabe's opcodes in our words, one by one and without looking at our decoder.

use crate::noak_oracle::text;
use cafebabe::bytecode::{JumpOffset, Opcode, PrimitiveArrayType};
use cafebabe::constant_pool::{
    LiteralConstant, Loadable, MemberKind, MemberRef, MethodHandle, NameAndType, ObjectArrayType,
    ReferenceKind,
};
use classfile::{
    ArrayKind, Branch, Const, FieldRef, Handle, HandleKind, Insn, InvokeKind, MethodRef, NumKind, Str,
};
use std::borrow::Cow;

pub fn insn<'a>(pc: u32, opcode: &Opcode<'a>) -> Insn<'a> {
    use NumKind::{Double, Float, Int, Long};
    let to = |offset: JumpOffset| pc.wrapping_add_signed(offset);
    let branch = |cond, offset| Insn::If { cond, target: to(offset) };
    let arith = |kind| Insn::Arith { kind, shift: false };
    let shift = |kind| Insn::Arith { kind, shift: true };
    let convert = |from, to| Insn::Convert { from, to };
    let load = |slot, num| Insn::Load { slot, num };
    let store = |slot, num| Insn::Store { slot, num };
    let invoke = |kind, member| Insn::Invoke { kind, method: method(member) };
    match opcode {
        Opcode::Nop => Insn::Nop,
        Opcode::AconstNull => Insn::Const(Const::Null),
        Opcode::IconstM1 => Insn::Const(Const::Int(-1)),
        Opcode::Iconst0 => Insn::Const(Const::Int(0)),
        Opcode::Iconst1 => Insn::Const(Const::Int(1)),
        Opcode::Iconst2 => Insn::Const(Const::Int(2)),
        Opcode::Iconst3 => Insn::Const(Const::Int(3)),
        Opcode::Iconst4 => Insn::Const(Const::Int(4)),
        Opcode::Iconst5 => Insn::Const(Const::Int(5)),
        Opcode::Lconst0 => Insn::Const(Const::Long(0)),
        Opcode::Lconst1 => Insn::Const(Const::Long(1)),
        Opcode::Fconst0 => Insn::Const(Const::Float(0.0)),
        Opcode::Fconst1 => Insn::Const(Const::Float(1.0)),
        Opcode::Fconst2 => Insn::Const(Const::Float(2.0)),
        Opcode::Dconst0 => Insn::Const(Const::Double(0.0)),
        Opcode::Dconst1 => Insn::Const(Const::Double(1.0)),
        Opcode::Bipush(value) => Insn::Const(Const::Int((*value).into())),
        Opcode::Sipush(value) => Insn::Const(Const::Int((*value).into())),
        Opcode::Ldc(value) | Opcode::LdcW(value) | Opcode::Ldc2W(value) => Insn::Const(loadable(value)),
        Opcode::Iload(slot) => load(*slot, Some(Int)),
        Opcode::Lload(slot) => load(*slot, Some(Long)),
        Opcode::Fload(slot) => load(*slot, Some(Float)),
        Opcode::Dload(slot) => load(*slot, Some(Double)),
        Opcode::Aload(slot) => load(*slot, None),
        Opcode::Istore(slot) => store(*slot, Some(Int)),
        Opcode::Lstore(slot) => store(*slot, Some(Long)),
        Opcode::Fstore(slot) => store(*slot, Some(Float)),
        Opcode::Dstore(slot) => store(*slot, Some(Double)),
        Opcode::Astore(slot) => store(*slot, None),
        Opcode::Iaload => Insn::ArrayLoad(ArrayKind::Int),
        Opcode::Laload => Insn::ArrayLoad(ArrayKind::Long),
        Opcode::Faload => Insn::ArrayLoad(ArrayKind::Float),
        Opcode::Daload => Insn::ArrayLoad(ArrayKind::Double),
        Opcode::Aaload => Insn::ArrayLoad(ArrayKind::Ref),
        Opcode::Baload => Insn::ArrayLoad(ArrayKind::Byte),
        Opcode::Caload => Insn::ArrayLoad(ArrayKind::Char),
        Opcode::Saload => Insn::ArrayLoad(ArrayKind::Short),
        Opcode::Iastore => Insn::ArrayStore(ArrayKind::Int),
        Opcode::Lastore => Insn::ArrayStore(ArrayKind::Long),
        Opcode::Fastore => Insn::ArrayStore(ArrayKind::Float),
        Opcode::Dastore => Insn::ArrayStore(ArrayKind::Double),
        Opcode::Aastore => Insn::ArrayStore(ArrayKind::Ref),
        Opcode::Bastore => Insn::ArrayStore(ArrayKind::Byte),
        Opcode::Castore => Insn::ArrayStore(ArrayKind::Char),
        Opcode::Sastore => Insn::ArrayStore(ArrayKind::Short),
        Opcode::Pop => Insn::Pop,
        Opcode::Pop2 => Insn::Pop2,
        Opcode::Dup => Insn::Dup,
        Opcode::DupX1 => Insn::DupX1,
        Opcode::DupX2 => Insn::DupX2,
        Opcode::Dup2 => Insn::Dup2,
        Opcode::Dup2X1 => Insn::Dup2X1,
        Opcode::Dup2X2 => Insn::Dup2X2,
        Opcode::Swap => Insn::Swap,
        Opcode::Iadd | Opcode::Isub | Opcode::Imul | Opcode::Idiv | Opcode::Irem => arith(Int),
        Opcode::Ladd | Opcode::Lsub | Opcode::Lmul | Opcode::Ldiv | Opcode::Lrem => arith(Long),
        Opcode::Fadd | Opcode::Fsub | Opcode::Fmul | Opcode::Fdiv | Opcode::Frem => arith(Float),
        Opcode::Dadd | Opcode::Dsub | Opcode::Dmul | Opcode::Ddiv | Opcode::Drem => arith(Double),
        Opcode::Iand | Opcode::Ior | Opcode::Ixor => arith(Int),
        Opcode::Land | Opcode::Lor | Opcode::Lxor => arith(Long),
        Opcode::Ishl | Opcode::Ishr | Opcode::Iushr => shift(Int),
        Opcode::Lshl | Opcode::Lshr | Opcode::Lushr => shift(Long),
        Opcode::Ineg => Insn::Neg(Int),
        Opcode::Lneg => Insn::Neg(Long),
        Opcode::Fneg => Insn::Neg(Float),
        Opcode::Dneg => Insn::Neg(Double),
        Opcode::Iinc(slot, by) => Insn::Iinc { slot: *slot, by: *by },
        Opcode::I2b | Opcode::I2c | Opcode::I2s => convert(Int, Int),
        Opcode::I2l => convert(Int, Long),
        Opcode::I2f => convert(Int, Float),
        Opcode::I2d => convert(Int, Double),
        Opcode::L2i => convert(Long, Int),
        Opcode::L2f => convert(Long, Float),
        Opcode::L2d => convert(Long, Double),
        Opcode::F2i => convert(Float, Int),
        Opcode::F2l => convert(Float, Long),
        Opcode::F2d => convert(Float, Double),
        Opcode::D2i => convert(Double, Int),
        Opcode::D2l => convert(Double, Long),
        Opcode::D2f => convert(Double, Float),
        Opcode::Lcmp => Insn::Compare(Long),
        Opcode::Fcmpl | Opcode::Fcmpg => Insn::Compare(Float),
        Opcode::Dcmpl | Opcode::Dcmpg => Insn::Compare(Double),
        Opcode::Ifeq(offset) => branch(Branch::EqZero, *offset),
        Opcode::Ifne(offset) => branch(Branch::NeZero, *offset),
        Opcode::Iflt(offset) => branch(Branch::LtZero, *offset),
        Opcode::Ifge(offset) => branch(Branch::GeZero, *offset),
        Opcode::Ifgt(offset) => branch(Branch::GtZero, *offset),
        Opcode::Ifle(offset) => branch(Branch::LeZero, *offset),
        Opcode::IfIcmpeq(offset) => branch(Branch::Eq, *offset),
        Opcode::IfIcmpne(offset) => branch(Branch::Ne, *offset),
        Opcode::IfIcmplt(offset) => branch(Branch::Lt, *offset),
        Opcode::IfIcmpge(offset) => branch(Branch::Ge, *offset),
        Opcode::IfIcmpgt(offset) => branch(Branch::Gt, *offset),
        Opcode::IfIcmple(offset) => branch(Branch::Le, *offset),
        Opcode::IfAcmpeq(offset) => branch(Branch::RefEq, *offset),
        Opcode::IfAcmpne(offset) => branch(Branch::RefNe, *offset),
        Opcode::Ifnull(offset) => branch(Branch::Null, *offset),
        Opcode::Ifnonnull(offset) => branch(Branch::NonNull, *offset),
        Opcode::Goto(offset) => Insn::Goto(to(*offset)),
        Opcode::Jsr(offset) => Insn::Jsr(to(*offset)),
        Opcode::Ret(slot) => Insn::Ret(*slot),
        Opcode::Tableswitch(table) => Insn::TableSwitch {
            default: to(table.default),
            low: table.low,
            targets: table.jumps.iter().map(|&offset| to(offset)).collect(),
        },
        Opcode::Lookupswitch(table) => Insn::LookupSwitch {
            default: to(table.default),
            pairs: table.match_offsets.iter().map(|&(key, offset)| (key, to(offset))).collect(),
        },
        Opcode::Ireturn => Insn::Return(Some(Some(Int))),
        Opcode::Lreturn => Insn::Return(Some(Some(Long))),
        Opcode::Freturn => Insn::Return(Some(Some(Float))),
        Opcode::Dreturn => Insn::Return(Some(Some(Double))),
        Opcode::Areturn => Insn::Return(Some(None)),
        Opcode::Return => Insn::Return(None),
        Opcode::Getstatic(member) => Insn::GetStatic(field(member)),
        Opcode::Putstatic(member) => Insn::PutStatic(field(member)),
        Opcode::Getfield(member) => Insn::GetField(field(member)),
        Opcode::Putfield(member) => Insn::PutField(field(member)),
        Opcode::Invokevirtual(member) => invoke(InvokeKind::Virtual, member),
        Opcode::Invokespecial(member) => invoke(InvokeKind::Special, member),
        Opcode::Invokestatic(member) => invoke(InvokeKind::Static, member),
        Opcode::Invokeinterface(member, _) => invoke(InvokeKind::Interface, member),
        Opcode::Invokedynamic(site) => {
            let NameAndType { name, descriptor } = site.name_and_type.clone();
            Insn::InvokeDynamic { bootstrap: site.attr_index, name, descriptor }
        }
        Opcode::New(class) => Insn::New(class.clone()),
        Opcode::Newarray(element) => Insn::NewPrimArray(primitive(*element)),
        Opcode::Anewarray(class) => Insn::NewRefArray(class_name(class)),
        Opcode::Multianewarray(class, dims) => Insn::MultiNewArray { class: class_name(class), dims: *dims },
        Opcode::Arraylength => Insn::ArrayLength,
        Opcode::Athrow => Insn::Throw,
        Opcode::Checkcast(class) => Insn::CheckCast(class_name(class)),
        Opcode::Instanceof(class) => Insn::InstanceOf(class_name(class)),
        Opcode::Monitorenter => Insn::MonitorEnter,
        Opcode::Monitorexit => Insn::MonitorExit,
        Opcode::Breakpoint | Opcode::Impdep1 | Opcode::Impdep2 => {
            unreachable!("reserved opcodes do not occur in class files")
        }
    }
}

pub fn handle<'a>(theirs: &MethodHandle<'a>) -> Handle<'a> {
    let kind = match theirs.kind {
        ReferenceKind::GetField => HandleKind::GetField,
        ReferenceKind::GetStatic => HandleKind::GetStatic,
        ReferenceKind::PutField => HandleKind::PutField,
        ReferenceKind::PutStatic => HandleKind::PutStatic,
        ReferenceKind::InvokeVirtual => HandleKind::InvokeVirtual,
        ReferenceKind::InvokeStatic => HandleKind::InvokeStatic,
        ReferenceKind::InvokeSpecial => HandleKind::InvokeSpecial,
        ReferenceKind::NewInvokeSpecial => HandleKind::NewInvokeSpecial,
        ReferenceKind::InvokeInterface => HandleKind::InvokeInterface,
    };
    let interface = matches!(theirs.member_kind, MemberKind::InterfaceMethod);
    let NameAndType { name, descriptor } = theirs.member_ref.clone();
    Handle { kind, class: theirs.class_name.clone(), name, descriptor, interface }
}

pub fn literal<'a>(value: &LiteralConstant<'a>) -> Const<'a> {
    match value {
        LiteralConstant::Integer(value) => Const::Int(*value),
        LiteralConstant::Float(value) => Const::Float(*value),
        LiteralConstant::Long(value) => Const::Long(*value),
        LiteralConstant::Double(value) => Const::Double(*value),
        LiteralConstant::String(text) => Const::String(text.clone()),
        LiteralConstant::StringBytes(bytes) => Const::String(unpaired_surrogates(bytes)),
    }
}

/// cafebabe gives the bytes of a string that is no Unicode; noak knows how to read it.
fn unpaired_surrogates(bytes: &[u8]) -> Str<'_> {
    text(noak::MStr::from_mutf8(bytes).expect("modified UTF-8"))
}

fn loadable<'a>(value: &Loadable<'a>) -> Const<'a> {
    match value {
        Loadable::LiteralConstant(value) => literal(value),
        Loadable::ClassInfo(name) => Const::Class(name.clone()),
        Loadable::MethodHandle(member) => Const::MethodHandle(handle(member)),
        Loadable::MethodType(descriptor) => Const::MethodType(descriptor.clone()),
        Loadable::Dynamic(site) => {
            let NameAndType { name, descriptor } = site.name_and_type.clone();
            Const::Dynamic { bootstrap: site.attr_index, name, descriptor }
        }
    }
}

fn field<'a>(member: &MemberRef<'a>) -> FieldRef<'a> {
    let NameAndType { name, descriptor } = member.name_and_type.clone();
    FieldRef { class: member.class_name.clone(), name, descriptor }
}

/// cafebabe does not tell an interface's methods from a class's: the flag is only filled in.
fn method<'a>(member: &MemberRef<'a>) -> MethodRef<'a> {
    let NameAndType { name, descriptor } = member.name_and_type.clone();
    MethodRef { class: member.class_name.clone(), name, descriptor, interface: false }
}

fn class_name<'a>(class: &ObjectArrayType<'a>) -> Str<'a> {
    match class {
        ObjectArrayType::ArrayType(descriptor) => Cow::Owned(descriptor.to_string()),
        ObjectArrayType::BinaryName(name) => name.clone(),
    }
}

fn primitive(element: PrimitiveArrayType) -> ArrayKind {
    match element {
        PrimitiveArrayType::Boolean => ArrayKind::Boolean,
        PrimitiveArrayType::Char => ArrayKind::Char,
        PrimitiveArrayType::Float => ArrayKind::Float,
        PrimitiveArrayType::Double => ArrayKind::Double,
        PrimitiveArrayType::Byte => ArrayKind::Byte,
        PrimitiveArrayType::Short => ArrayKind::Short,
        PrimitiveArrayType::Int => ArrayKind::Int,
        PrimitiveArrayType::Long => ArrayKind::Long,
    }
}
