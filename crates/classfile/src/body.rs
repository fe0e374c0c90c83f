//! The `Code` attribute: a method's bytes, exception handlers and debug tables. Does not decode instructions.

use crate::attributes::{Context, each_attribute};
use crate::cursor::Cursor;
use crate::error::Error;
use crate::types::{Code, Handler, LocalVar};

/// Widths of the header fields: class files before 45.3 (JDK 1.0 betas) used narrower ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeFormat {
    Narrow,
    Standard,
}

pub(crate) fn code<'a>(
    context: &mut Context<'_, 'a>,
    mut body: Cursor<'a>,
    format: CodeFormat,
) -> Result<Code<'a>, Error> {
    let (max_stack, max_locals, len) = match format {
        CodeFormat::Narrow => (body.u8()?.into(), body.u8()?.into(), body.u16()?.into()),
        CodeFormat::Standard => (body.u16()?, body.u16()?, body.u32()?),
    };
    if len == 0 || len > u16::MAX.into() {
        return Err(body.error("code of impossible length"));
    }
    let bytes = body.take(len as usize)?;
    let handlers = handlers(context, &mut body, bytes.len())?;
    let mut code = Code { max_stack, max_locals, bytes, handlers, lines: Vec::new(), locals: Vec::new() };
    // Only debug tables follow: without them the code is still good.
    let tables = each_attribute(&mut body, context, |context, name, table| {
        match name {
            "LineNumberTable" => code.lines.extend(lines(table, bytes.len())?),
            "LocalVariableTable" => code.locals.extend(locals(context, table, bytes.len())?),
            _ => {}
        }
        Ok(())
    });
    context.problems.extend(tables.err());
    code.lines.sort_by_key(|&(pc, _)| pc);
    Ok(code)
}

fn handlers<'a>(
    context: &mut Context<'_, 'a>,
    body: &mut Cursor<'a>,
    code_len: usize,
) -> Result<Vec<Handler<'a>>, Error> {
    let count = body.u16()?;
    let mut handlers = Vec::with_capacity(body.room_for(count.into(), 8));
    for _ in 0..count {
        let outside = body.error("exception handler out of the code");
        let (start, end, target) = (body.u16()?, body.u16()?, body.u16()?);
        if start >= end || usize::from(end) > code_len || usize::from(target) >= code_len {
            return Err(outside);
        }
        let catch_type = context.resolver.optional_class(body.index()?)?;
        handlers.push(Handler { start, end, target, catch_type });
    }
    Ok(handlers)
}

fn lines(mut table: Cursor<'_>, code_len: usize) -> Result<Vec<(u16, u16)>, Error> {
    let count = table.u16()?;
    let mut lines = Vec::with_capacity(table.room_for(count.into(), 4));
    for _ in 0..count {
        let outside = table.error("line number out of the code");
        let (start, line) = (table.u16()?, table.u16()?);
        if usize::from(start) >= code_len {
            return Err(outside);
        }
        lines.push((start, line));
    }
    Ok(lines)
}

fn locals<'a>(
    context: &mut Context<'_, 'a>,
    mut table: Cursor<'a>,
    code_len: usize,
) -> Result<Vec<LocalVar<'a>>, Error> {
    let count = table.u16()?;
    let mut locals = Vec::with_capacity(table.room_for(count.into(), 10));
    for _ in 0..count {
        let outside = table.error("local variable out of the code");
        let (start, len) = (table.u16()?, table.u16()?);
        if usize::from(start) + usize::from(len) > code_len {
            return Err(outside);
        }
        let name = context.resolver.text(table.index()?)?;
        let descriptor = context.resolver.text(table.index()?)?;
        let slot = table.u16()?;
        locals.push(LocalVar { start, len, name, descriptor, slot });
    }
    Ok(locals)
}
