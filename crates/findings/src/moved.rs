//! Findings that are the same but for the names of classes: those that are in the older version only became those that
//! are in the newer one only. Goes by names alone.

use crate::{AccessKind, Finding, Rule, unnumbered};
use std::collections::{BTreeMap, BTreeSet};

/// The classes of two versions, which may have been renamed: `bank.Account`.
#[derive(Debug, Clone, Default)]
pub struct Renamed {
    pub before: BTreeSet<String>,
    pub after: BTreeSet<String>,
}

/// What does not change when a class is renamed.
type Shape = (Rule, Option<String>, Vec<(AccessKind, String)>);

impl Renamed {
    /// Which of the older findings became which of the newer ones, where there is no choice.
    pub(crate) fn pairs(&self, older: &[&Finding], newer: &[&Finding]) -> Vec<(usize, usize)> {
        let mut shapes: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
        for (at, finding) in newer.iter().enumerate() {
            shapes.entry(shape(finding)).or_default().push(at);
        }
        let mut candidates: Vec<(usize, usize)> = Vec::new();
        for (old, finding) in older.iter().enumerate() {
            let alike = shapes.get(&shape(finding)).into_iter().flatten();
            let became = alike.filter(|&&new| self.became(finding, newer[new]));
            candidates.extend(became.map(|&new| (old, new)));
        }
        let is_only = |pair: &&(usize, usize)| {
            candidates.iter().filter(|other| other.0 == pair.0 || other.1 == pair.1).count() == 1
        };
        candidates.iter().filter(is_only).copied().collect()
    }

    fn became(&self, older: &Finding, newer: &Finding) -> bool {
        let names = |finding: &Finding, is_turned: bool| {
            let mut names: Vec<String> = finding.field.iter().cloned().collect();
            let mut sites: Vec<_> = finding.sites.iter().collect();
            if is_turned {
                sites.reverse();
            }
            for site in sites {
                names.push(format!("{:?} {}", site.access, site.method));
                let locks = [&site.holds, &site.acquires].into_iter().flatten();
                names.extend(locks.map(|lock| lock.name.clone()));
            }
            names
        };
        let older = names(older, false);
        [false, true].into_iter().any(|is_turned| self.reads_alike(&older, &names(newer, is_turned)))
    }

    /// Whether one list is the other with classes renamed, each to one name and no two to the same.
    fn reads_alike(&self, older: &[String], newer: &[String]) -> bool {
        let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
        older.len() == newer.len()
            && older.iter().zip(newer).all(|(older, newer)| {
                let (old, new) = (words(older), words(newer));
                old.len() == new.len()
                    && old.iter().zip(&new).all(|(old, new)| {
                        let ((class, rest), (other, others)) =
                            (split(old, &self.before), split(new, &self.after));
                        let is_renamed =
                            class == other || !self.after.contains(class) && !self.before.contains(other);
                        unnumbered(rest) == unnumbered(others)
                            && is_renamed
                            && *there.entry(class.to_owned()).or_insert(other.to_owned()) == other
                            && *back.entry(other.to_owned()).or_insert(class.to_owned()) == class
                    })
            })
    }
}

fn shape(finding: &Finding) -> Shape {
    let last =
        |name: &str| unnumbered(name.split('(').next().unwrap_or(name).rsplit('.').next().unwrap_or(name));
    let mut sites: Vec<_> = finding.sites.iter().map(|site| (site.access, last(&site.method))).collect();
    sites.sort();
    (finding.rule, finding.field.as_deref().map(last), sites)
}

/// `a.B.run(int)` is `a.B.run` and `int`.
fn words(name: &str) -> Vec<&str> {
    name.split(|c: char| !(c.is_alphanumeric() || "._$<>".contains(c)))
        .filter(|word| !word.is_empty())
        .collect()
}

/// A name as one of the classes and what follows; no class if it begins with none.
fn split<'n>(name: &'n str, classes: &BTreeSet<String>) -> (&'n str, &'n str) {
    let ends = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
    let end = ends.filter(|&end| classes.contains(&name[..end])).max().unwrap_or(0);
    name.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Comparison, Confidence, Report, Site};

    fn finding(id: &str, field: &str, methods: [&str; 2]) -> Finding {
        let site =
            |method: &str| Site { access: AccessKind::Write, method: method.into(), ..Site::default() };
        Finding {
            id: id.into(),
            field: Some(field.into()),
            sites: methods.map(site).to_vec(),
            ..Finding::default()
        }
    }

    fn outcome(before: &[Finding], after: &[Finding], classes: [&[&str]; 2]) -> (usize, usize, usize) {
        let report = |findings: &[Finding]| Report {
            findings: findings.iter().cloned().map(Into::into).collect(),
            ..Report::default()
        };
        let [before_names, after_names] =
            classes.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
        let renamed = Renamed { before: before_names, after: after_names };
        let compared = Comparison::between(&report(before), &report(after), Confidence::Low, &renamed);
        (compared.introduced.len(), compared.fixed.len(), compared.moved)
    }

    #[test]
    fn a_finding_moves_with_its_class() {
        let old = finding("1", "a.Old.n", ["a.Old.inc()", "a.Main.run(a.Old)"]);
        let new = finding("2", "a.New.n", ["a.Main.run(a.New)", "a.New.inc()"]);
        let classes: [&[&str]; 2] = [&["a.Old", "a.Main"], &["a.New", "a.Main"]];
        assert_eq!(outcome(std::slice::from_ref(&old), std::slice::from_ref(&new), classes), (0, 0, 1));
        // The old class is still there: the new one is a copy.
        assert_eq!(outcome(&[old], &[new], [&["a.Old", "a.Main"], &["a.Old", "a.New", "a.Main"]]), (1, 1, 0));
    }

    #[test]
    fn where_there_is_a_choice_nothing_moves() {
        let old = finding("1", "a.Old.n", ["a.Old.inc()", "a.Old.inc()"]);
        let one = finding("2", "a.New.n", ["a.New.inc()", "a.New.inc()"]);
        let other = finding("3", "a.Newer.n", ["a.Newer.inc()", "a.Newer.inc()"]);
        assert_eq!(outcome(&[old], &[one, other], [&["a.Old"], &["a.New", "a.Newer"]]), (2, 1, 0));
    }

    #[test]
    fn another_field_or_method_is_another_finding() {
        let old = finding("1", "a.Old.n", ["a.Old.inc()", "a.Old.inc()"]);
        let classes: [&[&str]; 2] = [&["a.Old"], &["a.New"]];
        let new = finding("2", "a.New.m", ["a.New.inc()", "a.New.inc()"]);
        assert_eq!(outcome(std::slice::from_ref(&old), &[new], classes), (1, 1, 0));
        let new = finding("2", "a.New.n", ["a.New.inc()", "a.New.dec()"]);
        assert_eq!(outcome(&[old], &[new], classes), (1, 1, 0));
    }
}
