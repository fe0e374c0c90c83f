//! Compares with cafebabe everything that [`ClassFile`] holds, down to the operands of each instruction.

use crate::agreement::{Difference, Tally, same};
use crate::insn_of_opcode::{handle, insn, literal};
use cafebabe::attributes as theirs;
use cafebabe::attributes::{AnnotationElementValue as Value, AttributeData, AttributeInfo};
use cafebabe::constant_pool::BootstrapArgument;
use classfile::{
    Annotation, BootstrapArg, BootstrapMethod, ClassFile, Code, Const, Field, Insn, LocalVar, Method,
};

pub fn compare(ours: &ClassFile<'_>, bytes: &[u8]) -> Result<Tally, Difference> {
    let theirs = cafebabe::parse_class(bytes).map_err(Difference::refused)?;
    let mut tally = Tally { classes: 1, ..Tally::default() };

    same("major", ours.major, theirs.major_version)?;
    same("minor", ours.minor, theirs.minor_version)?;
    // cafebabe keeps only the flags it knows, here and below.
    let known = cafebabe::ClassAccessFlags::all().bits();
    same("access", ours.access & known, theirs.access_flags.bits())?;
    same("name", &*ours.name, &*theirs.this_class)?;
    same("super", ours.super_name.as_deref(), theirs.super_class.as_deref())?;
    same("interface count", ours.interfaces.len(), theirs.interfaces.len())?;
    for (ours, theirs) in ours.interfaces.iter().zip(&theirs.interfaces) {
        same("interface", &**ours, &**theirs)?;
    }

    same("field count", ours.fields.len(), theirs.fields.len())?;
    for (field, theirs) in ours.fields.iter().zip(&theirs.fields) {
        let compared = compare_field(field, theirs);
        tally = tally.plus(compared.map_err(|difference| difference.within(&field.name))?);
    }
    same("method count", ours.methods.len(), theirs.methods.len())?;
    for (method, theirs) in ours.methods.iter().zip(&theirs.methods) {
        let compared = compare_method(ours, method, theirs);
        tally = tally.plus(compared.map_err(|difference| difference.within(&method.name))?);
    }
    Ok(tally.plus(compare_class_attributes(ours, &theirs.attributes)?))
}

fn compare_class_attributes(
    ours: &ClassFile<'_>,
    attributes: &[AttributeInfo<'_>],
) -> Result<Tally, Difference> {
    let mut source_file = None;
    let mut declaring_class = None;
    let mut enclosing_class = None;
    let mut bootstrap_methods = &Vec::new();
    let mut is_record = false;
    let mut is_module = false;
    for attribute in attributes {
        match &attribute.data {
            AttributeData::SourceFile(name) => source_file = Some(&**name),
            AttributeData::InnerClasses(classes) => {
                let this = classes.iter().find(|class| class.inner_class_info == ours.name);
                declaring_class = this.and_then(|class| class.outer_class_info.as_deref());
            }
            AttributeData::EnclosingMethod { class_name, .. } => enclosing_class = Some(&**class_name),
            AttributeData::BootstrapMethods(methods) => bootstrap_methods = methods,
            AttributeData::Record(_) => is_record = true,
            AttributeData::Module(_) => is_module = true,
            _ => {}
        }
    }
    same("source file", ours.source_file.as_deref(), source_file)?;
    same("outer class", ours.outer_class.as_deref(), declaring_class.or(enclosing_class))?;
    same("is record", ours.is_record, is_record)?;
    same("is module", ours.is_module, is_module)?;
    same("bootstrap method count", ours.bootstrap_methods.len(), bootstrap_methods.len())?;
    for (ours, theirs) in ours.bootstrap_methods.iter().zip(bootstrap_methods) {
        compare_bootstrap_method(ours, theirs)?;
    }
    let annotations = compare_annotations(&ours.annotations, attributes)?;
    Ok(Tally { annotations, bootstrap_methods: bootstrap_methods.len(), ..Tally::default() })
}

fn compare_bootstrap_method(
    ours: &BootstrapMethod<'_>,
    theirs: &theirs::BootstrapMethodEntry<'_>,
) -> Result<(), Difference> {
    same("bootstrap method", &ours.handle, &handle(&theirs.method))?;
    let args: Vec<_> = theirs.arguments.iter().map(bootstrap_arg).collect();
    same("bootstrap arguments", &ours.args, &args)
}

fn bootstrap_arg<'a>(arg: &BootstrapArgument<'a>) -> BootstrapArg<'a> {
    match arg {
        BootstrapArgument::LiteralConstant(value) => match literal(value) {
            Const::Int(value) => BootstrapArg::Int(value),
            Const::Long(value) => BootstrapArg::Long(value),
            Const::Float(value) => BootstrapArg::Float(value),
            Const::Double(value) => BootstrapArg::Double(value),
            Const::String(text) => BootstrapArg::String(text),
            _ => BootstrapArg::Unknown,
        },
        BootstrapArgument::ClassInfo(name) => BootstrapArg::Class(name.clone()),
        BootstrapArgument::MethodHandle(member) => BootstrapArg::MethodHandle(handle(member)),
        BootstrapArgument::MethodType(descriptor) => BootstrapArg::MethodType(descriptor.clone()),
    }
}

fn compare_field(ours: &Field<'_>, theirs: &cafebabe::FieldInfo<'_>) -> Result<Tally, Difference> {
    let known = cafebabe::FieldAccessFlags::all().bits();
    same("access", ours.access & known, theirs.access_flags.bits())?;
    same("name", &ours.name, &theirs.name)?;
    same("descriptor", &*ours.descriptor, theirs.descriptor.to_string())?;
    let annotations = compare_annotations(&ours.annotations, &theirs.attributes)?;
    Ok(Tally { fields: 1, annotations, ..Tally::default() })
}

fn compare_method(
    class: &ClassFile<'_>,
    ours: &Method<'_>,
    theirs: &cafebabe::MethodInfo<'_>,
) -> Result<Tally, Difference> {
    let known = cafebabe::MethodAccessFlags::all().bits();
    same("access", ours.access & known, theirs.access_flags.bits())?;
    same("name", &ours.name, &theirs.name)?;
    same("descriptor", &*ours.descriptor, theirs.descriptor.to_string())?;
    let mut code = None;
    let mut exceptions = &Vec::new();
    for attribute in &theirs.attributes {
        match &attribute.data {
            AttributeData::Code(data) => code = Some(data),
            AttributeData::Exceptions(classes) => exceptions = classes,
            _ => {}
        }
    }
    same("exceptions", &ours.exceptions, exceptions)?;
    let annotations = compare_annotations(&ours.annotations, &theirs.attributes)?;
    let tally = Tally { methods: 1, annotations, ..Tally::default() };
    match (&ours.code, code) {
        (None, None) => Ok(tally),
        (Some(ours), Some(theirs)) => Ok(tally.plus(compare_code(class, ours, theirs)?)),
        (ours, theirs) => {
            same("has code", ours.is_some(), theirs.is_some())?;
            Ok(tally)
        }
    }
}

fn compare_code(
    class: &ClassFile<'_>,
    ours: &Code<'_>,
    theirs: &theirs::CodeData<'_>,
) -> Result<Tally, Difference> {
    same("max stack", ours.max_stack, theirs.max_stack)?;
    same("max locals", ours.max_locals, theirs.max_locals)?;
    same("code", ours.bytes, theirs.code)?;
    same("handler count", ours.handlers.len(), theirs.exception_table.len())?;
    for (ours, theirs) in ours.handlers.iter().zip(&theirs.exception_table) {
        let theirs_pcs = (theirs.start_pc, theirs.end_pc, theirs.handler_pc);
        same("handler", (ours.start, ours.end, ours.target), theirs_pcs)?;
        same("catch type", &ours.catch_type, &theirs.catch_type)?;
    }
    let mut lines = Vec::new();
    let mut locals = Vec::new();
    for attribute in &theirs.attributes {
        match &attribute.data {
            AttributeData::LineNumberTable(table) => {
                lines.extend(table.iter().map(|entry| (entry.start_pc, entry.line_number)));
            }
            AttributeData::LocalVariableTable(table) => locals.extend(table),
            _ => {}
        }
    }
    lines.sort_by_key(|&(pc, _)| pc);
    same("lines", &ours.lines, &lines)?;
    same("local count", ours.locals.len(), locals.len())?;
    for (ours, theirs) in ours.locals.iter().zip(&locals) {
        let LocalVar { start, len, name, descriptor, slot } = ours;
        same("local", (*start, *len, *slot), (theirs.start_pc, theirs.length, theirs.index))?;
        same("local name", name, &theirs.name)?;
        same("local descriptor", &**descriptor, theirs.descriptor.to_string())?;
    }
    let opcodes = theirs.bytecode.as_ref().map(|bytecode| &*bytecode.opcodes).unwrap_or_default();
    let mut insns = ours.instructions(class);
    for (pc, opcode) in opcodes {
        let Some(Ok((our_pc, ours))) = insns.next() else {
            return Err(Difference::Differs(format!("we stop before pc {pc}")));
        };
        same("pc", our_pc as usize, *pc)?;
        let theirs = insn(our_pc, opcode);
        if !same_insn(&ours, &theirs) {
            same(&format!("instruction at pc {pc}"), ours, theirs)?;
        }
    }
    same("instructions after the last", insns.count(), 0)?;
    Ok(Tally {
        instructions: opcodes.len(),
        handlers: ours.handlers.len(),
        lines: lines.len(),
        locals: locals.len(),
        ..Tally::default()
    })
}

/// Equality that takes a NaN for itself, and leaves out what cafebabe does not keep.
fn same_insn(ours: &Insn<'_>, theirs: &Insn<'_>) -> bool {
    match (ours, theirs) {
        (Insn::Const(Const::Float(a)), Insn::Const(Const::Float(b))) => a.to_bits() == b.to_bits(),
        (Insn::Const(Const::Double(a)), Insn::Const(Const::Double(b))) => a.to_bits() == b.to_bits(),
        (Insn::Invoke { kind, method: a }, Insn::Invoke { kind: their_kind, method: b }) => {
            kind == their_kind && (&a.class, &a.name, &a.descriptor) == (&b.class, &b.name, &b.descriptor)
        }
        _ => ours == theirs,
    }
}

fn compare_annotations(
    ours: &[Annotation<'_>],
    attributes: &[AttributeInfo<'_>],
) -> Result<usize, Difference> {
    let mut theirs = Vec::new();
    for attribute in attributes {
        match &attribute.data {
            AttributeData::RuntimeVisibleAnnotations(annotations)
            | AttributeData::RuntimeInvisibleAnnotations(annotations) => theirs.extend(annotations),
            _ => {}
        }
    }
    same("annotation count", ours.len(), theirs.len())?;
    for (ours, theirs) in ours.iter().zip(&theirs) {
        same("annotation", &*ours.descriptor, theirs.type_descriptor.to_string())?;
        let mut values = Vec::new();
        for element in &theirs.elements {
            flatten(&element.value, &mut |value| values.push((element.name.clone(), value)));
        }
        same("annotation values", &ours.values, &values)?;
    }
    Ok(theirs.len())
}

fn flatten(value: &Value<'_>, found: &mut dyn FnMut(String)) {
    match value {
        Value::ByteConstant(n) | Value::IntConstant(n) | Value::ShortConstant(n) => found(n.to_string()),
        Value::CharConstant(n) => found(char::from_u32(*n as u32).unwrap_or('\u{fffd}').to_string()),
        Value::DoubleConstant(n) => found(n.to_string()),
        Value::FloatConstant(n) => found(n.to_string()),
        Value::LongConstant(n) => found(n.to_string()),
        Value::BooleanConstant(n) => found((*n != 0).to_string()),
        Value::StringConstant(text) | Value::ClassLiteral { class_name: text } => found(text.to_string()),
        Value::EnumConstant { const_name, .. } => found(const_name.to_string()),
        Value::AnnotationValue(_) => {}
        Value::ArrayValue(values) => values.iter().for_each(|value| flatten(value, found)),
    }
}
