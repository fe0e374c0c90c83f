//! The constant pool: every entry's shape, read once. Indices between entries are followed, and checked,
//! only by the [`Resolver`](crate::resolve::Resolver).

use crate::cursor::Cursor;
use crate::error::Error;
use crate::types::Str;

/// A resolved method handle constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handle<'a> {
    pub kind: HandleKind,
    pub class: Str<'a>,
    pub name: Str<'a>,
    pub descriptor: Str<'a>,
    /// The member is declared by an interface.
    pub interface: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleKind {
    GetField,
    GetStatic,
    PutField,
    PutStatic,
    InvokeVirtual,
    InvokeStatic,
    InvokeSpecial,
    NewInvokeSpecial,
    InvokeInterface,
}

/// One static argument of a bootstrap method.
#[derive(Debug, Clone, PartialEq)]
pub enum BootstrapArg<'a> {
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    String(Str<'a>),
    Class(Str<'a>),
    MethodType(Str<'a>),
    MethodHandle(Handle<'a>),
    /// A dynamic constant (condy), by name and descriptor.
    Dynamic {
        name: Str<'a>,
        descriptor: Str<'a>,
    },
    /// Unreadable, or of a tag newer than this reader.
    Unknown,
}

#[derive(Debug)]
pub(crate) struct Pool<'a> {
    /// By index; entry 0 and the slot after a long or double are [`Entry::Unusable`].
    entries: Vec<Entry<'a>>,
}

/// One constant as it stands in the file; the numbers of other entries are not checked yet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Entry<'a> {
    Unusable,
    Text(&'a str),
    /// Modified UTF-8 that has to be re-encoded to become text.
    EncodedText(&'a [u8]),
    Integer(i32),
    Float(f32),
    Long(i64),
    Double(f64),
    Class {
        name: u16,
    },
    String {
        text: u16,
    },
    Member {
        kind: MemberKind,
        class: u16,
        name_and_type: u16,
    },
    NameAndType {
        name: u16,
        descriptor: u16,
    },
    MethodHandle {
        kind: u8,
        member: u16,
    },
    MethodType {
        descriptor: u16,
    },
    Dynamic {
        bootstrap: u16,
        name_and_type: u16,
    },
    InvokeDynamic {
        bootstrap: u16,
        name_and_type: u16,
    },
    /// Only module-info refers to these.
    ModuleOrPackage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemberKind {
    Field,
    Method,
    InterfaceMethod,
}

impl<'a> Pool<'a> {
    pub(crate) fn read(cursor: &mut Cursor<'a>) -> Result<Self, Error> {
        let count = usize::from(cursor.u16()?);
        // The smallest entry takes three bytes; a long takes nine for its two slots.
        let mut entries = Vec::with_capacity(cursor.room_for(count, 3) + 1);
        entries.push(Entry::Unusable);
        while entries.len() < count {
            let entry = read_entry(cursor)?;
            entries.push(entry);
            if matches!(entry, Entry::Long(_) | Entry::Double(_)) {
                entries.push(Entry::Unusable);
            }
        }
        Ok(Pool { entries })
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Text(text) => Some(*text),
            _ => None,
        })
    }

    pub(crate) fn get(&self, index: u16) -> Entry<'a> {
        self.entries.get(usize::from(index)).copied().unwrap_or(Entry::Unusable)
    }
}

fn read_entry<'a>(cursor: &mut Cursor<'a>) -> Result<Entry<'a>, Error> {
    let unknown = cursor.error("unknown constant pool tag");
    Ok(match cursor.u8()? {
        1 => {
            let len = cursor.u16()?;
            text(cursor.take(len.into())?)
        }
        3 => Entry::Integer(cursor.i32()?),
        4 => Entry::Float(f32::from_bits(cursor.u32()?)),
        5 => Entry::Long(cursor.u64()?.cast_signed()),
        6 => Entry::Double(f64::from_bits(cursor.u64()?)),
        7 => Entry::Class { name: cursor.u16()? },
        8 => Entry::String { text: cursor.u16()? },
        9 => member(cursor, MemberKind::Field)?,
        10 => member(cursor, MemberKind::Method)?,
        11 => member(cursor, MemberKind::InterfaceMethod)?,
        12 => Entry::NameAndType { name: cursor.u16()?, descriptor: cursor.u16()? },
        15 => Entry::MethodHandle { kind: cursor.u8()?, member: cursor.u16()? },
        16 => Entry::MethodType { descriptor: cursor.u16()? },
        17 => Entry::Dynamic { bootstrap: cursor.u16()?, name_and_type: cursor.u16()? },
        18 => Entry::InvokeDynamic { bootstrap: cursor.u16()?, name_and_type: cursor.u16()? },
        19 | 20 => {
            cursor.u16()?;
            Entry::ModuleOrPackage
        }
        _ => return Err(unknown),
    })
}

fn member<'a>(cursor: &mut Cursor<'a>, kind: MemberKind) -> Result<Entry<'a>, Error> {
    Ok(Entry::Member { kind, class: cursor.u16()?, name_and_type: cursor.u16()? })
}

/// Decided once per entry, so that each later use costs nothing. Plain UTF-8 is accepted as it is, although
/// strictly a NUL or a four-byte character has no place in modified UTF-8: the meaning is plain enough.
fn text(bytes: &[u8]) -> Entry<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Entry::Text(text),
        Err(_) => Entry::EncodedText(bytes),
    }
}
