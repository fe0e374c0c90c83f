//! Top-level structure: header, members, class attributes. Fails if that structure is broken; what is wrong
//! within one member or attribute only leaves that one out, with a problem noted.

use crate::annotations::annotations;
use crate::attributes::{
    Context, bootstrap_methods, declaring_class, each_attribute, enclosing_class, exceptions, source_file,
};
use crate::body::{CodeFormat, code};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::lambdas;
use crate::pool::Pool;
use crate::resolve::Resolver;
use crate::types::{Annotation, BootstrapMethod, ClassFile, Field, Method, Str};

const MAGIC: u32 = 0xcafe_babe;
const OLDEST_MAJOR: u16 = 45;
const ACC_MODULE: u16 = 0x8000;

/// Reads a class. Lambdas have names that tell where they are written, whoever has compiled it.
pub fn parse(bytes: &[u8]) -> Result<ClassFile<'_>, Error> {
    let mut class = parse_as_written(bytes)?;
    lambdas::tell(&mut class);
    Ok(class)
}

/// Reads a class with all names as they are in its bytes.
pub fn parse_as_written(bytes: &[u8]) -> Result<ClassFile<'_>, Error> {
    let mut cursor = Cursor::new(bytes);
    let not_a_class = cursor.error("not a class file");
    if cursor.u32()? != MAGIC {
        return Err(not_a_class);
    }
    let too_old = cursor.error("class file version below 45");
    let (minor, major) = (cursor.u16()?, cursor.u16()?);
    if major < OLDEST_MAJOR {
        return Err(too_old);
    }
    let pool = Pool::read(&mut cursor)?;
    let resolver = Resolver::new(&pool, copied_text_limit(bytes.len()));
    let mut context = Context { resolver, problems: Vec::new() };

    let access = cursor.u16()?;
    let name = context.resolver.class(cursor.index()?)?;
    let super_name = context.resolver.optional_class(cursor.index()?)?;
    let interfaces = interfaces(&mut cursor, &mut context)?;
    let fields = members(&mut cursor, &mut context, field)?;
    let format = if (major, minor) < (45, 3) { CodeFormat::Narrow } else { CodeFormat::Standard };
    let methods = members(&mut cursor, &mut context, |cursor, context, header| {
        method(cursor, context, header, format)
    })?;
    let attributes = class_attributes(&mut cursor, &mut context, &name)?;
    if !cursor.is_empty() {
        context.problems.push(cursor.error("bytes after the end of the class"));
    }

    let problems = context.problems;
    Ok(ClassFile {
        minor,
        major,
        access,
        name,
        super_name,
        interfaces,
        fields,
        methods,
        source_file: attributes.source_file,
        outer_class: attributes.declaring_class.or(attributes.enclosing_class),
        annotations: attributes.annotations,
        bootstrap_methods: attributes.bootstrap_methods,
        is_record: attributes.is_record,
        is_module: attributes.is_module || access & ACC_MODULE != 0,
        problems,
        pool,
    })
}

/// In the JDK, annotation texts come to half the size of their class at most.
fn copied_text_limit(class_len: usize) -> usize {
    class_len.saturating_mul(16).saturating_add(1 << 20)
}

fn interfaces<'a>(cursor: &mut Cursor<'a>, context: &mut Context<'_, 'a>) -> Result<Vec<Str<'a>>, Error> {
    let count = cursor.u16()?;
    let mut interfaces = Vec::with_capacity(cursor.room_for(count.into(), 2));
    for _ in 0..count {
        interfaces.push(context.resolver.class(cursor.index()?)?);
    }
    Ok(interfaces)
}

/// What fields and methods begin with.
struct MemberHeader<'a> {
    access: u16,
    name: Str<'a>,
    descriptor: Str<'a>,
}

/// Reads a list of fields or methods; one without a readable name or descriptor is left out.
fn members<'p, 'a, T>(
    cursor: &mut Cursor<'a>,
    context: &mut Context<'p, 'a>,
    mut read: impl FnMut(&mut Cursor<'a>, &mut Context<'p, 'a>, MemberHeader<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let count = cursor.u16()?;
    let mut members = Vec::with_capacity(cursor.room_for(count.into(), 8));
    for _ in 0..count {
        let access = cursor.u16()?;
        let name = context.resolver.text(cursor.index()?);
        let descriptor = context.resolver.text(cursor.index()?);
        match name.and_then(|name| Ok(MemberHeader { access, name, descriptor: descriptor? })) {
            Ok(header) => members.push(read(cursor, context, header)?),
            Err(problem) => {
                context.problems.push(problem);
                each_attribute(cursor, context, |_, _, _| Ok(()))?;
            }
        }
    }
    Ok(members)
}

fn field<'a>(
    cursor: &mut Cursor<'a>,
    context: &mut Context<'_, 'a>,
    header: MemberHeader<'a>,
) -> Result<Field<'a>, Error> {
    let MemberHeader { access, name, descriptor } = header;
    let mut field = Field { access, name, descriptor, annotations: Vec::new() };
    each_attribute(cursor, context, |context, name, body| {
        if is_annotations(name) {
            field.annotations.extend(annotations(context, body)?);
        }
        Ok(())
    })?;
    Ok(field)
}

fn method<'a>(
    cursor: &mut Cursor<'a>,
    context: &mut Context<'_, 'a>,
    header: MemberHeader<'a>,
    format: CodeFormat,
) -> Result<Method<'a>, Error> {
    let MemberHeader { access, name, descriptor } = header;
    let mut method =
        Method { access, name, descriptor, exceptions: Vec::new(), annotations: Vec::new(), code: None };
    each_attribute(cursor, context, |context, name, body| {
        match name {
            "Code" if method.code.is_some() => return Err(body.error("second Code attribute")),
            "Code" => method.code = Some(code(context, body, format)?),
            "Exceptions" => method.exceptions.extend(exceptions(context, body)?),
            _ if is_annotations(name) => method.annotations.extend(annotations(context, body)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(method)
}

#[derive(Default)]
struct ClassAttributes<'a> {
    source_file: Option<Str<'a>>,
    declaring_class: Option<Str<'a>>,
    enclosing_class: Option<Str<'a>>,
    annotations: Vec<Annotation<'a>>,
    bootstrap_methods: Vec<BootstrapMethod<'a>>,
    is_record: bool,
    is_module: bool,
}

fn class_attributes<'a>(
    cursor: &mut Cursor<'a>,
    context: &mut Context<'_, 'a>,
    class: &str,
) -> Result<ClassAttributes<'a>, Error> {
    let mut found = ClassAttributes::default();
    each_attribute(cursor, context, |context, name, body| {
        match name {
            "SourceFile" => found.source_file = Some(source_file(context, body)?),
            "InnerClasses" => found.declaring_class = declaring_class(context, body, class)?,
            "EnclosingMethod" => found.enclosing_class = Some(enclosing_class(context, body)?),
            "BootstrapMethods" => found.bootstrap_methods = bootstrap_methods(context, body)?,
            "Record" => found.is_record = true,
            "Module" => found.is_module = true,
            _ if is_annotations(name) => found.annotations.extend(annotations(context, body)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}

fn is_annotations(attribute: &str) -> bool {
    matches!(attribute, "RuntimeVisibleAnnotations" | "RuntimeInvisibleAnnotations")
}
