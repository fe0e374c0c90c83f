//! Zip archives: the directory of entries, and the bytes of one entry. Tolerates what real and damaged jars
//! contain; knows nothing of classes, manifests or layers.

use crate::blob::Blob;
use crate::salvage::salvage;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_128;

/// No class, manifest or service file is larger; a larger entry is a bomb or of no interest.
pub const MAX_ENTRY: u64 = 64 << 20;

pub struct Archive {
    blob: Blob,
    pub entries: Vec<Entry>,
    /// Why the directory of entries could not be trusted; `entries` is then what could be salvaged.
    pub damage: Option<&'static str>,
    /// Of the packed bytes of each entry, once somebody has asked.
    digests: Vec<OnceLock<u128>>,
}

#[derive(Debug, Clone)]
pub struct Entry {
    /// With `/` between components, without leading `/`, `.` and `..`.
    pub name: String,
    pub(crate) method: u16,
    pub(crate) encrypted: bool,
    pub(crate) packed: u64,
    pub(crate) size: u64,
    pub(crate) crc: u32,
    /// Where the entry's own header begins in the archive.
    pub(crate) header: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryError {
    Encrypted,
    TooLarge,
    Method(u16),
    Corrupt,
}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EntryError::Encrypted => write!(f, "encrypted"),
            EntryError::TooLarge => write!(f, "larger than {} MB", MAX_ENTRY >> 20),
            EntryError::Method(method) => write!(f, "compressed by unknown method {method}"),
            EntryError::Corrupt => write!(f, "corrupt"),
        }
    }
}

impl Archive {
    /// `None` when the blob is no zip archive at all.
    pub fn open(blob: Blob) -> Option<Archive> {
        let damage = match read_directory(&blob) {
            Ok(entries) => return Some(Archive::of(blob, entries, None)),
            Err(damage) => damage,
        };
        let entries = salvage(&blob);
        let starts_like_zip = blob.read_up_to(0, 4).is_ok_and(|magic| magic.starts_with(b"PK"));
        (starts_like_zip || !entries.is_empty()).then(|| Archive::of(blob, entries, Some(damage)))
    }

    fn of(blob: Blob, entries: Vec<Entry>, damage: Option<&'static str>) -> Archive {
        let digests = entries.iter().map(|_| OnceLock::new()).collect();
        Archive { blob, entries, damage, digests }
    }

    /// The uncompressed bytes of an entry of at most `limit` bytes.
    pub fn read(&self, entry: &Entry, limit: u64) -> Result<Vec<u8>, EntryError> {
        if entry.size > limit {
            return Err(EntryError::TooLarge);
        }
        let packed = self.packed(entry)?;
        let packed = packed.read(0, packed.len()).map_err(|_| EntryError::Corrupt)?;
        let bytes = match entry.method {
            0 => packed,
            8 => inflate(&packed, entry.size, true)?,
            other => return Err(EntryError::Method(other)),
        };
        let mut crc = Crc::new();
        crc.update(&bytes);
        if bytes.len() as u64 != entry.size || crc.sum() != entry.crc {
            return Err(EntryError::Corrupt);
        }
        Ok(bytes)
    }

    pub fn is_made_of(&self, bytes: &[u8]) -> bool {
        self.blob.is(bytes)
    }

    /// Whether nothing of the archive is missing, judged by its table of contents, the headers of its entries,
    /// and the content of those that a known version of it does not have.
    pub fn is_whole(&self, known: Option<&Archive>) -> bool {
        let same: FxHashMap<&str, &Entry> =
            known.iter().flat_map(|known| &known.entries).map(|entry| (entry.name.as_str(), entry)).collect();
        let is_whole = |entry: &Entry| match (known, same.get(entry.name.as_str())) {
            (Some(known), Some(before)) if self.has_same(entry, known, before) => true,
            (Some(_), _) => self.read(entry, MAX_ENTRY) != Err(EntryError::Corrupt),
            (None, _) => !matches!(self.packed(entry), Err(EntryError::Corrupt)),
        };
        self.damage.is_none() && self.entries.iter().all(is_whole)
    }

    /// Whether an entry is the same as one of another archive, packed bytes and all.
    pub fn has_same(&self, entry: &Entry, other: &Archive, before: &Entry) -> bool {
        let about = |entry: &Entry| (entry.method, entry.encrypted, entry.size, entry.crc, entry.packed);
        about(entry) == about(before)
            && self.packed_bytes(entry).is_some_and(|packed| Some(packed) == other.packed_bytes(before))
    }

    /// As they lie in the archive.
    pub fn packed_bytes(&self, entry: &Entry) -> Option<Vec<u8>> {
        let packed = self.packed(entry).ok()?;
        packed.read(0, packed.len()).ok()
    }

    /// By which the packed bytes of an entry are known; those that cannot be read are all the same.
    pub fn digest(&self, number: usize) -> u128 {
        let packed = || self.packed_bytes(&self.entries[number]).unwrap_or_default();
        *self.digests[number].get_or_init(|| xxh3_128(&packed()))
    }

    /// An entry as an archive of its own: in place when it is stored, unpacked otherwise.
    pub fn nested(&self, entry: &Entry, limit: u64) -> Result<Blob, EntryError> {
        if entry.method == 0 && !entry.encrypted {
            self.packed(entry)
        } else {
            self.read(entry, limit).map(Blob::memory)
        }
    }

    /// The bytes of an entry as they lie in the archive.
    fn packed(&self, entry: &Entry) -> Result<Blob, EntryError> {
        if entry.encrypted {
            return Err(EntryError::Encrypted);
        }
        let header = self.blob.read(entry.header, 30).map_err(|_| EntryError::Corrupt)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(EntryError::Corrupt);
        }
        let names = u64::from(u16_at(&header, 26)) + u64::from(u16_at(&header, 28));
        self.blob.slice(entry.header + 30 + names, entry.packed).ok_or(EntryError::Corrupt)
    }
}

/// Inflates at most `limit` bytes; raw deflate or with a zlib header.
pub fn inflate(packed: &[u8], limit: u64, raw: bool) -> Result<Vec<u8>, EntryError> {
    inflate_prefix(packed, limit, raw).map(|(bytes, _)| bytes)
}

/// As [`inflate`], with the number of packed bytes the stream took.
pub fn inflate_prefix(packed: &[u8], limit: u64, raw: bool) -> Result<(Vec<u8>, u64), EntryError> {
    let mut inflater = Decompress::new(!raw);
    // Deflate cannot expand more than 1032 times, so a lying size allocates little.
    let most = limit.min(packed.len() as u64 * 1032 + 64);
    let mut bytes = Vec::with_capacity(usize::try_from(most.min(MAX_ENTRY)).unwrap_or(0) + 1);
    loop {
        let rest = &packed[inflater.total_in() as usize..];
        let (before_in, before_out) = (inflater.total_in(), inflater.total_out());
        let status = inflater.decompress_vec(rest, &mut bytes, FlushDecompress::Finish);
        if bytes.len() as u64 > limit {
            return Err(EntryError::TooLarge);
        }
        match status {
            Ok(Status::StreamEnd) => return Ok((bytes, inflater.total_in())),
            Ok(_) if bytes.len() == bytes.capacity() => bytes.reserve(bytes.len().max(4096)),
            Ok(_) if (before_in, before_out) != (inflater.total_in(), inflater.total_out()) => {}
            Ok(_) | Err(_) => return Err(EntryError::Corrupt),
        }
    }
}

fn read_directory(blob: &Blob) -> Result<Vec<Entry>, &'static str> {
    const NO_END: &str = "it ends too early";
    const DAMAGED: &str = "its table of contents is damaged";
    let tail_len = blob.len().min(22 + 65535 + 20);
    let tail_at = blob.len() - tail_len;
    let tail = blob.read(tail_at, tail_len).map_err(|_| NO_END)?;
    let end = (0..tail.len().saturating_sub(21))
        .rev()
        .find(|&at| tail[at..].starts_with(b"PK\x05\x06"))
        .ok_or(NO_END)?;

    let mut count = u64::from(u16_at(&tail, end + 10));
    let mut size = u64::from(u32_at(&tail, end + 12));
    let mut offset = u64::from(u32_at(&tail, end + 16));
    let mut after = tail_at + end as u64;
    if end >= 20 && tail[end - 20..].starts_with(b"PK\x06\x07") && (count == 0xFFFF || offset == 0xFFFF_FFFF)
    {
        let at = u64_at(&tail, end - 12);
        let wide = blob.read(at, 56).map_err(|_| DAMAGED)?;
        if !wide.starts_with(b"PK\x06\x06") {
            return Err(DAMAGED);
        }
        (count, size, offset, after) = (u64_at(&wide, 32), u64_at(&wide, 40), u64_at(&wide, 48), at);
    }

    // A launcher script may stand before the archive; offsets then count from the archive's own start.
    let start = after.checked_sub(size).ok_or(DAMAGED)?;
    let shift = start.checked_sub(offset).ok_or(DAMAGED)?;
    let directory = blob.read(start, size).map_err(|_| DAMAGED)?;
    let mut entries = Vec::with_capacity(usize::try_from(count.min(size / 46)).unwrap_or(0));
    let mut at = 0;
    while at + 46 <= directory.len() && directory[at..].starts_with(b"PK\x01\x02") {
        at = read_entry(&directory, at, shift, &mut entries).ok_or(DAMAGED)?;
    }
    // The count is kept modulo 65536 by writers that know no zip64.
    if (entries.len() as u64) & 0xFFFF != count & 0xFFFF {
        return Err(DAMAGED);
    }
    entries.retain(|entry| !entry.name.is_empty() && !entry.name.ends_with('/'));
    Ok(entries)
}

/// Reads the entry at `at` of the table of contents; returns where the next one begins.
fn read_entry(directory: &[u8], at: usize, shift: u64, entries: &mut Vec<Entry>) -> Option<usize> {
    let field = |i| usize::from(u16_at(directory, at + i));
    let name_end = at + 46 + field(28);
    let extra_end = name_end + field(30);
    let name = directory.get(at + 46..name_end)?;
    let mut packed = u64::from(u32_at(directory, at + 20));
    let mut size = u64::from(u32_at(directory, at + 24));
    let mut header = u64::from(u32_at(directory, at + 42));
    if [packed, size, header].contains(&0xFFFF_FFFF) {
        let mut wide = wide_fields(directory.get(name_end..extra_end)?);
        for value in [&mut size, &mut packed, &mut header] {
            if *value == 0xFFFF_FFFF {
                *value = wide.next()?;
            }
        }
    }
    entries.push(Entry {
        name: clean_name(name),
        method: u16_at(directory, at + 10),
        encrypted: u16_at(directory, at + 8) & 1 != 0,
        packed,
        size,
        crc: u32_at(directory, at + 16),
        header: header.checked_add(shift)?,
    });
    Some(extra_end + field(32)).filter(|&end| end <= directory.len())
}

/// The 64-bit values of the zip64 extra field.
fn wide_fields(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut values = Vec::new();
    while extra.len() >= 4 {
        let (id, len) = (u16_at(extra, 0), usize::from(u16_at(extra, 2)));
        let Some(body) = extra.get(4..4 + len) else { break };
        if id == 1 {
            values.extend(body.chunks_exact(8).map(|chunk| u64_at(chunk, 0)));
        }
        extra = &extra[4 + len..];
    }
    values.into_iter()
}

pub(crate) fn clean_name(bytes: &[u8]) -> String {
    let name = String::from_utf8_lossy(bytes);
    let odd =
        name.starts_with(['/', '.']) || name.contains('\\') || name.contains("/.") || name.contains("//");
    if !odd {
        return name.into_owned();
    }
    let slash = name.ends_with(['/', '\\']);
    let parts: Vec<_> = name.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "..")).collect();
    parts.join("/") + if slash { "/" } else { "" }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
