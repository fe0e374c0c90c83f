//! Source names of locals, from LocalVariableTable. Owns the look-up by slot and pc only.

use classfile::Code;

pub(super) struct LocalNames<'c> {
    /// `(slot, first pc, end pc, name)`, sorted.
    entries: Vec<(u16, u32, u32, &'c str)>,
}

impl<'c> LocalNames<'c> {
    pub(super) fn new(code: &'c Code<'_>) -> LocalNames<'c> {
        let mut entries: Vec<_> = code
            .locals
            .iter()
            .map(|local| {
                let start = u32::from(local.start);
                (local.slot, start, start + u32::from(local.len), &*local.name)
            })
            .collect();
        entries.sort_unstable();
        LocalNames { entries }
    }

    /// The variable that lives in `slot` at `pc`.
    pub(super) fn at(&self, slot: u16, pc: u32) -> Option<&'c str> {
        let after = self.entries.partition_point(|&(other, start, ..)| (other, start) <= (slot, pc));
        let &(found, _, end, name) = self.entries.get(after.checked_sub(1)?)?;
        (found == slot && pc < end).then_some(name)
    }
}
