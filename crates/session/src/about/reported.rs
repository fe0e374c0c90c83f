//! Which findings of a report are about a field. Knows how the engines name memory, and nothing of how they found it.

use findings::{Access, Dismissed, Finding, Part, Place, Report, Reported, Rule};
use std::collections::BTreeSet;

/// What is reported about a field that is touched like this; and if a suspicion is dismissed, why.
pub(super) fn about(report: &Report, field: &str, accesses: &[Access]) -> (Vec<Reported>, Option<Dismissed>) {
    let of_parts = accesses.iter().filter(|access| access.part != Part::Field);
    let of_parts: BTreeSet<&Place> = of_parts.map(|access| &access.place).collect();
    let (mut reported, mut dismissed) = (Vec::new(), None);
    for finding in report.findings.iter().filter(|finding| is_about(finding, field, &of_parts)) {
        match finding.dismissed.last() {
            None => reported.push(Reported::of(finding)),
            Some(&why) => dismissed = dismissed.max(Some(why)),
        }
    }
    (reported, dismissed)
}

fn is_about(finding: &Finding, field: &str, of_parts: &BTreeSet<&Place>) -> bool {
    let memory = finding.field.iter().chain(&finding.fields);
    let mut memory = memory.map(|name| name.strip_suffix("[]").unwrap_or(name));
    // What the whole-program engine finds in a container or an array it names by the class of that.
    let is_of_parts = || {
        let is_race = matches!(finding.rule, Rule::Race | Rule::ContainerRace);
        is_race && finding.sites.iter().all(|site| of_parts.contains(&site.place))
    };
    memory.any(|name| name == field) || (!of_parts.is_empty() && is_of_parts())
}
