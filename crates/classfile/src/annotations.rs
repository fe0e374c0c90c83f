//! `RuntimeVisibleAnnotations` and `RuntimeInvisibleAnnotations`, flattened to names and texts.
//! Does not know what any annotation means.

use crate::attributes::Context;
use crate::cursor::Cursor;
use crate::error::Error;
use crate::pool::Entry;
use crate::types::{Annotation, Str};

/// Values nest without limit in theory, and twice or three times in practice.
const MAX_DEPTH: u32 = 32;

pub(crate) fn annotations<'a>(
    context: &mut Context<'_, 'a>,
    mut body: Cursor<'a>,
) -> Result<Vec<Annotation<'a>>, Error> {
    let count = body.u16()?;
    let mut annotations = Vec::with_capacity(body.room_for(count.into(), 4));
    for _ in 0..count {
        annotations.push(annotation(context, &mut body, 0)?);
    }
    Ok(annotations)
}

fn annotation<'a>(
    context: &mut Context<'_, 'a>,
    body: &mut Cursor<'a>,
    depth: u32,
) -> Result<Annotation<'a>, Error> {
    let descriptor = context.resolver.text(body.index()?)?;
    let count = body.u16()?;
    let mut values = Vec::with_capacity(body.room_for(count.into(), 5));
    for _ in 0..count {
        let at = body.index()?;
        let name = context.resolver.text(at)?;
        element(context, body, depth, &mut |context, value| {
            if let Str::Owned(name) = &name {
                context.resolver.charge(at, name.len())?;
            }
            values.push((name.clone(), value));
            Ok(())
        })?;
    }
    Ok(Annotation { descriptor, values })
}

/// Reads one element value and passes on the simple values in it.
fn element<'p, 'a>(
    context: &mut Context<'p, 'a>,
    body: &mut Cursor<'a>,
    depth: u32,
    found: &mut dyn FnMut(&mut Context<'p, 'a>, String) -> Result<(), Error>,
) -> Result<(), Error> {
    if depth > MAX_DEPTH {
        return Err(body.error("annotation nested too deeply"));
    }
    let unknown = body.error("unknown annotation value");
    let tag = body.u8()?;
    match tag {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => {
            let value = number(context, body, tag)?;
            found(context, value)
        }
        b's' | b'c' => {
            let text = context.resolver.owned_text(body.index()?)?;
            found(context, text)
        }
        b'e' => {
            body.index()?; // The enum's type.
            let constant = context.resolver.owned_text(body.index()?)?;
            found(context, constant)
        }
        b'@' => annotation(context, body, depth + 1).map(drop),
        b'[' => {
            for _ in 0..body.u16()? {
                element(context, body, depth + 1, found)?;
            }
            Ok(())
        }
        _ => Err(unknown),
    }
}

fn number(context: &mut Context<'_, '_>, body: &mut Cursor<'_>, tag: u8) -> Result<String, Error> {
    let index = body.index()?;
    match (tag, context.resolver.entry(index)) {
        (b'Z', Entry::Integer(value)) => Ok((value != 0).to_string()),
        (b'C', Entry::Integer(value)) => {
            let c = u32::try_from(value).ok().and_then(char::from_u32);
            Ok(c.unwrap_or(char::REPLACEMENT_CHARACTER).into())
        }
        (b'B' | b'I' | b'S', Entry::Integer(value)) => Ok(value.to_string()),
        (b'J', Entry::Long(value)) => Ok(value.to_string()),
        (b'F', Entry::Float(value)) => Ok(value.to_string()),
        (b'D', Entry::Double(value)) => Ok(value.to_string()),
        _ => Err(index.error("annotation value of another type")),
    }
}
