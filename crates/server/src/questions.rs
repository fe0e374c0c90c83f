//! What clients ask of a program under analysis, and the answers. Knows nothing of messages, nor when somebody asks.

use crate::actions;
use crate::hover;
use crate::settings::Settings;
use crate::told::{Diagnostic, Pictures, Range};
use crate::uri;
use findings::Finding;
use live::{Live, LiveSource};
use project::source_text;
use serde_json::{Value, json};
use session::Session;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workspace::{Setup, Wanted};

pub struct Question {
    /// By which the client knows the answer.
    pub id: Value,
    pub path: PathBuf,
    pub what: What,
}

pub enum What {
    /// Who touches what is at this place.
    Hover(u32, u32),
    /// What can be done about the findings in this range, with or without going elsewhere.
    Actions(Range, bool),
    /// What guards the fields of the file, as lenses or as hints.
    Lenses,
    Hints,
    /// The other sides of the findings at this place.
    OtherSide(u32, u32),
}

/// Titles and edits that repair and that suppress, by finding, file and line.
pub type Offered = BTreeMap<(String, PathBuf, u32), [Vec<(String, Value)>; 2]>;

/// Everything that answers may need.
pub struct Answerer<'a> {
    pub session: &'a mut Session,
    pub live: &'a mut Live,
    pub source: &'a mut Arc<LiveSource>,
    pub wanted: &'a mut Wanted,
    pub setup: &'a Setup,
    /// The findings that are shown.
    pub shown: &'a [Arc<Finding>],
    pub pictures: &'a Pictures,
    pub open: &'a BTreeMap<PathBuf, (i32, Arc<str>)>,
    pub settings: &'a Settings,
    /// What was offered already; good until something changes.
    pub fixes: &'a mut Offered,
    /// Whether newer texts wait.
    pub is_overtaken: &'a dyn Fn() -> bool,
}

impl Answerer<'_> {
    pub fn answer(&mut self, question: &Question) -> Result<Value, String> {
        let path = &question.path;
        match &question.what {
            What::Hover(line, character) => {
                Ok(hover::hover(self, path, *line, *character).unwrap_or_default())
            }
            What::Actions(range, shows) => Ok(actions::actions(self, path, *range, *shows)),
            What::Lenses => Ok(Value::Array(hover::lenses(self, path))),
            What::Hints => Ok(Value::Array(hover::hints(self, path))),
            What::OtherSide(line, character) => {
                let here = Range { start: (*line, *character), end: (*line, *character) };
                Ok(Value::Array(self.other_sides(path, here)))
            }
        }
    }

    /// The text of a file as it was analysed.
    pub fn text(&self, path: &Path) -> Option<Arc<str>> {
        match self.open.get(path) {
            Some((_, text)) => Some(text.clone()),
            None => source_text(path).map(Arc::from),
        }
    }

    /// Locations of what meets the findings here.
    fn other_sides(&self, path: &Path, here: Range) -> Vec<Value> {
        let mut found = Vec::new();
        for picture in self.shown.iter().filter_map(|finding| self.pictures.of(finding)) {
            let marks = &picture.marks;
            let is_here = |(file, mark): &(PathBuf, Diagnostic)| file == path && mark.range.meets(here);
            if !marks.iter().any(is_here) {
                continue;
            }
            let others: Vec<_> = marks.iter().filter(|mark| !is_here(mark)).collect();
            let others = if others.is_empty() { marks.iter().collect() } else { others };
            for (file, mark) in others {
                let location = json!({"uri": uri::of_path(file), "range": mark.range.json()});
                if !found.contains(&location) {
                    found.push(location);
                }
            }
        }
        found
    }
}
