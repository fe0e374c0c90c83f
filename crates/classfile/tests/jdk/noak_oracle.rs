//! Compares with noak: structure, names, code bytes, handlers, the pc of each instruction, and the members
//! that instructions name (noak alone keeps whether a called method is an interface's).

use crate::agreement::{Difference, Tally, same};
use classfile::{ClassFile, Code, FieldRef, Insn, Method, MethodRef};
use noak::MStr;
use noak::error::DecodeError;
use noak::reader::attributes::RawInstruction;
use noak::reader::cpool::{ConstantPool, Item};
use noak::reader::{AttributeContent, Class, cpool};
use std::borrow::Cow;

pub fn compare(ours: &ClassFile<'_>, bytes: &[u8]) -> Result<Tally, Difference> {
    let theirs = Class::new(bytes)?;
    let pool = theirs.pool();
    let mut tally = Tally { classes: 1, ..Tally::default() };

    same("major", ours.major, theirs.version().major)?;
    same("minor", ours.minor, theirs.version().minor)?;
    same("access", ours.access, theirs.access_flags().bits())?;
    same("name", &ours.name, &class_name(pool, theirs.this_class())?)?;
    let super_name = theirs.super_class().map(|index| class_name(pool, index)).transpose()?;
    same("super", &ours.super_name, &super_name)?;
    let mut interfaces = Vec::new();
    for index in theirs.interfaces() {
        interfaces.push(class_name(pool, index?)?);
    }
    same("interfaces", &ours.interfaces, &interfaces)?;

    let fields = theirs.fields().iter().collect::<Result<Vec<_>, _>>()?;
    same("field count", ours.fields.len(), fields.len())?;
    for (ours, theirs) in ours.fields.iter().zip(fields) {
        same("field access", ours.access, theirs.access_flags().bits())?;
        same("field name", &ours.name, &text(pool.retrieve(theirs.name())?))?;
        same("field descriptor", &ours.descriptor, &text(pool.retrieve(theirs.descriptor())?))?;
        tally.fields += 1;
    }

    let methods = theirs.methods().iter().collect::<Result<Vec<_>, _>>()?;
    same("method count", ours.methods.len(), methods.len())?;
    for (method, theirs) in ours.methods.iter().zip(methods) {
        let compared = compare_method(ours, method, &theirs, pool);
        tally = tally.plus(compared.map_err(|difference| difference.within(&method.name))?);
    }
    Ok(tally)
}

fn compare_method(
    class: &ClassFile<'_>,
    ours: &Method<'_>,
    theirs: &noak::reader::Method<'_>,
    pool: &ConstantPool<'_>,
) -> Result<Tally, Difference> {
    same("access", ours.access, theirs.access_flags().bits())?;
    same("name", &ours.name, &text(pool.retrieve(theirs.name())?))?;
    same("descriptor", &ours.descriptor, &text(pool.retrieve(theirs.descriptor())?))?;
    let mut tally = Tally { methods: 1, ..Tally::default() };
    let mut has_code = false;
    for attribute in theirs.attributes() {
        let attribute = attribute?;
        if pool.retrieve(attribute.name())?.as_bytes() == b"Code" {
            let AttributeContent::Code(code) = attribute.read_content(pool)? else { continue };
            let Some(ours) = &ours.code else { return Err(Difference::Differs("we have no code".into())) };
            // noak does not show the code as bytes; the attribute has it after two u2 and a u4.
            same("code bytes", Some(ours.bytes), attribute.content().get(8..8 + ours.bytes.len()))?;
            tally = tally.plus(compare_code(class, ours, &code, pool)?);
            has_code = true;
        }
    }
    same("has code", ours.code.is_some(), has_code)?;
    Ok(tally)
}

fn compare_code(
    class: &ClassFile<'_>,
    ours: &Code<'_>,
    theirs: &noak::reader::attributes::Code<'_>,
    pool: &ConstantPool<'_>,
) -> Result<Tally, Difference> {
    same("max stack", ours.max_stack, theirs.max_stack())?;
    same("max locals", ours.max_locals, theirs.max_locals())?;
    let handlers: Vec<_> = theirs.exception_handlers().collect();
    same("handler count", ours.handlers.len(), handlers.len())?;
    for (ours, theirs) in ours.handlers.iter().zip(&handlers) {
        same("handler start", u32::from(ours.start), theirs.start().as_u32())?;
        same("handler end", u32::from(ours.end), theirs.end().as_u32())?;
        same("handler target", u32::from(ours.target), theirs.handler().as_u32())?;
        let catch_type = theirs.catch_type().map(|index| class_name(pool, index)).transpose()?;
        same("catch type", &ours.catch_type, &catch_type)?;
    }
    let mut instructions = 0;
    let mut insns = ours.instructions(class);
    for theirs in theirs.raw_instructions() {
        let (pc, theirs) = theirs?;
        let Some(Ok((our_pc, ours))) = insns.next() else {
            return Err(Difference::Differs(format!("we stop before pc {}", pc.as_u32())));
        };
        same("pc", our_pc, pc.as_u32())?;
        compare_member(&ours, &theirs, pool)
            .map_err(|difference| difference.within(&format!("pc {our_pc}")))?;
        instructions += 1;
    }
    same("instructions after the last", insns.count(), 0)?;
    Ok(Tally { instructions, handlers: handlers.len(), ..Tally::default() })
}

/// For instructions that name a field or method: the same one, of the same kind.
fn compare_member(
    ours: &Insn<'_>,
    theirs: &RawInstruction<'_>,
    pool: &ConstantPool<'_>,
) -> Result<(), Difference> {
    let theirs = match theirs {
        RawInstruction::GetField { index }
        | RawInstruction::GetStatic { index }
        | RawInstruction::PutField { index }
        | RawInstruction::PutStatic { index } => {
            let member = pool.retrieve(*index)?;
            Some((None, member.class, member.name_and_type))
        }
        RawInstruction::InvokeInterface { index, .. } => {
            let member = pool.retrieve(*index)?;
            Some((Some(true), member.class, member.name_and_type))
        }
        RawInstruction::InvokeVirtual { index } => {
            let member = pool.retrieve(*index)?;
            Some((Some(false), member.class, member.name_and_type))
        }
        RawInstruction::InvokeSpecial { index } | RawInstruction::InvokeStatic { index } => {
            match pool.get(*index)? {
                Item::MethodRef(member) => {
                    let (class, name) = (pool.retrieve(member.class)?, pool.retrieve(member.name_and_type)?);
                    Some((Some(false), class, name))
                }
                Item::InterfaceMethodRef(member) => {
                    let (class, name) = (pool.retrieve(member.class)?, pool.retrieve(member.name_and_type)?);
                    Some((Some(true), class, name))
                }
                other => return Err(Difference::Differs(format!("they call {other:?}"))),
            }
        }
        _ => None,
    };
    let ours = match ours {
        Insn::GetField(field) | Insn::GetStatic(field) | Insn::PutField(field) | Insn::PutStatic(field) => {
            let FieldRef { class, name, descriptor } = field;
            Some((None, class, name, descriptor))
        }
        Insn::Invoke { method: MethodRef { class, name, descriptor, interface }, .. } => {
            Some((Some(*interface), class, name, descriptor))
        }
        _ => None,
    };
    match (ours, theirs) {
        (None, None) => Ok(()),
        (Some((interface, class, name, descriptor)), Some((their_interface, their_class, their_name))) => {
            same("of an interface", interface, their_interface)?;
            same("class", class, &text(their_class.name))?;
            same("member", name, &text(their_name.name))?;
            same("descriptor", descriptor, &text(their_name.descriptor))
        }
        (ours, theirs) => Err(Difference::Differs(format!("we name {ours:?}, they name {theirs:?}"))),
    }
}

fn class_name<'a>(
    pool: &ConstantPool<'a>,
    index: cpool::Index<cpool::Class<'a>>,
) -> Result<Cow<'a, str>, DecodeError> {
    Ok(text(pool.retrieve(index)?.name))
}

/// Not through `MStr::display`, which passes a two-byte NUL on as if it were UTF-8.
pub fn text(mutf8: &MStr) -> Cow<'_, str> {
    mutf8.to_str().map_or_else(|| mutf8.chars_lossy().collect::<String>().into(), Cow::Borrowed)
}

impl From<DecodeError> for Difference {
    fn from(error: DecodeError) -> Self {
        Difference::refused(error)
    }
}
