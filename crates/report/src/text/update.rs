//! Findings as they come and go while a program is edited. Leaves a whole finding to [`super::finding`].

use super::{Look, look::clean};
use crate::{Sources, names::Names};
use findings::{Finding, Suppressed};

/// "introduced race (high confidence): …", and all there is to say about it.
pub fn introduced(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    format!("{} {}", look.alert("introduced"), super::finding(finding, sources, look))
}

/// "fixed race (high confidence): n is written by two threads · Main.java:3 with :7 · 3cb8837cfb27ba79".
pub fn fixed(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    format!("{} {}", look.good("fixed"), brief(finding, sources, look))
}

/// The same for one that is still there, and too doubtful to be shown.
pub fn hidden(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    let line = brief(finding, sources, look);
    format!("{} {line} · low confidence now, --all shows it", look.key("hidden"))
}

/// The same for one that was too doubtful to be shown before.
pub fn raised(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    format!("{} {}", look.key("more certain"), brief(finding, sources, look))
}

/// "suppressed race (high confidence): … · the reason (src/bank/Account.java:7)".
pub fn suppressed(one: &Suppressed, sources: &dyn Sources, look: &Look) -> String {
    let line = brief(&one.finding, sources, look);
    format!("{} {line} · {} ({})", look.key("suppressed"), clean(&one.reason), clean(&one.place))
}

/// "dismissed race (high confidence): … · common lock: both sides hold the same lock".
pub fn dismissed(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    let reasons: Vec<&str> = finding.dismissed.iter().map(|why| why.text()).collect();
    format!("{} {} · {}", look.key("dismissed"), brief(finding, sources, look), reasons.join("; "))
}

/// "race (high confidence): n is written by two threads · Main.java:3 with :7 · 3cb8837cfb27ba79".
pub fn brief(finding: &Finding, sources: &dyn Sources, look: &Look) -> String {
    let names = Names::new(sources);
    let head = look.key(&format!("{} ({} confidence)", finding.rule.id(), finding.confidence.id()));
    let place = match &finding.sites[..] {
        [one, other] if one.place != other.place => names.pair(&(one.place.clone(), other.place.clone())),
        [one, ..] => names.place(&one.place),
        [] => "an unknown place".to_owned(),
    };
    format!("{head}: {} · {} · {}", clean(&names.prose(&finding.message)), clean(&place), finding.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoSources;
    use findings::{AccessKind, Confidence, Place, Rule, Site};

    fn finding(lines: &[u32]) -> Finding {
        let site = |&line| Site {
            access: AccessKind::Write,
            place: Place { file: "a/B.java".into(), line },
            method: "a.B.run()".into(),
            origin: "main thread".into(),
            ..Site::default()
        };
        Finding {
            id: "0123456789abcdef".into(),
            rule: Rule::Race,
            confidence: Confidence::High,
            engines: vec![],
            message: "a.B.n is\u{7} written".into(),
            field: Some("a.B.n".into()),
            object: None,
            sites: lines.iter().map(site).collect(),
            why: vec![],
            ..Finding::default()
        }
    }

    #[test]
    fn a_finding_in_a_line_says_where_it_is() {
        let look = Look::plain();
        let place = |lines: &[u32]| {
            let line = brief(&finding(lines), &NoSources, &look);
            line.split(" · ").nth(1).map(str::to_owned).unwrap_or_default()
        };
        assert_eq!(place(&[3, 7]), "a/B.java:3 with :7");
        assert_eq!(place(&[3, 3]), "a/B.java:3");
        assert_eq!(place(&[3, 7, 9]), "a/B.java:3");
        assert_eq!(place(&[]), "an unknown place");
    }

    #[test]
    fn what_became_of_a_finding_stands_in_front() {
        let (finding, look) = (finding(&[3]), Look::plain());
        let line = "race (high confidence): a.B.n is\u{fffd} written · a/B.java:3 · 0123456789abcdef";
        assert_eq!(fixed(&finding, &NoSources, &look), format!("fixed {line}"));
        let lowered = format!("hidden {line} · low confidence now, --all shows it");
        assert_eq!(hidden(&finding, &NoSources, &look), lowered);
        let block = introduced(&finding, &NoSources, &look);
        assert!(
            block.starts_with("introduced race (high confidence): a.B.n is\u{fffd} written\n"),
            "{block}"
        );
    }
}
