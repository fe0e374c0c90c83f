//! The bytes of one entry on disk: a header that names the key, checksums over everything, the payload. Decides
//! whether an entry can be trusted; touches no file.

use crate::key::{Hash, Key};

const MAGIC: [u8; 8] = *b"snarl\0\x01\n";
const CHECKSUM: usize = 16;

/// What stands before the payload: magic, length of the key, key, length and checksum of the payload, and a
/// checksum over all of these.
pub fn header(key: &Key, payload: &[u8]) -> Vec<u8> {
    let mut header = before_payload_fields(key);
    header.extend((payload.len() as u64).to_le_bytes());
    header.extend(Hash::of(payload).0.to_le_bytes());
    header.extend(Hash::of(&header).0.to_le_bytes());
    header
}

/// The payload, if `bytes` are exactly an entry of this key as it was written.
pub fn payload(key: &Key, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
    let fields = before_payload_fields(key);
    let (at_len, at_sum) = (fields.len(), fields.len() + 8);
    let at_check = at_sum + CHECKSUM;
    let start = at_check + CHECKSUM;
    let header = bytes.get(..start)?;
    let whole = header.starts_with(&fields)
        && Hash::of(&header[..at_check]).0.to_le_bytes() == header[at_check..]
        && header[at_len..at_sum] == ((bytes.len() - start) as u64).to_le_bytes()
        && header[at_sum..at_check] == Hash::of(&bytes[start..]).0.to_le_bytes();
    whole.then(|| {
        bytes.drain(..start);
        bytes
    })
}

fn before_payload_fields(key: &Key) -> Vec<u8> {
    let key = key.bytes();
    [&MAGIC[..], &(key.len() as u64).to_le_bytes(), &key].concat()
}
