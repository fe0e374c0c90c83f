//! `snarl watch`: analyse the program, then follow its files and tell what each change does to the findings. The order
//! of events, nothing more.

use crate::inbox::{Inbox, News};
use crate::told::{Cost, Told};
use crate::{begin, output, settings::Settings};
use anyhow::{Context, Result};
use findings::Report;
use project::{Project, Watched};
use session::{Cancel, Change, Session};
use std::process;
use std::time::Instant;
use workspace::{Kept, Program, Wanted};

/// Returns only when nobody reads any more.
pub fn run(settings: &Settings, poll: bool) -> Result<()> {
    // Whatever is under way is not waited for.
    ctrlc::set_handler(|| process::exit(0)).context("cannot catch Ctrl-C")?;

    let mut wanted = Wanted::new(&settings.setup)?;
    let began = Instant::now();
    let meter = begin::meter(settings);
    meter.show("opening the program", 0);
    let mut watched = Watched::open(&settings.setup.request)?;
    if poll {
        watched.poll();
    }
    let project = watched.project().clone();
    let kept = Kept::of(&project, &settings.setup);
    let mut session = workspace::session(project.clone(), &settings.setup, kept.is_some())?;
    // From now on, so that what changes during the first analysis is not missed.
    let mut inbox = Inbox::following(watched);
    let known = kept.as_ref().and_then(Kept::report);
    let (mut told, mut text) = (Told::default(), String::new());
    if let Some(report) = &known {
        let report = wanted.selected(report, &Program::of(&project), &[], &settings.setup);
        output::stream(&told.first(&report, &project, began.elapsed().as_secs_f64(), settings))?;
    }
    workspace::first(&mut session, kept.as_ref(), &begin::progress(settings, &meter));
    drop(meter);
    if known.is_none() {
        let report = wanted.selected(&session.report(), &Program::of(&project), &[], &settings.setup);
        text = told.first(&report, &project, began.elapsed().as_secs_f64(), settings);
    }

    let mut is_kept = known.is_some();
    let mut overtaken: Option<News> = None;
    while output::stream(&text)? {
        let (news, cancel) = inbox.take();
        let news = match overtaken.take() {
            Some(older) => older.and(news),
            None => news,
        };
        let began = Instant::now();
        let Some(mut cost) = update(&mut session, &news, &cancel, settings) else {
            let seconds = news.overtaken + began.elapsed().as_secs_f64();
            overtaken = Some(News { overtaken: seconds, ..news });
            text.clear();
            continue;
        };
        let selecting = Instant::now();
        let changed: Vec<String> = news.classes.iter().cloned().collect();
        let report =
            wanted.selected(&session.report(), &Program::of(&news.project), &changed, &settings.setup);
        cost.iter_mut().for_each(|cost| cost.add("suppressions", selecting.elapsed().as_secs_f64()));
        text = told.next(&report, &news, cost.as_ref(), settings);
        if cost.is_some() {
            is_kept = false;
        } else if !is_kept && told.is_complete() {
            // Nobody waits now.
            keep(&mut session, &news.project, settings);
            is_kept = true;
        }
    }
    Ok(())
}

/// `None` when newer changes have come; no cost when there was nothing to do.
fn update(session: &mut Session, news: &News, cancel: &Cancel, settings: &Settings) -> Option<Option<Cost>> {
    if !news.is_change() {
        return Some(None);
    }
    let meter = begin::meter(settings);
    let change = Change {
        source: news.project.clone(),
        classes: news.classes.iter().cloned().collect(),
        resources: news.resources,
    };
    let began = Instant::now();
    let update = session.apply(change, &|stage, done| meter.show(stage, done), cancel)?;
    Some(Some(Cost::of(news, update, began.elapsed().as_secs_f64())))
}

fn keep(session: &mut Session, project: &Project, settings: &Settings) {
    let report = session.report();
    // Notes may be about what no longer is.
    if begin::is_analysed(&report)
        && session.is_sure_of_problems()
        && let Some(kept) = Kept::of(project, &settings.setup)
    {
        let report = Report { stats: session.stats(), ..Report::clone(&report) };
        kept.keep(&workspace::with_notes(report, project));
        kept.keep_state(session);
    }
}
