//! All methods that have a summary, by numbers that are used again when one goes. Owns who is there, what each needs
//! and what was worked out for it; knows nothing of how.

use crate::blocking;
use crate::calls::Brief;
use crate::frame::Method;
use crate::noted::note_method;
use crate::order::{Need, Needs, Place};
use crate::outline::Packed;
use crate::path::LockKind;
use crate::sealed::Sealed;
use crate::stale::Mention;
use crate::standing::Standing;
use crate::summary::{Summary, Taken};
use ir::{ClassId, FieldId, MethodId, MethodRef};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Methods {
    slots: Vec<Option<Slot>>,
    numbers: FxHashMap<MethodId, u32>,
    free: Vec<u32>,
    /// Some have come or gone since they were put in order.
    pub has_others: bool,
    /// Numbers of those that have come and were not asked about yet; some may be gone again.
    pub new: Vec<u32>,
}

pub(crate) struct Slot {
    pub packed: Packed,
    pub head: Head,
    pub summary: Sealed,
}

/// What is always at hand of a method.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub method: Method,
    pub facts: Facts,
    /// The methods that are asked for when it is summarised, in ascending order.
    pub needs: Box<[Need]>,
    /// The numbers of those that are not waited for, in ascending order.
    pub cut: Box<[u32]>,
    pub place: Place,
    /// Of the names of all that were summarised together with it.
    pub group: u64,
    /// Of its summary, in brief.
    pub calls: Box<[Brief]>,
    pub size: Size,
    pub standing: Standing,
}

impl Deref for Slot {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.head
    }
}

impl DerefMut for Slot {
    fn deref_mut(&mut self) -> &mut Head {
        &mut self.head
    }
}

/// How much there is in a summary.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Size {
    pub accesses: u32,
    pub taken: u32,
    pub nested: u32,
    pub runs: u32,
    pub blocking: u32,
    pub strangers: u32,
    pub is_cut: bool,
    /// One of its accesses is in a thread that it starts.
    pub starts: bool,
    /// It takes the monitor of something in a block.
    pub has_monitors: bool,
    /// One of its blocking calls may be worth telling.
    pub may_block: bool,
}

impl Size {
    fn of(summary: &Summary) -> Size {
        let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
        let is_block = |taken: &Taken| {
            let Taken { lock, site, .. } = taken;
            lock.lock == LockKind::Monitor && site.via.is_none() && site.at != crate::ENTRY
        };
        Size {
            accesses: count(summary.accesses.len()),
            taken: count(summary.taken.len()),
            nested: count(summary.nested.len()),
            runs: count(summary.runs.len()),
            blocking: count(summary.blocking.len()),
            strangers: count(summary.strangers.len()),
            is_cut: summary.is_cut,
            has_monitors: summary.taken.iter().any(is_block),
            starts: summary.accesses.iter().any(|access| access.started > 0),
            may_block: blocking::may_tell(summary),
        }
    }
}

/// What others want to know of a method's outline.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// Methods of libraries that it calls.
    pub library: Box<[MethodId]>,
    /// Classes of objects that it makes and returns.
    pub escaping: Box<[ClassId]>,
    /// What it puts into fields.
    pub stores: Box<[Store]>,
    /// Of a constructor: final fields that keep a parameter.
    pub keeps: Box<[(FieldId, u16)]>,
    /// What it speaks of.
    pub mentions: Box<[Mention]>,
    /// The class of what it returns, by its summary.
    pub returned: Option<ClassId>,
}

/// Something is put into a field.
/// A constructor, and the final fields whose objects it is given, by the number of the operand.
pub(crate) type WithSiblings = (MethodRef, Box<[(u16, FieldId)]>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Store {
    pub field: FieldId,
    /// The class of the object, if that is known; nothing at all for null.
    pub class: Option<Option<ClassId>>,
    /// It is a view of the lock in this field, in this mode.
    pub view: Option<(FieldId, bool)>,
    /// It is new, and was made with the object that has the field: by which constructor, and as which operand.
    pub owner: Option<(MethodRef, u16)>,
    /// It is new, and was made with what final fields of the same object hold: by which constructor, and as which operands.
    pub siblings: Option<WithSiblings>,
    /// It is an executor that runs one task after the other.
    pub serial: bool,
}

impl Methods {
    /// As they were, by their numbers.
    pub fn of(slots: Vec<Option<Slot>>) -> Methods {
        let numbers = slots.iter().enumerate();
        let numbers = numbers.filter_map(|(number, slot)| Some((slot.as_ref()?.method.id, number as u32)));
        let numbers = numbers.collect();
        let free = (0..slots.len() as u32).filter(|&number| slots[number as usize].is_none()).collect();
        Methods { slots, numbers, free, has_others: false, new: Vec::new() }
    }

    /// By their numbers.
    pub fn slots(&self) -> &[Option<Slot>] {
        &self.slots
    }

    pub fn number(&self, id: MethodId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    pub fn get(&self, id: MethodId) -> Option<&Slot> {
        note_method(id);
        self.slots[self.number(id)? as usize].as_ref()
    }

    pub fn at(&self, number: u32) -> &Slot {
        self.slots[number as usize].as_ref().expect("numbers are of methods that are there")
    }

    /// The method with this number, if there is one.
    pub fn at_if(&self, number: u32) -> Option<&Slot> {
        self.slots.get(number as usize)?.as_ref()
    }

    pub fn at_mut(&mut self, number: u32) -> &mut Slot {
        self.slots[number as usize].as_mut().expect("numbers are of methods that are there")
    }

    pub fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
    }

    /// The numbers that are in use.
    pub fn all(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.slots.len() as u32).filter(|&number| self.slots[number as usize].is_some())
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn add(&mut self, method: Method, packed: Packed) -> u32 {
        let id = method.id;
        let (facts, needs, cut, place, group, calls, size, standing) = Default::default();
        let head = Head { method, facts, needs, cut, place, group, calls, size, standing };
        let slot = Some(Slot { packed, head, summary: Sealed::default() });
        let number = match self.free.pop() {
            Some(number) => {
                self.slots[number as usize] = slot;
                number
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        self.numbers.insert(id, number);
        self.has_others = true;
        self.new.push(number);
        number
    }

    pub fn remove(&mut self, id: MethodId) -> Option<u32> {
        let number = self.numbers.remove(&id)?;
        self.slots[number as usize] = None;
        self.free.push(number);
        self.has_others = true;
        Some(number)
    }
}

impl Slot {
    /// What the method does was worked out.
    pub fn put(&mut self, summary: Arc<Summary>) {
        self.facts.returned = summary.returns.class;
        self.calls = summary.calls.iter().map(Brief::of).collect();
        self.size = Size::of(&summary);
        self.summary = Sealed::of(summary);
    }

    /// Whether another method is waited for.
    pub fn waits_for(&self, number: u32) -> bool {
        let is_needed = self.needs.binary_search_by_key(&number, |need| need.number).is_ok();
        is_needed && self.cut.binary_search(&number).is_err()
    }
}

impl Needs for Methods {
    fn count(&self) -> usize {
        self.slots.len()
    }

    fn of(&self, node: u32) -> &[Need] {
        self.at_if(node).map_or(&[][..], |slot| &slot.needs)
    }

    fn rank(&self, node: u32) -> u64 {
        self.at_if(node).map_or(0, |slot| slot.method.digest)
    }

    fn family(&self, node: u32) -> u64 {
        self.at_if(node).map_or(0, |slot| u64::from(slot.method.class.0))
    }
}
