//! Class files with other names or lines in them: everything else stays byte by byte as it is. Knows the structure of a
//! class file as far as it takes to find both, and nothing of what the names mean.

use std::sync::Arc;

/// The class with every text of its constant pool as `rename` says, and every line as `lines` does. Nothing if the bytes
/// are no class file.
pub fn rewritten(
    bytes: &[u8],
    rename: &dyn Fn(&str) -> Option<String>,
    lines: Option<&dyn Fn(u32) -> u32>,
) -> Option<Arc<[u8]>> {
    let mut from = Reader { bytes, at: 0 };
    let mut to = Vec::with_capacity(bytes.len() + 64);
    to.extend_from_slice(from.take(8)?);
    let line_table = copy_pool(&mut from, &mut to, rename)?;
    let moved = to.len().wrapping_sub(from.at);
    let start = from.at;
    to.extend_from_slice(&bytes[start..]);
    if let (Some(lines), Some(table)) = (lines, line_table) {
        let mut patch = Patch { table, lines, moved, to: &mut to };
        patch.class(&mut from)?;
    }
    Some(to.into())
}

/// Which entries are the names of the attributes that matter.
struct Names {
    code: Vec<u16>,
    line_table: Vec<u16>,
}

fn copy_pool(
    from: &mut Reader<'_>,
    to: &mut Vec<u8>,
    rename: &dyn Fn(&str) -> Option<String>,
) -> Option<Option<Names>> {
    let count = from.u16()?;
    to.extend_from_slice(&count.to_be_bytes());
    let mut names = Names { code: Vec::new(), line_table: Vec::new() };
    let mut index = 1;
    while index < count {
        let start = from.at;
        let tag = from.u8()?;
        let len = match tag {
            1 => usize::from(from.u16()?),
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 4,
            5 | 6 => 8,
            7 | 8 | 16 | 19 | 20 => 2,
            15 => 3,
            _ => return None,
        };
        let content = from.take(len)?;
        let text = if tag == 1 { std::str::from_utf8(content).ok() } else { None };
        match text {
            Some("Code") => names.code.push(index),
            Some("LineNumberTable") => names.line_table.push(index),
            _ => {}
        }
        match text.and_then(rename).filter(|other| other.len() <= usize::from(u16::MAX)) {
            Some(other) => {
                to.push(1);
                to.extend_from_slice(&(other.len() as u16).to_be_bytes());
                to.extend_from_slice(other.as_bytes());
            }
            None => to.extend_from_slice(&from.bytes[start..from.at]),
        }
        index = index.checked_add(if matches!(tag, 5 | 6) { 2 } else { 1 })?;
    }
    Some((!names.line_table.is_empty()).then_some(names))
}

/// Puts other lines into what was copied.
struct Patch<'a> {
    table: Names,
    lines: &'a dyn Fn(u32) -> u32,
    /// How far the copy is behind what it was made from.
    moved: usize,
    to: &'a mut Vec<u8>,
}

impl Patch<'_> {
    fn class(&mut self, from: &mut Reader<'_>) -> Option<()> {
        from.take(6)?;
        let interfaces = from.u16()?;
        from.take(2 * usize::from(interfaces))?;
        for _ in 0..from.u16()? {
            from.take(6)?;
            for _ in 0..from.u16()? {
                from.take(2)?;
                let len = from.u32()?;
                from.take(len as usize)?;
            }
        }
        for _ in 0..from.u16()? {
            from.take(6)?;
            self.attributes(from, false)?;
        }
        Some(())
    }

    /// Of a method, or of its code.
    fn attributes(&mut self, from: &mut Reader<'_>, in_code: bool) -> Option<()> {
        for _ in 0..from.u16()? {
            let name = from.u16()?;
            let len = from.u32()? as usize;
            let end = from.at.checked_add(len).filter(|end| *end <= from.bytes.len())?;
            if !in_code && self.table.code.contains(&name) {
                from.take(4)?;
                let code = from.u32()?;
                from.take(code as usize)?;
                let handlers = from.u16()?;
                from.take(8 * usize::from(handlers))?;
                self.attributes(from, true)?;
            } else if in_code && self.table.line_table.contains(&name) {
                for _ in 0..from.u16()? {
                    from.take(2)?;
                    let at = from.at.wrapping_add(self.moved);
                    let line = u16::try_from((self.lines)(from.u16()?.into())).unwrap_or(u16::MAX);
                    self.to.get_mut(at..at + 2)?.copy_from_slice(&line.to_be_bytes());
                }
            }
            from.at = end;
        }
        Some(())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(len)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Option<u32> {
        self.take(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}
