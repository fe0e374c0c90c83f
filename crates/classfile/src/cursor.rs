//! A checked position in the input: big-endian numbers, byte runs and nested parts, each with its offset.
//! Knows nothing of class files.

use crate::error::Error;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    at: usize,
}

/// A constant pool index together with the place it was read from, so that errors can point there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Index {
    pub(crate) value: u16,
    pub(crate) at: usize,
}

impl Index {
    pub(crate) fn error(self, what: &'static str) -> Error {
        Error { offset: self.at, what }
    }
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { rest: bytes, at: 0 }
    }

    /// Offset of the next byte, counted from the start of the outermost input.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn error(&self, what: &'static str) -> Error {
        Error { offset: self.at, what }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(self.error("unexpected end"))?;
        self.rest = rest;
        self.at += len;
        Ok(taken)
    }

    /// The next `len` bytes as an input of their own, which keeps counting offsets from the outer start.
    pub(crate) fn part(&mut self, len: usize) -> Result<Cursor<'a>, Error> {
        let at = self.at;
        Ok(Cursor { rest: self.take(len)?, at })
    }

    /// How much room to reserve for `count` items of at least `size` bytes each: a count that the
    /// remaining bytes cannot hold must not be believed.
    pub(crate) fn room_for(&self, count: usize, size: usize) -> usize {
        count.min(self.rest.len() / size)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn i8(&mut self) -> Result<i8, Error> {
        Ok(i8::from_be_bytes(self.array()?))
    }

    pub(crate) fn i16(&mut self) -> Result<i16, Error> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Error> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(crate) fn index(&mut self) -> Result<Index, Error> {
        let at = self.at;
        Ok(Index { value: self.u16()?, at })
    }

    /// A one-byte index, as `ldc` has it.
    pub(crate) fn short_index(&mut self) -> Result<Index, Error> {
        let at = self.at;
        Ok(Index { value: self.u8()?.into(), at })
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(self.error("unexpected end"))?;
        self.rest = rest;
        self.at += N;
        Ok(*taken)
    }
}
