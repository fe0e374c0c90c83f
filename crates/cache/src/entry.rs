//! The bytes of one entry on disk: a header that names the key, checksums over everything, the payload. Decides
//! whether an entry can be trusted; touches no file.

use crate::key::{Hash, Key};

const MAGIC: [u8; 8] = *b"snarl\0\x02\n";
const CHECKSUM: usize = 16;
/// A payload is checked in pieces of so many bytes, so that several can be at it.
pub const PIECE: usize = 4 << 20;

/// What a payload is: how long, and a checksum over the hashes of its pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    pub len: u64,
    sum: Hash,
}

impl Payload {
    /// By the hashes of its pieces.
    pub fn of(len: u64, pieces: &[Hash]) -> Payload {
        let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.0.to_le_bytes()).collect();
        Payload { len, sum: Hash::of(&bytes) }
    }
}

/// What stands before the payload: magic, length of the key, key, length and checksum of the payload, and a
/// checksum over all of these.
pub fn header(key: &Key, payload: &Payload) -> Vec<u8> {
    let mut header = before_payload_fields(key);
    header.extend(payload.len.to_le_bytes());
    header.extend(payload.sum.0.to_le_bytes());
    header.extend(Hash::of(&header).0.to_le_bytes());
    header
}

pub fn header_len(key: &Key) -> usize {
    before_payload_fields(key).len() + 8 + CHECKSUM + CHECKSUM
}

/// What the payload has to be, if these bytes are exactly the header of an entry of this key.
pub fn expected(key: &Key, header: &[u8]) -> Option<Payload> {
    let rest = header.strip_prefix(before_payload_fields(key).as_slice())?;
    let (len, rest) = rest.split_first_chunk::<8>()?;
    let (sum, check) = rest.split_first_chunk::<CHECKSUM>()?;
    let whole = Hash::of(&header[..header.len() - check.len()]).0.to_le_bytes() == check;
    whole.then(|| Payload { len: u64::from_le_bytes(*len), sum: Hash(u128::from_le_bytes(*sum)) })
}

fn before_payload_fields(key: &Key) -> Vec<u8> {
    let key = key.bytes();
    [&MAGIC[..], &(key.len() as u64).to_le_bytes(), &key].concat()
}
