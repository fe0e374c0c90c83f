//! One report out of two: where entry points lead, what the whole-program engine concludes decides about a finding of
//! the compositional one; elsewhere that stands alone and says so. Judges nothing itself.

use detect::{Answer, Answers, Claims, Cycle, Detect, Memory, Stages, Sureness};
use findings::{
    AccessKind, Confidence, Dismissed, Engine, Evidence, Finding, Frame, GENERAL_FIX, Harm, Place, Rule,
    Site, Unguarded,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// How far entry points lead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Coverage {
    /// All entry points are `main` methods: what no thread of theirs does, nobody does.
    pub is_whole: bool,
    /// Dependencies were not followed: they may call the user's code on threads of their own.
    pub is_called_back: bool,
}

/// The stages of the whole-program engine, as far as a merge asks them.
#[derive(Clone, Copy)]
pub(crate) struct Solution<'a> {
    pub stages: &'a Stages<'a>,
    pub detect: &'a Detect,
    pub coverage: Coverage,
}

/// What the whole-program engine knows of what the compositional one claims.
struct Solved<'a> {
    answers: Answers<'a>,
    coverage: Coverage,
}

/// The findings of both engines as one list, in no particular order. A function of its arguments: however the state of
/// the engines came about, it says the same.
pub(crate) fn merged(
    whole: &[Arc<Finding>],
    compositional: &[Arc<Finding>],
    solution: Option<Solution<'_>>,
) -> Vec<Arc<Finding>> {
    let claims = claims(compositional);
    let solved = solution.filter(|_| !compositional.is_empty()).map(|solution| Solved {
        answers: solution.detect.answers(solution.stages, &claims),
        coverage: solution.coverage,
    });
    merge(whole.to_vec(), compositional, solved.as_ref())
}

/// What has to be asked about findings of the compositional engine.
fn claims(findings: &[Arc<Finding>]) -> Claims<'_> {
    let races = || findings.iter().filter(|finding| is_race(finding));
    let places = races().flat_map(|finding| pairs(finding)).flatten();
    let cycles = findings.iter().filter(|finding| finding.rule == Rule::Deadlock);
    Claims {
        memory: races().flat_map(|finding| memory(finding)).collect(),
        files: places.map(|place| place.file.as_str()).collect(),
        locks: cycles.filter_map(|finding| edges(finding)).flatten().flatten().collect(),
    }
}

/// One list of what the two have found.
fn merge(
    whole: Vec<Arc<Finding>>,
    compositional: &[Arc<Finding>],
    solved: Option<&Solved<'_>>,
) -> Vec<Arc<Finding>> {
    let mut by_cause: FxHashMap<Cause, Vec<usize>> = FxHashMap::default();
    let mut merged = whole;
    for (number, finding) in merged.iter().enumerate() {
        for cause in causes(finding).into_iter().chain(unguarded(finding)) {
            by_cause.entry(cause).or_default().push(number);
        }
    }
    for finding in compositional {
        // What a field says of itself is broken by one access, whatever that meets.
        let by_access = unguarded(finding).filter(|_| finding.is_declared);
        let mut causes = causes(finding).into_iter().chain(by_access);
        let same = causes.find_map(|cause| by_cause.get(&cause)?.first().copied());
        match (same, solved) {
            (Some(number), _) => merged[number] = Arc::new(both(&merged[number], finding)),
            (None, Some(solved)) => merged.push(decided(finding, solved)),
            (None, None) => merged.push(finding.clone()),
        }
    }
    merged.into_iter().map(calibrated).collect()
}

/// High confidence is for what hurts: a state that is only reported may be old without harm, and mostly any value of a
/// field may. The whole-program engine knows that two accesses meet, and not what comes of it.
fn calibrated(finding: Arc<Finding>) -> Arc<Finding> {
    if finding.confidence != Confidence::High {
        return finding;
    }
    let is_value = matches!(finding.rule, Rule::Race | Rule::UnprotectedWrite | Rule::GuardedBy)
        && !finding.is_on_container();
    let shows_harm = finding.shows_harm || finding.updates_in_place();
    let doubt = match finding.harm() {
        Harm::StaleStatus => "only read to report a state, where an old value may do no harm",
        _ if is_value && !shows_harm && finding.engines.contains(&Engine::WholeProgram) => {
            "nothing shows that an old value does harm here"
        }
        _ => return finding,
    };
    let mut finding = Finding::clone(&finding);
    finding.confidence = Confidence::Medium;
    finding.why.push(format!("lower confidence: {doubt}"));
    Arc::new(finding)
}

/// A finding of the compositional engine alone, as the program decides about it.
fn decided(finding: &Arc<Finding>, solved: &Solved<'_>) -> Arc<Finding> {
    match finding.rule {
        Rule::Deadlock => decided_cycle(finding, solved),
        _ if is_race(finding) => decided_race(finding, solved),
        _ => finding.clone(),
    }
}

fn decided_cycle(finding: &Arc<Finding>, solved: &Solved<'_>) -> Arc<Finding> {
    let Some(edges) = edges(finding) else { return finding.clone() };
    match solved.answers.of_cycle(&Cycle { edges: &edges }) {
        Answer::Unreached => unreached(finding),
        Answer::Race(_) => finding.clone(),
        Answer::Dismissed(why) if rests_on_entries(why, solved) => only_elsewhere(finding, why),
        Answer::Dismissed(why) => dismissed(finding, [why].into()),
    }
}

/// Where each step of a cycle takes the lock it holds and the one it waits for, if all of them wait for locks.
fn edges(finding: &Finding) -> Option<Vec<[Place; 2]>> {
    let edge =
        |site: &Site| Some([site.holds.as_ref()?.place.clone(), site.acquires.as_ref()?.place.clone()]);
    finding.sites.iter().map(edge).collect()
}

fn decided_race(finding: &Arc<Finding>, solved: &Solved<'_>) -> Arc<Finding> {
    let memory = memory(finding);
    let answers: Vec<([&Place; 2], Answer)> =
        pairs(finding).map(|pair| (pair, answer(&solved.answers, &memory, pair))).collect();
    let race = answers.iter().find_map(|(pair, answer)| match answer {
        Answer::Race(sure) => Some((*pair, *sure)),
        _ => None,
    });
    if let Some((pair, sure)) = race {
        let mut confirmed = showing(finding, pair);
        confirmed.engines = vec![Engine::WholeProgram, Engine::Compositional];
        confirmed.confidence = agreed(sure, finding.confidence).max(raised(finding.confidence));
        return Arc::new(confirmed);
    }
    let mut elsewhere = answers.iter().filter(|(_, answer)| *answer == Answer::Unreached);
    let first = elsewhere.clone().next();
    // One of which it is known who does what at both places.
    let elsewhere = elsewhere.find(|(pair, _)| pair.iter().all(|place| is_told(finding, place))).or(first);
    let reasons: BTreeSet<Dismissed> = answers
        .iter()
        .filter_map(|(_, answer)| match answer {
            Answer::Dismissed(why) => Some(*why),
            _ => None,
        })
        .collect();
    match elsewhere {
        Some(_) if reasons.is_empty() => unreached(finding),
        // What is left of it is in code that entry points do not lead to.
        Some((pair, _)) => {
            let shown = showing(finding, *pair);
            let is_surest = shown.sites == finding.sites;
            unreached(&Arc::new(if is_surest { shown } else { less_sure(shown) }))
        }
        None => {
            let beyond = reasons.iter().copied().find(|&why| rests_on_entries(why, solved));
            let is_proof =
                solved.coverage.is_whole && !solved.coverage.is_called_back && rests_on_starts(finding);
            match beyond {
                Some(why) if !is_proof => only_elsewhere(finding, why),
                _ => dismissed(finding, reasons),
            }
        }
    }
}

/// The answer for whichever of these the two places touch.
fn answer(answers: &Answers<'_>, memory: &[Memory<'_>], pair: [&Place; 2]) -> Answer {
    let mut known = Answer::Unreached;
    for memory in memory {
        known = match (known, answers.of(memory, pair)) {
            (Answer::Race(one), Answer::Race(other)) => Answer::Race(one.min(other)),
            (Answer::Race(surest), _) | (_, Answer::Race(surest)) => Answer::Race(surest),
            (Answer::Dismissed(one), Answer::Dismissed(other)) => Answer::Dismissed(one.max(other)),
            (Answer::Dismissed(why), Answer::Unreached) | (Answer::Unreached, Answer::Dismissed(why)) => {
                Answer::Dismissed(why)
            }
            (Answer::Unreached, Answer::Unreached) => Answer::Unreached,
        };
    }
    known
}

/// Would another entry point, or a thread of a dependency, make it untrue?
fn rests_on_entries(why: Dismissed, solved: &Solved<'_>) -> bool {
    match why {
        Dismissed::SingleThread | Dismissed::DifferentObjects | Dismissed::DifferentPrograms => true,
        Dismissed::Sequential | Dismissed::StartOrJoin => solved.coverage.is_called_back,
        _ => false,
    }
}

/// Is the reason to believe in several threads a start, which the whole-program engine would follow?
fn rests_on_starts(finding: &Finding) -> bool {
    let mut evidence = finding.sites.iter().filter_map(|site| site.evidence);
    evidence.all(|evidence| matches!(evidence, Evidence::Hint | Evidence::Task | Evidence::Start))
}

fn dismissed(finding: &Finding, reasons: BTreeSet<Dismissed>) -> Arc<Finding> {
    Arc::new(Finding { dismissed: reasons.into_iter().collect(), ..finding.clone() })
}

fn unreached(finding: &Arc<Finding>) -> Arc<Finding> {
    let mut finding = Finding::clone(finding);
    finding.why.push("no entry point of this program leads here: judged method by method".into());
    Arc::new(finding)
}

/// In this program it does not happen, but others may call the code in another way: one level less, and hardly believed
/// where it takes a second thread of which nothing is seen.
fn only_elsewhere(finding: &Finding, why: Dismissed) -> Arc<Finding> {
    let mut finding = finding.clone();
    finding.confidence = match (finding.rule, finding.confidence) {
        (Rule::Deadlock, _) | (_, Confidence::Medium | Confidence::Low) => Confidence::Low,
        (_, Confidence::High) => Confidence::Medium,
    };
    finding.why.push(format!("lower confidence: not from the entry points of this program ({})", why.text()));
    Arc::new(finding)
}

/// Of a finding whose surest pair of places is ruled out.
fn less_sure(mut finding: Finding) -> Finding {
    if finding.confidence == Confidence::High {
        finding.confidence = Confidence::Medium;
        finding.why.push("lower confidence: in this program the surest pair of places is ruled out".into());
    }
    finding
}

/// The finding with this pair as the one that is shown.
fn showing(finding: &Finding, pair: [&Place; 2]) -> Finding {
    let mut shown = finding.clone();
    let [first, second] = finding.sites.as_slice() else { return shown };
    let own = [&first.place, &second.place];
    if own == pair || own == [pair[1], pair[0]] {
        return shown;
    }
    shown.sites = pair.into_iter().map(|place| site_at(finding, place)).collect();
    let is_shown = |(a, b): &(Place, Place)| [a, b] == pair || [b, a] == pair;
    shown.also.retain(|pair| !is_shown(pair));
    shown.also.push((first.place.clone(), second.place.clone()));
    shown.also.sort();
    shown
}

/// Is it known who does what there?
fn is_told(finding: &Finding, place: &Place) -> bool {
    finding.sites.iter().any(|site| site.place == *place)
        || finding.unguarded.iter().any(|access| access.place == *place)
}

/// What is known of a place that a finding lists.
fn site_at(finding: &Finding, place: &Place) -> Site {
    if let Some(site) = finding.sites.iter().find(|site| site.place == *place) {
        return site.clone();
    }
    let site = Site { place: place.clone(), origin: "any thread".into(), ..Site::default() };
    match finding.unguarded.iter().find(|access| access.place == *place) {
        Some(access) => {
            let frame = Frame { method: access.method.clone(), place: place.clone() };
            Site { access: access.access, method: access.method.clone(), trace: vec![frame], ..site }
        }
        None => site,
    }
}

fn is_race(finding: &Finding) -> bool {
    let rules = [Rule::Race, Rule::UnprotectedWrite, Rule::ContainerRace, Rule::GuardedBy];
    // What a field says of itself holds whatever the program does.
    rules.contains(&finding.rule) && finding.sites.len() == 2 && !finding.is_declared
}

/// The pair that is shown, and the others.
fn pairs(finding: &Finding) -> impl Iterator<Item = [&Place; 2]> {
    let shown = match finding.sites.as_slice() {
        [a, b] => Some([&a.place, &b.place]),
        _ => None,
    };
    shown.into_iter().chain(finding.also.iter().map(|(a, b)| [a, b]))
}

/// What a finding is about, as the whole-program engine knows it.
fn memory(finding: &Finding) -> Vec<Memory<'_>> {
    let mut memory: Vec<Memory<'_>> = Vec::new();
    for name in finding.field.iter().chain(&finding.fields) {
        memory.push(if name.ends_with("[]") { Memory::Elements } else { Memory::Field(name) });
    }
    if finding.rule == Rule::ContainerRace {
        memory.push(Memory::Contents);
    }
    memory.sort();
    memory.dedup();
    memory
}

/// What two findings have in common that are about the same thing: the memory and two places, or two methods; the
/// methods that take the locks of a cycle.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Cause {
    Places(Kind, Vec<Place>),
    Methods(Kind, Vec<String>),
    /// An access without a lock.
    Unguarded(Kind, Place),
    Locks(Vec<String>),
    /// Waiting for something while a lock is held.
    Wait(Place),
}

/// Memory by what both engines call alike: fields by name; elements and contents, which each engine names in its own way,
/// by the field that holds them or by their places alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kind {
    Field(String),
    Inside(String),
    Somewhere,
}

fn causes(finding: &Finding) -> Vec<Cause> {
    let mut methods: Vec<String> = finding.sites.iter().map(|site| site.method.clone()).collect();
    methods.sort();
    let waits = |kind: AccessKind| {
        let waits = finding.sites.iter().filter(move |site| site.access == kind);
        waits.map(|site| Cause::Wait(site.place.clone()))
    };
    match finding.rule {
        Rule::Deadlock => {
            methods.dedup();
            return waits(AccessKind::Wait).chain([Cause::Locks(methods)]).collect();
        }
        Rule::BlockingUnderLock => return waits(AccessKind::Block).collect(),
        _ => {}
    }
    let mut causes = Vec::new();
    for kind in kinds(finding) {
        for pair in pairs(finding) {
            let mut places = pair.map(Place::clone).to_vec();
            places.sort();
            causes.push(Cause::Places(kind.clone(), places));
        }
        if kind != Kind::Somewhere {
            causes.push(Cause::Methods(kind, methods.clone()));
        }
    }
    causes
}

/// The accesses to fields that a finding says are made without a lock.
fn unguarded(finding: &Finding) -> impl Iterator<Item = Cause> {
    let causes = |one: &Unguarded| Cause::Unguarded(Kind::Field(one.field.clone()), one.place.clone());
    finding.unguarded.iter().map(causes)
}

fn kinds(finding: &Finding) -> BTreeSet<Kind> {
    let names = finding.field.iter().chain(&finding.fields);
    if finding.about_contents {
        // Names are those of classes.
        return finding.held_in.iter().cloned().map(Kind::Inside).chain([Kind::Somewhere]).collect();
    }
    let is_container = finding.rule == Rule::ContainerRace;
    let kinds = names.flat_map(|name| match name.strip_suffix("[]") {
        Some(array) => vec![Kind::Inside(array.to_owned()), Kind::Somewhere],
        None if is_container => vec![Kind::Inside(name.clone()), Kind::Somewhere],
        None => vec![Kind::Field(name.clone())],
    });
    kinds.collect()
}

fn both(whole: &Finding, compositional: &Finding) -> Finding {
    let limit = whole.limit.unwrap_or(whole.confidence);
    let sure = Sureness { confidence: whole.confidence, limit };
    let confidence = agreed(sure, compositional.confidence);
    // What is hardly believed is described in brief: who believes it tells the story.
    let mut finding = if confidence < whole.confidence { compositional.clone() } else { whole.clone() };
    finding.confidence = confidence;
    finding.shows_harm |= compositional.shows_harm;
    if !whole.engines.contains(&Engine::Compositional) {
        finding.engines = vec![Engine::WholeProgram, Engine::Compositional];
        finding.why.push("confirmed by both engines".into());
    }
    // One piece of advice without a name is enough.
    let is_general = |fix: &String| fix.starts_with(GENERAL_FIX);
    let has_general = finding.fix.iter().any(is_general);
    let is_new = |fix: &&String| {
        let says_no_more = has_general && is_general(fix);
        !finding.fix.contains(fix) && !says_no_more
    };
    let fix: Vec<String> = compositional.fix.iter().filter(is_new).cloned().collect();
    finding.fix.extend(fix);
    // A container has another name in each engine: one access is one entry.
    let is_known = |one: &Unguarded| {
        let is_same = |known: &Unguarded| {
            (known.access, &known.method, &known.place) == (one.access, &one.method, &one.place)
        };
        whole.unguarded.iter().any(is_same)
    };
    let more = compositional.unguarded.iter().filter(|one| !is_known(one)).cloned();
    finding.unguarded = Unguarded::listed(whole.unguarded.iter().cloned().chain(more));
    for (site, other) in finding.sites.iter_mut().zip(&compositional.sites) {
        if site.place == other.place {
            site.concurrent.clone_from(&other.concurrent);
        }
    }
    finding
}

/// Agreement is worth one level, where only one engine tells the story.
fn raised(confidence: Confidence) -> Confidence {
    match confidence {
        Confidence::High | Confidence::Medium => Confidence::High,
        Confidence::Low => Confidence::Medium,
    }
}

/// The program decides: what it doubts stays doubtful, but what it hardly believes and another engine does is worth a look.
fn agreed(whole: Sureness, compositional: Confidence) -> Confidence {
    match (whole.confidence, compositional) {
        (Confidence::Low, Confidence::High | Confidence::Medium) => Confidence::Medium.max(whole.limit),
        (confidence, _) => confidence,
    }
}
