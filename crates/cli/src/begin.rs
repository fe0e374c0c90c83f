//! How an analysis begins in a terminal: what is shown meanwhile, and why there may be nowhere to begin. Knows nothing of
//! what becomes of the report.

use crate::{meter::Meter, output, settings::Settings};
use findings::{Note, Report};
use report::text;
use session::ENTRY_POINTS;

/// Kinds of notes after which there is no report: an empty one would look like a clean program.
const NOWHERE_TO_BEGIN: [&str; 2] = ["no-entry-point", "unknown-entry-point"];

/// Damage that may be why there is nowhere to begin.
const DAMAGE: [&str; 3] = ["corrupt-archive", "corrupt-class", "corrupt-entry"];

/// More take a while, and are seldom meant.
const MANY_ENTRY_POINTS: u64 = 8;

pub fn meter(settings: &Settings) -> Meter {
    if settings.progress { Meter::on_terminal() } else { Meter::hidden() }
}

pub fn progress(settings: &Settings, meter: &Meter) -> impl Fn(&'static str, u64) + Sync {
    move |stage, done| {
        meter.show(stage, done);
        if stage == ENTRY_POINTS && done > MANY_ENTRY_POINTS && settings.announce {
            output::remark(&format!("analysing {done} entry points; --main picks one"));
        }
    }
}

/// Whether the program was looked at from somewhere.
pub fn is_analysed(report: &Report) -> bool {
    !report.notes.iter().any(says_nowhere)
}

/// Why nothing was analysed: what cannot be read first, which is the reason then, and whatever else is wrong with the
/// input last.
pub fn nowhere_to_begin(report: &Report) -> Option<String> {
    let (wrong, others): (Vec<&Note>, Vec<&Note>) = report.notes.iter().partition(|note| says_nowhere(note));
    if wrong.is_empty() {
        return None;
    }
    let others: Vec<Note> = others.into_iter().cloned().collect();
    // A name that nothing has is wrong by itself.
    let is_searched = wrong.iter().all(|note| note.kind == "no-entry-point");
    let is_damage = |note: &&Note| is_searched && DAMAGE.contains(&note.kind.as_str());
    let (damage, others): (Vec<&Note>, Vec<&Note>) =
        text::most_important(&others).0.into_iter().partition(is_damage);
    let mut lines: Vec<String> =
        damage.into_iter().chain(wrong).map(|note| text::clean(&note.message)).collect();
    lines.extend(others.into_iter().map(|note| text::note(note, &text::Look::plain())));
    Some(lines.join("\n"))
}

fn says_nowhere(note: &Note) -> bool {
    NOWHERE_TO_BEGIN.contains(&note.kind.as_str())
}
