//! Findings that somebody has looked at and does not want to be told of again. Owns what a suppression covers; knows
//! nothing of where it was written.

use crate::glob::matches;
use crate::{Confidence, Finding, Note, Place, Report, Rule, unnumbered};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is not to be told, where that is said, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suppression {
    /// Every rule if there are none.
    pub rules: Vec<Rule>,
    /// Any of these.
    pub covers: Vec<Covers>,
    pub reason: String,
    /// As users read it: `src/bank/Account.java:7`.
    pub place: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Covers {
    /// Accesses in these lines, both ends included, of a file as findings name it: `bank/Account.java`.
    Lines { file: String, from: u32, to: u32 },
    /// `bank.Account.balance`.
    Field(String),
    /// The fields of a class, and of those inside it: `bank.Account`.
    FieldsOf(String),
    /// Whatever all of these hold for.
    Like(Pattern),
}

/// Texts in which `*` stands for anything; what is not named may be anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Of the field, or of the code on one side: `bank.Account`.
    pub class: Option<String>,
    /// `balance` or `bank.Account.balance`.
    pub field: Option<String>,
    /// On one side: `deposit`, `bank.Account.deposit` or `bank.Account.deposit(int)`.
    pub method: Option<String>,
    /// Where every pair of places has one: `src/generated/**`.
    pub file: Option<String>,
}

/// A finding that is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppressed {
    pub finding: Arc<Finding>,
    pub reason: String,
    /// Where that is said.
    pub place: String,
}

impl Report {
    /// Puts aside what is suppressed, and notes which suppressions have nothing to suppress among the rules that were
    /// `checked`. `shown` names files as users do.
    pub fn suppress(&mut self, all: &[Suppression], checked: &[Rule], shown: &dyn Fn(&str) -> String) {
        let mut is_used = vec![false; all.len()];
        for finding in std::mem::take(&mut self.findings) {
            let touching = touching(&finding, all, shown);
            touching.iter().for_each(|&at| is_used[at] = true);
            let those: Vec<&Suppression> = touching.iter().map(|&at| &all[at]).collect();
            match those.first() {
                None => self.findings.push(finding),
                Some(first) if is_covered(&finding, &those, shown) => {
                    let (reason, place) = (first.reason.clone(), first.place.clone());
                    self.suppressed.push(Suppressed { finding, reason, place });
                }
                Some(first) => self.findings.push(Arc::new(told_in_part(&finding, &first.place))),
            }
        }
        let is_checked =
            |one: &Suppression| one.rules.is_empty() || one.rules.iter().any(|rule| checked.contains(rule));
        let unused = all.iter().zip(is_used).filter(|(one, is_used)| !is_used && is_checked(one));
        self.notes.extend(unused.map(|(one, _)| one.is_unused()));
    }

    /// How many of those that are suppressed would be shown otherwise.
    pub fn suppressed_from(&self, least: Confidence) -> impl Iterator<Item = &Suppressed> {
        self.suppressed.iter().filter(move |one| one.finding.confidence.at_least(least))
    }
}

impl Suppression {
    fn is_unused(&self) -> Note {
        let rules: Vec<&str> = self.rules.iter().map(|rule| rule.id()).collect();
        let what = if rules.is_empty() { "anything".to_owned() } else { rules.join(", ") };
        let message = format!("{} suppresses {what}, and there is nothing to suppress", self.place);
        Note { kind: "unused-suppression".to_owned(), message, count: 1 }
    }
}

/// The suppressions that cover a part of a finding at least.
fn touching(finding: &Finding, all: &[Suppression], shown: &dyn Fn(&str) -> String) -> Vec<usize> {
    let touches = |one: &Suppression| {
        let is_meant = one.rules.is_empty() || one.rules.contains(&finding.rule);
        is_meant
            && one.covers.iter().any(|covers| match covers {
                Covers::Like(pattern) => {
                    let fields = fields(finding);
                    pattern.is_like(finding, shown)
                        || fields.iter().any(|field| pattern.has_field(field, finding, shown))
                }
                covers => {
                    fields(finding).iter().any(|field| covers.has_field(field))
                        || pairs(finding).iter().any(|pair| pair.iter().any(|place| covers.has_place(place)))
                }
            })
    };
    (0..all.len()).filter(|&at| touches(&all[at])).collect()
}

/// Whether nothing is left to tell: of every pair of places one is covered, or every field is.
fn is_covered(finding: &Finding, by: &[&Suppression], shown: &dyn Fn(&str) -> String) -> bool {
    let covers = || by.iter().flat_map(|one| &one.covers);
    let is_like =
        covers().any(|covers| matches!(covers, Covers::Like(pattern) if pattern.is_like(finding, shown)));
    let fields = fields(finding);
    // Several entries may cover a field each.
    let has_field = |field: &&str| {
        covers().any(|covers| match covers {
            Covers::Like(pattern) => pattern.has_field(field, finding, shown),
            covers => covers.has_field(field),
        })
    };
    let has_fields = !fields.is_empty() && fields.iter().all(has_field);
    let has_places =
        |pair: &Vec<&Place>| pair.iter().any(|place| covers().any(|covers| covers.has_place(place)));
    is_like || has_fields || pairs(finding).iter().all(has_places)
}

fn told_in_part(finding: &Finding, place: &str) -> Finding {
    let mut told = finding.clone();
    told.why.push(format!("{place} suppresses a part of it only: see what else is affected"));
    told
}

/// What is touched, as a program calls it: what is in a container belongs to the field that holds it.
fn fields(finding: &Finding) -> Vec<&str> {
    let Some(field) = &finding.field else { return Vec::new() };
    let holder = finding.message.split_once(&format!(" ({field}) ")).map(|(holder, _)| holder);
    let own = holder.unwrap_or(field);
    match finding.fields.is_empty() {
        true => vec![own],
        false => finding.fields.iter().map(|name| if name == field { own } else { name }).collect(),
    }
}

/// The places of each pair that the finding is about; for a deadlock those where its locks are taken too.
fn pairs(finding: &Finding) -> Vec<Vec<&Place>> {
    let own = finding.sites.iter().flat_map(|site| {
        let locks = [&site.holds, &site.acquires].into_iter().flatten();
        std::iter::once(&site.place).chain(locks.map(|lock| &lock.place))
    });
    let also = finding.also.iter().map(|(one, other)| vec![one, other]);
    std::iter::once(own.collect()).chain(also).collect()
}

impl Covers {
    fn has_field(&self, name: &str) -> bool {
        let name = unnumbered(name);
        match self {
            Covers::Field(field) => unnumbered(field) == name,
            Covers::FieldsOf(class) => {
                name.strip_prefix(unnumbered(class).as_str()).is_some_and(|rest| rest.starts_with(['.', '$']))
            }
            Covers::Lines { .. } | Covers::Like(_) => false,
        }
    }

    fn has_place(&self, place: &Place) -> bool {
        matches!(self, Covers::Lines { file, from, to }
            if *file == place.file && (*from..=*to).contains(&place.line))
    }
}

impl Pattern {
    fn is_like(&self, finding: &Finding, shown: &dyn Fn(&str) -> String) -> bool {
        let fields = fields(finding);
        let has_fields = !fields.is_empty() && fields.iter().all(|field| self.names_field(field));
        (self.field.is_none() || has_fields) && self.holds_beside_field(finding, shown)
    }

    /// Whether it names this field of a finding, and the rest of it holds.
    fn has_field(&self, field: &str, finding: &Finding, shown: &dyn Fn(&str) -> String) -> bool {
        self.names_field(field) && self.holds_beside_field(finding, shown)
    }

    fn names_field(&self, field: &str) -> bool {
        self.field.as_deref().is_some_and(|pattern| matches(pattern, field) || matches(pattern, last(field)))
    }

    fn holds_beside_field(&self, finding: &Finding, shown: &dyn Fn(&str) -> String) -> bool {
        let holds =
            |pattern: &Option<String>, test: &dyn Fn(&str) -> bool| pattern.as_deref().is_none_or(test);
        let fields = fields(finding);
        let is_class = |pattern: &str| {
            let mut methods = finding.sites.iter().map(|site| class_of(path(&site.method)));
            let mut owners = fields.iter().map(|field| class_of(field));
            methods.any(|class| matches(pattern, class)) || owners.any(|class| matches(pattern, class))
        };
        let is_method = |pattern: &str| {
            finding.sites.iter().map(|site| site.method.as_str()).any(|method| {
                let path = path(method);
                [method, path, last(path)].iter().any(|name| matches(pattern, name))
            })
        };
        let is_file = |pattern: &str| {
            let is_one =
                |place: &&Place| matches(pattern, &shown(&place.file)) || matches(pattern, &place.file);
            pairs(finding).iter().all(|pair| pair.iter().any(is_one))
        };
        holds(&self.class, &is_class) && holds(&self.method, &is_method) && holds(&self.file, &is_file)
    }
}

/// `a.B.run(int)` without its parameters.
fn path(method: &str) -> &str {
    method.split('(').next().unwrap_or(method)
}

fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn class_of(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(class, _)| class)
}

#[cfg(test)]
#[path = "tests/suppress.rs"]
mod tests;
