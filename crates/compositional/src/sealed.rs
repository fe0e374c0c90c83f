//! A summary that was kept, as bytes until somebody asks for it: after a change hardly anybody does.

use crate::summary::Summary;
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

/// Nothing at all for a method that was not summarised yet.
#[derive(Default)]
pub(crate) struct Sealed {
    bytes: Bytes,
    summary: OnceLock<Arc<Summary>>,
}

impl Sealed {
    pub fn of(summary: Arc<Summary>) -> Sealed {
        Sealed { bytes: Bytes::new(), summary: OnceLock::from(summary) }
    }

    /// As it was written.
    pub fn read(bytes: Bytes) -> Sealed {
        Sealed { bytes, summary: OnceLock::new() }
    }

    pub fn get(&self) -> Option<&Arc<Summary>> {
        if self.bytes.is_empty() {
            return self.summary.get();
        }
        let open = || postcard::from_bytes(&self.bytes).expect("written by this very program");
        Some(self.summary.get_or_init(open))
    }

    /// How many bytes were added.
    pub fn write(&self, to: &mut Vec<u8>) -> usize {
        let before = to.len();
        match self.summary.get().filter(|_| self.bytes.is_empty()) {
            Some(summary) => {
                *to = postcard::to_extend(summary, std::mem::take(to)).expect("memory is all it takes");
            }
            None => to.extend_from_slice(&self.bytes),
        }
        to.len() - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read_back_as_it_was_and_written_the_same() {
        let summary = Summary { digest: 7, locks: true, ..Summary::default() };
        let (mut bytes, mut again) = (vec![1], Vec::new());
        let len = Sealed::of(summary.clone().into()).write(&mut bytes);
        let sealed = Sealed::read(Bytes::from(bytes.split_off(bytes.len() - len)));
        assert_eq!(bytes, [1]);
        sealed.write(&mut again);
        assert_eq!(sealed.get().map(|read| Summary::clone(read)), Some(summary));
        assert_eq!(sealed.write(&mut bytes), len);
        assert_eq!(bytes[1..], again);
        assert!(Sealed::default().get().is_none());
        assert_eq!(Sealed::default().write(&mut bytes), 0);
    }
}
