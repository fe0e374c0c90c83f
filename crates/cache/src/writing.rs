//! Writes a payload piece by piece, and knows then what it is. Nobody has to have all of it in memory.

use crate::entry::{PIECE, Payload};
use crate::key::Hash;
use std::error::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};

/// There are more bytes than there may be.
#[derive(Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("larger than the cache may be")
    }
}

impl Error for TooLarge {}

pub struct Writing<'a> {
    file: &'a mut File,
    /// At most one piece.
    buffer: Vec<u8>,
    hashes: Vec<Hash>,
    len: u64,
    limit: u64,
}

impl<'a> Writing<'a> {
    /// More than `limit` bytes are an error.
    pub fn new(file: &'a mut File, limit: u64) -> Writing<'a> {
        Writing { file, buffer: Vec::new(), hashes: Vec::new(), len: 0, limit }
    }

    pub fn finish(mut self) -> io::Result<Payload> {
        if !self.buffer.is_empty() {
            self.put_piece()?;
        }
        Ok(Payload::of(self.len, &self.hashes))
    }

    fn put_piece(&mut self) -> io::Result<()> {
        self.hashes.push(Hash::of(&self.buffer));
        self.len += self.buffer.len() as u64;
        if self.len > self.limit {
            return Err(io::Error::other(TooLarge));
        }
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

impl Write for Writing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PIECE {
            self.put_piece()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
