//! Attribute lists: finds each attribute's name and extent. What is wrong inside one attribute stays there:
//! it becomes a problem of the class, and the next attribute is read.

use crate::cursor::Cursor;
use crate::error::Error;
use crate::resolve::Resolver;
use crate::types::{BootstrapMethod, Str};

/// What the readers of all parts of a class share.
pub(crate) struct Context<'p, 'a> {
    pub(crate) resolver: Resolver<'p, 'a>,
    pub(crate) problems: Vec<Error>,
}

/// Hands each attribute to `read`. Fails only if the list itself is cut short.
pub(crate) fn each_attribute<'p, 'a>(
    cursor: &mut Cursor<'a>,
    context: &mut Context<'p, 'a>,
    mut read: impl FnMut(&mut Context<'p, 'a>, &str, Cursor<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    for _ in 0..cursor.u16()? {
        let name = cursor.index()?;
        let len = cursor.u32()?;
        let body = cursor.part(len as usize)?;
        let outcome = match context.resolver.plain_text(name) {
            Some(name) => read(context, name, body),
            None => Err(name.error("attribute without a name")),
        };
        context.problems.extend(outcome.err());
    }
    Ok(())
}

/// `SourceFile`.
pub(crate) fn source_file<'a>(context: &mut Context<'_, 'a>, mut body: Cursor<'a>) -> Result<Str<'a>, Error> {
    context.resolver.text(body.index()?)
}

/// `Exceptions`: the classes of the `throws` clause.
pub(crate) fn exceptions<'a>(
    context: &mut Context<'_, 'a>,
    mut body: Cursor<'a>,
) -> Result<Vec<Str<'a>>, Error> {
    let count = body.u16()?;
    let mut classes = Vec::with_capacity(body.room_for(count.into(), 2));
    for _ in 0..count {
        classes.push(context.resolver.class(body.index()?)?);
    }
    Ok(classes)
}

/// `InnerClasses`: the class of which `class` is a member, if it is one.
pub(crate) fn declaring_class<'a>(
    context: &mut Context<'_, 'a>,
    mut body: Cursor<'a>,
    class: &str,
) -> Result<Option<Str<'a>>, Error> {
    for _ in 0..body.u16()? {
        let inner = context.resolver.class(body.index()?)?;
        let outer = body.index()?;
        body.index()?; // Simple name.
        body.u16()?; // Access flags as in the source.
        if inner == class {
            return context.resolver.optional_class(outer);
        }
    }
    Ok(None)
}

/// `EnclosingMethod`: the class around a local or anonymous class.
pub(crate) fn enclosing_class<'a>(
    context: &mut Context<'_, 'a>,
    mut body: Cursor<'a>,
) -> Result<Str<'a>, Error> {
    context.resolver.class(body.index()?)
}

/// `BootstrapMethods`. All or nothing, since instructions refer to them by position.
pub(crate) fn bootstrap_methods<'a>(
    context: &mut Context<'_, 'a>,
    mut body: Cursor<'a>,
) -> Result<Vec<BootstrapMethod<'a>>, Error> {
    let count = body.u16()?;
    let mut methods = Vec::with_capacity(body.room_for(count.into(), 4));
    for _ in 0..count {
        let handle = context.resolver.handle(body.index()?)?;
        let arg_count = body.u16()?;
        let mut args = Vec::with_capacity(body.room_for(arg_count.into(), 2));
        for _ in 0..arg_count {
            args.push(context.resolver.bootstrap_arg(body.index()?));
        }
        methods.push(BootstrapMethod { handle, args });
    }
    Ok(methods)
}
