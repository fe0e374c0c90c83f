//! Follows constant pool indices to names, members and constants, with every step checked.
//! Also limits how much text is copied: a few bytes can name the same long constant again and again.

use crate::code::{Const, FieldRef, MethodRef};
use crate::cursor::Index;
use crate::error::Error;
use crate::mutf8;
use crate::pool::{BootstrapArg, Entry, Handle, HandleKind, MemberKind, Pool};
use crate::types::Str;
use std::borrow::Cow;

#[derive(Debug)]
pub(crate) struct Resolver<'p, 'a> {
    pool: &'p Pool<'a>,
    /// Bytes of text that may still be copied; borrowed text is free.
    spare: usize,
}

pub(crate) struct Dynamic<'a> {
    pub(crate) bootstrap: u16,
    pub(crate) name: Str<'a>,
    pub(crate) descriptor: Str<'a>,
}

struct Member<'a> {
    kind: MemberKind,
    class: Str<'a>,
    name: Str<'a>,
    descriptor: Str<'a>,
}

impl<'p, 'a> Resolver<'p, 'a> {
    pub(crate) fn new(pool: &'p Pool<'a>, spare: usize) -> Self {
        Resolver { pool, spare }
    }

    pub(crate) fn text(&mut self, index: Index) -> Result<Str<'a>, Error> {
        match self.entry(index) {
            Entry::Text(text) => Ok(Cow::Borrowed(text)),
            Entry::EncodedText(bytes) => {
                self.charge(index, bytes.len().saturating_mul(3))?;
                Ok(Cow::Owned(mutf8::decode(bytes)))
            }
            _ => Err(index.error("not a text constant")),
        }
    }

    /// Text that the caller owns.
    pub(crate) fn owned_text(&mut self, index: Index) -> Result<String, Error> {
        if let Entry::Text(text) = self.entry(index) {
            self.charge(index, text.len())?;
        }
        self.text(index).map(Cow::into_owned)
    }

    /// Text that is compared but not kept; `None` if it is no plain text.
    pub(crate) fn plain_text(&self, index: Index) -> Option<&'a str> {
        match self.entry(index) {
            Entry::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn class(&mut self, index: Index) -> Result<Str<'a>, Error> {
        match self.entry(index) {
            Entry::Class { name } => self.text(Index { value: name, ..index }),
            _ => Err(index.error("not a class constant")),
        }
    }

    /// Index 0 stands for no class.
    pub(crate) fn optional_class(&mut self, index: Index) -> Result<Option<Str<'a>>, Error> {
        if index.value == 0 { Ok(None) } else { self.class(index).map(Some) }
    }

    pub(crate) fn field(&mut self, index: Index) -> Result<FieldRef<'a>, Error> {
        let Member { kind, class, name, descriptor } = self.member(index)?;
        match kind {
            MemberKind::Field => Ok(FieldRef { class, name, descriptor }),
            MemberKind::Method | MemberKind::InterfaceMethod => Err(index.error("not a field constant")),
        }
    }

    pub(crate) fn method(&mut self, index: Index) -> Result<MethodRef<'a>, Error> {
        let Member { kind, class, name, descriptor } = self.member(index)?;
        let interface = match kind {
            MemberKind::Field => return Err(index.error("not a method constant")),
            MemberKind::Method => false,
            MemberKind::InterfaceMethod => true,
        };
        Ok(MethodRef { class, name, descriptor, interface })
    }

    pub(crate) fn handle(&mut self, index: Index) -> Result<Handle<'a>, Error> {
        let Entry::MethodHandle { kind, member } = self.entry(index) else {
            return Err(index.error("not a method handle constant"));
        };
        let kind = handle_kind(kind).ok_or(index.error("unknown kind of method handle"))?;
        let member = self.member(Index { value: member, ..index })?;
        if is_field_access(kind) != (member.kind == MemberKind::Field) {
            return Err(index.error("method handle of the wrong kind of member"));
        }
        let interface = member.kind == MemberKind::InterfaceMethod;
        let Member { class, name, descriptor, .. } = member;
        Ok(Handle { kind, class, name, descriptor, interface })
    }

    /// The call site of an `invokedynamic`.
    pub(crate) fn call_site(&mut self, index: Index) -> Result<Dynamic<'a>, Error> {
        let Entry::InvokeDynamic { bootstrap, name_and_type } = self.entry(index) else {
            return Err(index.error("not a dynamic call site"));
        };
        let (name, descriptor) = self.name_and_type(Index { value: name_and_type, ..index })?;
        Ok(Dynamic { bootstrap, name, descriptor })
    }

    /// A constant that `ldc` or a bootstrap method may take. Dynamic constants are named, not followed into
    /// their own arguments: those may be nested, even in a circle.
    pub(crate) fn constant(&mut self, index: Index) -> Result<Const<'a>, Error> {
        Ok(match self.entry(index) {
            Entry::Integer(value) => Const::Int(value),
            Entry::Float(value) => Const::Float(value),
            Entry::Long(value) => Const::Long(value),
            Entry::Double(value) => Const::Double(value),
            Entry::String { text } => Const::String(self.text(Index { value: text, ..index })?),
            Entry::Class { name } => Const::Class(self.text(Index { value: name, ..index })?),
            Entry::MethodType { descriptor } => {
                Const::MethodType(self.text(Index { value: descriptor, ..index })?)
            }
            Entry::MethodHandle { .. } => Const::MethodHandle(self.handle(index)?),
            Entry::Dynamic { bootstrap, name_and_type } => {
                let (name, descriptor) = self.name_and_type(Index { value: name_and_type, ..index })?;
                Const::Dynamic { bootstrap, name, descriptor }
            }
            _ => return Err(index.error("not a loadable constant")),
        })
    }

    pub(crate) fn bootstrap_arg(&mut self, index: Index) -> BootstrapArg<'a> {
        match self.constant(index) {
            Ok(Const::Int(value)) => BootstrapArg::Int(value),
            Ok(Const::Long(value)) => BootstrapArg::Long(value),
            Ok(Const::Float(value)) => BootstrapArg::Float(value),
            Ok(Const::Double(value)) => BootstrapArg::Double(value),
            Ok(Const::String(text)) => BootstrapArg::String(text),
            Ok(Const::Class(name)) => BootstrapArg::Class(name),
            Ok(Const::MethodType(descriptor)) => BootstrapArg::MethodType(descriptor),
            Ok(Const::MethodHandle(handle)) => BootstrapArg::MethodHandle(handle),
            Ok(Const::Dynamic { name, descriptor, .. }) => BootstrapArg::Dynamic { name, descriptor },
            Ok(Const::Null) | Err(_) => BootstrapArg::Unknown,
        }
    }

    pub(crate) fn entry(&self, index: Index) -> Entry<'a> {
        self.pool.get(index.value)
    }

    /// Counts `len` more bytes of copied text.
    pub(crate) fn charge(&mut self, index: Index, len: usize) -> Result<(), Error> {
        self.spare = self.spare.checked_sub(len).ok_or(index.error("too much repeated text"))?;
        Ok(())
    }

    fn member(&mut self, index: Index) -> Result<Member<'a>, Error> {
        let Entry::Member { kind, class, name_and_type } = self.entry(index) else {
            return Err(index.error("not a field or method constant"));
        };
        let class = self.class(Index { value: class, ..index })?;
        let (name, descriptor) = self.name_and_type(Index { value: name_and_type, ..index })?;
        Ok(Member { kind, class, name, descriptor })
    }

    fn name_and_type(&mut self, index: Index) -> Result<(Str<'a>, Str<'a>), Error> {
        let Entry::NameAndType { name, descriptor } = self.entry(index) else {
            return Err(index.error("not a name and type constant"));
        };
        let name = self.text(Index { value: name, ..index })?;
        let descriptor = self.text(Index { value: descriptor, ..index })?;
        Ok((name, descriptor))
    }
}

fn handle_kind(kind: u8) -> Option<HandleKind> {
    Some(match kind {
        1 => HandleKind::GetField,
        2 => HandleKind::GetStatic,
        3 => HandleKind::PutField,
        4 => HandleKind::PutStatic,
        5 => HandleKind::InvokeVirtual,
        6 => HandleKind::InvokeStatic,
        7 => HandleKind::InvokeSpecial,
        8 => HandleKind::NewInvokeSpecial,
        9 => HandleKind::InvokeInterface,
        _ => return None,
    })
}

fn is_field_access(kind: HandleKind) -> bool {
    use HandleKind::*;
    matches!(kind, GetField | GetStatic | PutField | PutStatic)
}
