//! Which findings of two runs are the same. Goes by fingerprints, of which there may be several alike, and by what else
//! has the same cause; knows nothing of what findings say.

use crate::Finding;
use std::collections::BTreeMap;

/// What a finding is known by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'f> {
    pub fingerprint: &'f str,
    /// Tells it from others with the same fingerprint.
    pub id: &'f str,
    /// Fingerprints of all that has the same cause.
    pub members: &'f [String],
}

impl<'f> Known<'f> {
    pub fn of(finding: &'f Finding) -> Known<'f> {
        Known { fingerprint: finding.fingerprint(), id: &finding.id, members: &finding.members }
    }

    /// The same without what else has its cause.
    pub fn alone(finding: &'f Finding) -> Known<'f> {
        Known { members: &[], ..Known::of(finding) }
    }

    fn marks(self) -> impl Iterator<Item = &'f str> {
        std::iter::once(self.fingerprint).chain(self.members.iter().map(String::as_str))
    }
}

/// Indices into both lists of what is the same, each at most once: first those with the same id, then those with the
/// same fingerprint, in order, then those that share a part of their causes.
pub(crate) fn pairing(older: &[Known<'_>], newer: &[Known<'_>]) -> Vec<(usize, usize)> {
    let mut pairs = Pairs {
        older,
        newer,
        before: vec![false; older.len()],
        after: vec![false; newer.len()],
        found: vec![],
    };
    pairs.add(|one| vec![one.fingerprint], |old, new| old.id == new.id);
    pairs.add(|one| vec![one.fingerprint], |_, _| true);
    pairs.add(|one| one.marks().collect(), |_, _| true);
    pairs.found.sort();
    pairs.found
}

struct Pairs<'a, 'f> {
    older: &'a [Known<'f>],
    newer: &'a [Known<'f>],
    /// What has a partner already.
    before: Vec<bool>,
    after: Vec<bool>,
    found: Vec<(usize, usize)>,
}

impl<'f> Pairs<'_, 'f> {
    fn add(
        &mut self,
        marks: impl Fn(Known<'f>) -> Vec<&'f str>,
        fits: impl Fn(Known<'f>, Known<'f>) -> bool,
    ) {
        let mut marked: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for at in (0..self.older.len()).filter(|&at| !self.before[at]) {
            for mark in marks(self.older[at]) {
                marked.entry(mark).or_default().push(at);
            }
        }
        for new in (0..self.newer.len()).filter(|&at| !self.after[at]).collect::<Vec<_>>() {
            let alike = marks(self.newer[new]).into_iter().filter_map(|mark| marked.get(mark)).flatten();
            let fitting = alike.filter(|&&old| !self.before[old] && fits(self.older[old], self.newer[new]));
            if let Some(&old) = fitting.min() {
                (self.before[old], self.after[new]) = (true, true);
                self.found.push((old, new));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(older: &[(&str, &str)], newer: &[(&str, &str)]) -> Vec<(usize, usize)> {
        let known = |&(fingerprint, id)| Known { fingerprint, id, members: &[] };
        pairing(&older.iter().map(known).collect::<Vec<_>>(), &newer.iter().map(known).collect::<Vec<_>>())
    }

    #[test]
    fn each_is_paired_once_and_its_own_twin_comes_first() {
        assert_eq!(pairs(&[("a", "a")], &[("a", "a"), ("b", "b")]), [(0, 0)]);
        assert_eq!(pairs(&[("a", "1"), ("a", "2")], &[("a", "2"), ("a", "3"), ("a", "4")]), [(0, 1), (1, 0)]);
        assert_eq!(pairs(&[("a", "a")], &[("a", "1"), ("a", "2")]), [(0, 0)]);
        assert_eq!(pairs(&[("a", "1"), ("a", "2")], &[("a", "a")]), [(0, 0)]);
        assert_eq!(pairs(&[], &[("a", "a")]), []);
    }

    #[test]
    fn whichever_stands_for_a_cause_it_is_the_same() {
        let members = ["a".to_owned(), "b".to_owned()];
        let known = |fingerprint, members| Known { fingerprint, id: fingerprint, members };
        let (one, other) = (known("a", &members[..]), known("b", &members[..]));
        assert_eq!(pairing(&[one], &[other]), [(0, 0)]);
        assert_eq!(pairing(&[known("b", &[])], &[one]), [(0, 0)]);
        assert_eq!(pairing(&[known("c", &[])], &[one]), []);
        assert_eq!(pairing(&[one], &[known("a", &[]), known("b", &[])]), [(0, 0)]);
    }
}
