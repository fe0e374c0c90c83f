//! Reads an entry and checks it, on as many threads as it is worth. Large entries take longer to read than what is made
//! of them.

use crate::entry::{self, PIECE, Payload};
use crate::key::{Hash, Key};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::thread;

/// Below so many bytes for each, threads cost more than they bring.
const WORTH: usize = 4 * PIECE;

/// The payload of an entry of this key. `None` if the file is something else.
pub fn read(path: &Path, key: &Key, file: &mut File, size: u64) -> io::Result<Option<Vec<u8>>> {
    let start = entry::header_len(key);
    let mut header = vec![0; start];
    match file.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        outcome => outcome?,
    }
    let Some(expected) = entry::expected(key, &header) else { return Ok(None) };
    if size.checked_sub(start as u64) != Some(expected.len) {
        return Ok(None);
    }
    let Ok(len) = usize::try_from(expected.len) else { return Ok(None) };
    let mut payload = vec![0; len];
    let threads = thread::available_parallelism().map_or(1, usize::from).min(len / WORTH).max(1);
    let share = len.div_ceil(PIECE).div_ceil(threads).max(1) * PIECE;
    let mut parts = payload.chunks_mut(share).enumerate();
    let first = parts.next();
    let hashes: io::Result<Vec<Vec<Hash>>> = thread::scope(|scope| {
        let part = |(number, bytes): (usize, &mut [u8])| {
            let mut file = File::open(path)?;
            file.seek(SeekFrom::Start((start + number * share) as u64))?;
            read_part(&mut file, bytes)
        };
        let others: Vec<_> = parts.map(|part_of| scope.spawn(move || part(part_of))).collect();
        let first = first.map(|(_, bytes)| read_part(file, bytes)).transpose()?.unwrap_or_default();
        let others =
            others.into_iter().map(|part| part.join().unwrap_or_else(|_| Err(io::Error::other("gone"))));
        std::iter::once(Ok(first)).chain(others).collect()
    });
    Ok((Payload::of(expected.len, &hashes?.concat()) == expected).then_some(payload))
}

/// Each piece is hashed while it is still near.
fn read_part(file: &mut File, bytes: &mut [u8]) -> io::Result<Vec<Hash>> {
    let piece = |piece: &mut [u8]| {
        file.read_exact(piece)?;
        Ok(Hash::of(piece))
    };
    bytes.chunks_mut(PIECE).map(piece).collect()
}
