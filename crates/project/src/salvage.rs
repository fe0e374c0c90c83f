//! Entries of a zip archive whose table of contents is lost, found by walking from one entry's own header to
//! the next. Knows nothing of what the entries are for.

use crate::archive::{Entry, MAX_ENTRY, clean_name, inflate_prefix, u16_at, u32_at};
use crate::blob::Blob;
use flate2::Crc;

/// A damaged archive is read into memory whole; larger ones are given up.
const MAX_ARCHIVE: u64 = 1 << 30;
/// Unpacking stops after this much: a damaged archive may be a bomb as well.
const MAX_UNPACKED: u64 = 2 << 30;

pub fn salvage(blob: &Blob) -> Vec<Entry> {
    if blob.len() > MAX_ARCHIVE {
        return Vec::new();
    }
    let Ok(bytes) = blob.read(0, blob.len()) else { return Vec::new() };
    let mut entries = Vec::new();
    let mut unpacked = 0;
    let mut at = 0;
    while let Some(found) = find_header(&bytes, at) {
        at = match whole_entry(&bytes, found) {
            Some((entry, end)) => {
                unpacked += entry.size;
                if !entry.name.is_empty() && !entry.name.ends_with('/') {
                    entries.push(entry);
                }
                end
            }
            None => found + 4,
        };
        if unpacked > MAX_UNPACKED {
            break;
        }
    }
    entries
}

fn find_header(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at + 30 <= bytes.len() {
        at += bytes[at..].iter().position(|&byte| byte == b'P')?;
        if at + 30 <= bytes.len() && bytes[at..].starts_with(b"PK\x03\x04") {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The entry whose header is at `at`, when all of its bytes are there, and where it ends.
fn whole_entry(bytes: &[u8], at: usize) -> Option<(Entry, usize)> {
    let (flags, method) = (u16_at(bytes, at + 6), u16_at(bytes, at + 8));
    let (mut crc, mut packed, mut size) =
        (u32_at(bytes, at + 14), u32_at(bytes, at + 18), u32_at(bytes, at + 22));
    let name_end = at + 30 + usize::from(u16_at(bytes, at + 26));
    let data = name_end + usize::from(u16_at(bytes, at + 28));
    let name = clean_name(bytes.get(at + 30..name_end)?);
    // Bit 3: sizes stand behind the data, so the data itself must say where it ends.
    if flags & 8 != 0 && method == 8 {
        let (unpacked, taken) = inflate_prefix(bytes.get(data..)?, MAX_ENTRY, true).ok()?;
        let mut sum = Crc::new();
        sum.update(&unpacked);
        (crc, packed, size) = (sum.sum(), u32::try_from(taken).ok()?, u32::try_from(unpacked.len()).ok()?);
    }
    let end = data.checked_add(packed as usize).filter(|&end| end <= bytes.len())?;
    let entry = Entry {
        name,
        method,
        encrypted: flags & 1 != 0,
        packed: packed.into(),
        size: size.into(),
        crc,
        header: at as u64,
    };
    Some((entry, end))
}
