//! Which findings of two runs are the same. Goes by fingerprints, of which there may be several alike; knows nothing of
//! what else findings say.

use std::collections::BTreeMap;

/// What a finding is known by: its fingerprint, and the id that tells it from others with the same.
pub type Known<'f> = (&'f str, &'f str);

/// Indices into both lists of what is the same, each at most once: first those with the same id, then whatever else
/// has the same fingerprint, in order.
pub fn pairing(older: &[Known<'_>], newer: &[Known<'_>]) -> Vec<(usize, usize)> {
    let mut left: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (fingerprint, _)) in older.iter().enumerate() {
        left.entry(fingerprint).or_default().push(at);
    }
    let mut pairs = Vec::new();
    let mut others = Vec::new();
    for (at, (fingerprint, id)) in newer.iter().enumerate() {
        let Some(alike) = left.get_mut(fingerprint) else { continue };
        match alike.iter().position(|&old| older[old].1 == *id) {
            Some(same) => pairs.push((alike.remove(same), at)),
            None => others.push(at),
        }
    }
    for at in others {
        if let Some(alike) = left.get_mut(newer[at].0).filter(|alike| !alike.is_empty()) {
            pairs.push((alike.remove(0), at));
        }
    }
    pairs.sort();
    pairs
}

#[cfg(test)]
mod tests {
    use super::pairing;

    #[test]
    fn each_is_paired_once_and_its_own_twin_comes_first() {
        assert_eq!(pairing(&[("a", "a")], &[("a", "a"), ("b", "b")]), [(0, 0)]);
        assert_eq!(
            pairing(&[("a", "1"), ("a", "2")], &[("a", "2"), ("a", "3"), ("a", "4")]),
            [(0, 1), (1, 0)]
        );
        assert_eq!(pairing(&[("a", "a")], &[("a", "1"), ("a", "2")]), [(0, 0)]);
        assert_eq!(pairing(&[("a", "1"), ("a", "2")], &[("a", "a")]), [(0, 0)]);
        assert_eq!(pairing(&[], &[("a", "a")]), []);
    }
}
