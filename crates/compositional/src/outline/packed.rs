//! An outline as bytes: there are as many as there are methods, and each is looked at a few times only.

use super::Outline;
use arena::Name;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Small, and equal if and only if the outlines are.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Packed {
    pub(crate) code: Bytes,
    /// Lines of the events and names of the parameters, which decide no summary.
    pub(crate) places: Bytes,
}

/// Where the events of an outline are, and what its parameters are called.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    pub lines: Vec<u32>,
    pub names: Vec<Option<Name>>,
}

impl Packed {
    pub fn of(outline: &Outline) -> Packed {
        // As much memory as it takes, and no more.
        let bytes = |written: postcard::Result<Vec<u8>>| {
            Bytes::from(written.expect("memory is all it takes").into_boxed_slice())
        };
        let places = (&outline.lines, &outline.names);
        Packed { code: bytes(postcard::to_stdvec(outline)), places: bytes(postcard::to_stdvec(&places)) }
    }

    /// Without its places.
    pub fn outline(&self) -> Outline {
        postcard::from_bytes(&self.code).expect("written by this very program")
    }

    pub fn places(&self) -> Places {
        postcard::from_bytes(&self.places).expect("written by this very program")
    }

    /// Whether the two mean the same, wherever they stand.
    pub fn means(&self, other: &Packed) -> bool {
        self.code == other.code
    }

    pub fn len(&self) -> usize {
        self.code.len() + self.places.len()
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline::{Event, Value};

    #[test]
    fn an_outline_is_unpacked_as_it_was() {
        let mut outline = Outline { params: 1, values: vec![Value::Param(0)], ..Outline::default() };
        outline.events.push(Event::Enter(0));
        outline.lines.push(7);
        outline.names.push(None);
        let packed = Packed::of(&outline);
        let Places { lines, names } = packed.places();
        assert_eq!(Outline { lines, names, ..packed.outline() }, outline);
    }

    #[test]
    fn lines_do_not_tell_two_outlines_apart() {
        let outline = Outline { events: vec![Event::Enter(0)], lines: vec![7], ..Outline::default() };
        let moved = Outline { lines: vec![8], ..outline.clone() };
        let other = Outline { events: vec![Event::Exit(0)], ..outline.clone() };
        assert!(Packed::of(&outline).means(&Packed::of(&moved)));
        assert_ne!(Packed::of(&outline), Packed::of(&moved));
        assert!(!Packed::of(&outline).means(&Packed::of(&other)));
    }
}
