//! The way of each thread to its side of a finding, as SARIF's thread flows: where it is started, the calls, the locks it
//! takes, and what it does. Knows nothing of the result around them.

use super::model::{CodeFlow, Message, Step, ThreadFlow};
use super::place::Places;
use crate::text;
use findings::{Finding, Frame, LockUse, Site};

/// One flow with a thread for every side: only together do they make the bug.
pub(super) fn code_flow(finding: &Finding, places: &Places<'_>) -> Option<CodeFlow> {
    let thread_flows: Vec<ThreadFlow> = finding
        .sites
        .iter()
        .enumerate()
        .map(|(at, site)| ThreadFlow {
            id: (at + 1).to_string(),
            message: Message::new(places.names.prose(&site.origin)),
            locations: steps(site, finding, places),
        })
        .collect();
    (!thread_flows.is_empty()).then_some(CodeFlow { thread_flows })
}

fn steps(site: &Site, finding: &Finding, places: &Places<'_>) -> Vec<Step> {
    let callers = &site.trace[..site.trace.len().saturating_sub(1)];
    let started = site.started.iter().map(|place| Step {
        location: places.location(place, "", "starts the thread".to_owned()),
        kinds: vec![],
        nesting_level: 0,
        importance: "important",
    });
    let calls = callers.iter().enumerate().map(|(depth, frame)| call(frame, depth, places));
    let locks = held(site).map(|lock| taken(lock, callers.len(), places));
    let last = Step {
        location: places.site(site, finding, text::deed(site, places.names)),
        kinds: kinds(site),
        nesting_level: callers.len(),
        importance: "essential",
    };
    started.chain(calls).chain(locks).chain([last]).collect()
}

fn call(frame: &Frame, depth: usize, places: &Places<'_>) -> Step {
    let message = format!("in {}", text::readable(&frame.method));
    Step {
        location: places.location(&frame.place, &frame.method, message),
        kinds: vec!["call"],
        nesting_level: depth,
        importance: "unimportant",
    }
}

fn taken(lock: &LockUse, depth: usize, places: &Places<'_>) -> Step {
    let message = format!("takes {}", text::lock(lock, places.names));
    Step {
        location: places.location(&lock.place, "", message),
        kinds: vec!["acquire", "lock"],
        nesting_level: depth,
        importance: "important",
    }
}

fn kinds(site: &Site) -> Vec<&'static str> {
    if site.acquires.is_some() { vec!["acquire", "lock"] } else { vec![] }
}

/// The locks held on this side of which it is known where they are taken, each once.
pub(super) fn held(site: &Site) -> impl Iterator<Item = &LockUse> {
    let also = site.holds.iter().filter(|held| !site.locks.contains(held));
    site.locks.iter().chain(also).filter(|lock| !lock.place.file.is_empty())
}
