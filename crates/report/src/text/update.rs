//! Findings as they come and go while a program is edited. Leaves a whole finding to [`super::finding`].

use super::{Look, look::clean};
use crate::{Sources, names::Names};
use findings::Finding;

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
    format!("{} {line} · low confidence now, --all shows it", look.good("hidden"))
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
