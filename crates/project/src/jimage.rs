//! The JDK's `lib/modules`: classes by name out of one large indexed file. Reads the layout of JDK 9 and
//! newer, also when `jlink --compress=zip` made it; knows nothing of where JDKs are.

use crate::archive::{MAX_ENTRY, inflate};
use crate::blob::Blob;
use std::path::Path;

pub struct Image {
    blob: Blob,
    order: Order,
    /// Header, redirects, location offsets, locations and strings: all but the contents.
    index: Vec<u8>,
    slots: u32,
    locations: usize,
    strings: usize,
}

#[derive(Clone, Copy)]
enum Order {
    Little,
    Big,
}

const HEADER: usize = 28;
const SEED: u32 = 0x0100_0193;
/// Real images have an index of 2 to 4 MB.
const MAX_INDEX: u64 = 256 << 20;

impl Image {
    pub fn open(path: &Path) -> Result<Image, String> {
        let blob = Blob::open(path, true).map_err(|error| error.to_string())?;
        let header = blob.read(0, HEADER as u64).map_err(|_| "the file is too short")?;
        let order = match header[..4] {
            [0xDA, 0xDA, 0xFE, 0xCA] => Order::Little,
            [0xCA, 0xFE, 0xDA, 0xDA] => Order::Big,
            _ => return Err("the file is no JDK image".to_string()),
        };
        let field = |i: usize| order.u32_at(&header, i * 4).map_or(0, u64::from);
        let major = field(1) >> 16;
        if major != 1 {
            return Err(format!("the image has version {major}, only version 1 is known"));
        }
        let (slots, locations_len, strings_len) = (field(4), field(5), field(6));
        let locations = HEADER as u64 + slots * 8;
        let strings = locations + locations_len;
        let end = strings + strings_len;
        if end > MAX_INDEX || slots == 0 {
            return Err("its index is damaged".to_string());
        }
        let index = blob.read(0, end).map_err(|_| "the file is truncated")?;
        let (locations, strings) = (locations as usize, strings as usize);
        Ok(Image { blob, order, index, slots: slots as u32, locations, strings })
    }

    /// The class with this internal name, from whichever module has it.
    pub fn class(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let Some((package, _)) = name.rsplit_once('/') else { return Ok(None) };
        let Some(module) = self.module_of(package) else { return Ok(None) };
        match self.locate(&format!("/{module}/{name}.class")) {
            Some(location) => self.contents(&location).map(Some),
            None => Ok(None),
        }
    }

    /// `/packages/java.util` lists pairs of (package is empty in this module, module name).
    fn module_of(&self, package: &str) -> Option<&str> {
        let location = self.locate(&format!("/packages/{}", package.replace('/', ".")))?;
        let pairs = self.contents(&location).ok()?;
        let pair = pairs.chunks_exact(8).find(|pair| self.order.u32_at(pair, 0) == Some(0))?;
        std::str::from_utf8(self.string(self.order.u32_at(pair, 4)?)?).ok()
    }

    /// Perfect hashing: a slot's redirect is either the slot of the name or the seed that leads there.
    fn locate(&self, name: &str) -> Option<Location> {
        let slot = hash(name, SEED) % self.slots;
        let redirect = self.order.u32_at(&self.index, HEADER + slot as usize * 4)? as i32;
        let slot = match redirect {
            0 => return None,
            1.. => hash(name, redirect as u32) % self.slots,
            _ => (-1 - redirect) as u32,
        };
        let offsets = HEADER + self.slots as usize * 4;
        let at = self.order.u32_at(&self.index, offsets + slot as usize * 4)? as usize;
        let location = Location::read(self.index.get(self.locations + at..self.strings)?)?;
        self.is_called(&location, name).then_some(location)
    }

    fn is_called(&self, location: &Location, name: &str) -> bool {
        let mut full = Vec::with_capacity(name.len());
        for (before, offset, after) in [
            ("/", location.module, "/"),
            ("", location.parent, "/"),
            ("", location.base, ""),
            (".", location.extension, ""),
        ] {
            match self.string(offset as u32) {
                Some([]) => {}
                Some(part) => full.extend([before.as_bytes(), part, after.as_bytes()].concat()),
                None => return false,
            }
        }
        full == name.as_bytes()
    }

    fn string(&self, offset: u32) -> Option<&[u8]> {
        let rest = self.index.get(self.strings..)?.get(offset as usize..)?;
        Some(&rest[..rest.iter().position(|&byte| byte == 0)?])
    }

    fn contents(&self, location: &Location) -> Result<Vec<u8>, String> {
        let packed = if location.packed == 0 { location.size } else { location.packed };
        if packed > MAX_ENTRY || location.size > MAX_ENTRY {
            return Err("an entry is too large".to_string());
        }
        let at = (self.index.len() as u64).checked_add(location.offset).ok_or("an entry is damaged")?;
        let mut bytes = self.blob.read(at, packed).map_err(|_| "the file is truncated")?;
        while location.packed != 0 && self.order.u32_at(&bytes, 0) == Some(0xCAFE_FAFA) {
            bytes = self.unpack(&bytes)?;
        }
        Ok(bytes)
    }

    /// Undoes one layer of `jlink --compress`: magic, both sizes, the method's name, its settings, a flag.
    fn unpack(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        const LEN: usize = 29;
        let method = self.order.u32_at(bytes, 20).and_then(|offset| self.string(offset));
        match (method, bytes.get(LEN..)) {
            (Some(b"zip"), Some(body)) => {
                inflate(body, MAX_ENTRY, false).map_err(|_| "an entry is damaged".to_string())
            }
            (Some(other), _) => Err(format!(
                "the image was made by jlink with compression '{}', which is not supported",
                String::from_utf8_lossy(other)
            )),
            (None, _) => Err("an entry is damaged".to_string()),
        }
    }
}

/// Where an entry lies and what it is called, names as offsets into the strings.
#[derive(Default)]
struct Location {
    module: u64,
    parent: u64,
    base: u64,
    extension: u64,
    offset: u64,
    packed: u64,
    size: u64,
}

impl Location {
    /// A list of attributes: kind in the high five bits, length less one in the low three, big-endian value.
    fn read(mut bytes: &[u8]) -> Option<Location> {
        let mut location = Location::default();
        loop {
            let (&head, rest) = bytes.split_first()?;
            let len = usize::from(head & 7) + 1;
            let target = match head >> 3 {
                0 => return Some(location),
                1 => &mut location.module,
                2 => &mut location.parent,
                3 => &mut location.base,
                4 => &mut location.extension,
                5 => &mut location.offset,
                6 => &mut location.packed,
                7 => &mut location.size,
                _ => return None,
            };
            *target = rest.get(..len)?.iter().fold(0, |value, &byte| value << 8 | u64::from(byte));
            bytes = &rest[len..];
        }
    }
}

impl Order {
    fn u32_at(self, bytes: &[u8], at: usize) -> Option<u32> {
        let word = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(match self {
            Order::Little => u32::from_le_bytes(word),
            Order::Big => u32::from_be_bytes(word),
        })
    }
}

fn hash(name: &str, seed: u32) -> u32 {
    name.bytes().fold(seed, |hash, byte| hash.wrapping_mul(SEED) ^ u32::from(byte)) & 0x7FFF_FFFF
}
