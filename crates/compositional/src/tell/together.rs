//! One report for one cause: a field that many methods touch as they should not is told once, and so is a method that
//! does so with many fields of a class, and one whose fields many others touch. Looks at findings only.

use findings::{AccessKind, Confidence, Finding, Place, Rule, Unguarded};
use std::collections::BTreeMap;
use std::sync::Arc;

/// More methods than this are only counted.
const MOST_NAMED: usize = 3;

pub(crate) fn together(findings: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
    let by_field = |finding: &Finding| vec![finding.field.clone().unwrap_or_default()];
    let by_culprit = |finding: &Finding| vec![class(finding), finding.sites[0].method.clone()];
    let by_other = |finding: &Finding| {
        let other = &finding.sites[1];
        let locks = other.locks.iter().map(|lock| lock.name.clone());
        [class(finding), other.method.clone()].into_iter().chain(locks).collect()
    };
    with_containers(joined(joined(joined(findings, by_field), by_culprit), by_other))
}

/// What a method does to a field without its lock it does to the container in that field as well: where the same place
/// is to blame for both, that is one cause.
fn with_containers(findings: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
    let is_believed = |finding: &Arc<Finding>| finding.confidence < Confidence::Low;
    let (mut containers, others): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.rule == Rule::ContainerRace && is_believed(finding));
    containers.sort_by(|a, b| super::nearest(a, b));
    let mut groups: Vec<Vec<Arc<Finding>>> = containers.into_iter().map(|finding| vec![finding]).collect();
    let mut of_field: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        of_field.entry(group[0].field.clone()).or_default().push(at);
    }
    let mut alone = Vec::new();
    for finding in others {
        let is_such = matches!(finding.rule, Rule::Race | Rule::UnprotectedWrite | Rule::GuardedBy);
        let alike = of_field.get(&finding.field).filter(|_| is_such && is_believed(&finding));
        let same = alike.into_iter().flatten().find(|&&at| {
            let known = blamed(&groups[at][0]);
            blamed(&finding).iter().any(|place| known.contains(place))
        });
        match same {
            Some(&at) => groups[at].push(finding),
            None => alone.push(finding),
        }
    }
    for mut group in groups {
        // What happens to the container tells more.
        let rank = |finding: &Arc<Finding>| (finding.confidence, finding.rule != Rule::ContainerRace);
        group.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| super::nearest(a, b)));
        alone.push(behind_first(group));
    }
    alone
}

/// The places that lack a lock, by the findings' own order of sides.
fn blamed(finding: &Finding) -> Vec<&Place> {
    let own = finding.sites.first().map(|site| &site.place);
    own.into_iter().chain(finding.also.iter().map(|(place, _)| place)).collect()
}

/// The class that has the field.
fn class(finding: &Finding) -> String {
    let field = finding.field.as_deref().unwrap_or_default();
    field.rsplit_once('.').map_or(field, |(class, _)| class).to_owned()
}

/// Puts findings of the same kind and key behind the first of them. What is doubtful stays apart: nobody reads it.
fn joined(findings: Vec<Arc<Finding>>, key: impl Fn(&Finding) -> Vec<String>) -> Vec<Arc<Finding>> {
    let mut groups: BTreeMap<(Confidence, String, Vec<String>), Vec<Arc<Finding>>> = BTreeMap::new();
    let mut alone = Vec::new();
    for finding in findings {
        if finding.confidence == Confidence::Low || finding.sites.len() < 2 {
            alone.push(finding);
        } else {
            let key = (finding.confidence, finding.rule.id().to_owned(), key(&finding));
            groups.entry(key).or_default().push(finding);
        }
    }
    alone.extend(groups.into_values().map(one));
    alone
}

fn one(mut group: Vec<Arc<Finding>>) -> Arc<Finding> {
    group.sort_by(|a, b| harm(a).cmp(&harm(b)).then_with(|| super::nearest(a, b)));
    behind_first(group)
}

fn behind_first(mut group: Vec<Arc<Finding>>) -> Arc<Finding> {
    let rest = group.split_off(1);
    let Some(mut all) = group.pop() else { return Arc::default() };
    if rest.is_empty() {
        return all;
    }
    let head = Arc::make_mut(&mut all);
    let methods = others(head, &rest);
    if !methods.is_empty() {
        head.why.push(match methods.len() {
            number if number > MOST_NAMED => format!("also unguarded: {number} other methods"),
            _ => format!("also unguarded: {}", methods.join(", ")),
        });
    }
    let mut fields: Vec<String> = head.field.iter().chain(&head.fields).cloned().collect();
    let mut members: Vec<String> = std::iter::once(head.id.clone()).chain(head.members.drain(..)).collect();
    let mut unguarded = std::mem::take(&mut head.unguarded);
    for finding in rest {
        unguarded.extend(finding.unguarded.iter().cloned());
        head.also.extend(pair(&finding));
        head.also.extend(finding.also.iter().cloned());
        fields.extend(finding.field.iter().chain(&finding.fields).cloned());
        members.push(finding.id.clone());
        members.extend(finding.members.iter().cloned());
    }
    for list in [&mut fields, &mut members] {
        list.sort();
        list.dedup();
    }
    head.unguarded = Unguarded::listed(unguarded);
    let own = pair(head);
    head.also.sort();
    head.also.dedup();
    head.also.retain(|pair| Some(pair) != own.as_ref());
    head.fields = if fields.len() > 1 { fields } else { Vec::new() };
    head.members = members;
    all
}

/// Two writes in two methods come before all others.
fn harm(finding: &Finding) -> (bool, bool) {
    let are_writes = finding.sites.iter().all(|site| site.access == AccessKind::Write);
    let is_one =
        finding.sites.first().map(|site| &site.method) == finding.sites.last().map(|site| &site.method);
    (!are_writes, is_one)
}

fn pair(finding: &Finding) -> Option<(Place, Place)> {
    let (first, last) = (finding.sites.first()?, finding.sites.last()?);
    Some((first.place.clone(), last.place.clone()))
}

/// The methods that the others blame, without the one that is blamed first.
fn others(head: &Finding, rest: &[Arc<Finding>]) -> Vec<String> {
    let own = head.sites.first().map(|site| &site.method);
    let mut methods: BTreeMap<&str, u32> = BTreeMap::new();
    let blamed = rest.iter().filter_map(|finding| finding.sites.first());
    for site in blamed.filter(|site| Some(&site.method) != own) {
        let line = methods.entry(&site.method).or_insert(site.place.line);
        *line = site.place.line.min(*line);
    }
    let name = |(method, line): (&str, u32)| match line {
        0 => super::short(method),
        line => format!("{} (:{line})", super::short(method)),
    };
    methods.into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Site;

    fn race(field: &str, culprit: &str, other: &str) -> Arc<Finding> {
        let site = |method: &str| Site { method: method.to_owned(), ..Site::default() };
        Arc::new(Finding {
            id: format!("{field} {culprit} {other}"),
            rule: Rule::Race,
            confidence: Confidence::High,
            field: Some(field.to_owned()),
            sites: vec![site(culprit), site(other)],
            ..Finding::default()
        })
    }

    #[test]
    fn a_field_that_two_methods_read_is_told_once() {
        let mut other = race("C.f", "C.b()", "C.w()");
        Arc::make_mut(&mut other).sites[0].place.line = 7;
        let told = together(vec![race("C.f", "C.a()", "C.w()"), other]);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].why, ["also unguarded: C.b (:7)"]);
        assert_eq!(told[0].members.len(), 2);
        assert!(told[0].fields.is_empty());
    }

    #[test]
    fn a_method_that_touches_two_fields_is_told_once() {
        let told = together(vec![race("C.f", "C.a()", "C.v()"), race("C.g", "C.a()", "C.w()")]);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].fields, ["C.f", "C.g"]);
    }

    #[test]
    fn other_fields_in_other_methods_are_another_matter() {
        let told = together(vec![race("C.f", "C.a()", "C.v()"), race("C.g", "C.b()", "C.w()")]);
        assert_eq!(told.len(), 2);
    }

    #[test]
    fn a_field_and_the_container_in_it_are_told_once_where_one_place_is_to_blame() {
        let field = |line: u32, other: &str| {
            let mut race = Finding::clone(&race("C.list", "C.size()", other));
            race.sites[0].place = Place { file: "C.java".into(), line };
            race
        };
        let contents = Arc::new(Finding { rule: Rule::ContainerRace, ..field(8, "C.add()") });
        let told = together(vec![Arc::new(field(8, "C.clear()")), contents.clone()]);
        assert_eq!((told.len(), told[0].rule, told[0].members.len()), (1, Rule::ContainerRace, 2));
        // Another place, or another field.
        assert_eq!(together(vec![Arc::new(field(9, "C.clear()")), contents.clone()]).len(), 2);
        let other = Arc::new(Finding { field: Some("C.map".into()), ..field(8, "C.clear()") });
        assert_eq!(together(vec![other, contents]).len(), 2);
    }

    #[test]
    fn what_is_doubtful_stays_apart() {
        let low = |culprit: &str| {
            let sure = Finding::clone(&race("C.f", culprit, "C.w()"));
            Arc::new(Finding { confidence: Confidence::Low, ..sure })
        };
        assert_eq!(together(vec![low("C.a()"), low("C.b()")]).len(), 2);
    }
}
