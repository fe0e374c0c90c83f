//! A folder of the editor's workspace and the thread that analyses it. Knows nothing of messages.

use crate::analyst::{Analyst, Tell};
use crate::asking::Asking;
use crate::desk::Desk;
use crate::document::Documents;
use crate::launching::Launching;
use crate::settings::Settings;
use crate::told::Told;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// What the analysis of large programs needs; the main thread has as much.
const STACK: usize = 8 << 20;

pub struct Folder {
    pub root: PathBuf,
    pub desk: Arc<Desk>,
    pub told: Option<Arc<Told>>,
    pub state: State,
    /// What is wrong, once it was said.
    pub complaint: Option<String>,
    /// The client shows how far it is.
    pub shows_progress: bool,
    asking: Asking,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Starting,
    Analysing(&'static str),
    Ready,
    Failed { message: String, reason: &'static str },
}

impl Folder {
    /// Starts to analyse.
    pub fn open(
        root: PathBuf,
        settings: Settings,
        launching: Launching,
        documents: &Documents,
        tell: Arc<dyn Fn(Tell) + Send + Sync>,
    ) -> Folder {
        let desk = Arc::<Desk>::default();
        let open = documents.0.iter().filter(|(path, _)| path.starts_with(&root));
        let open = open.map(|(path, document)| {
            let text = if settings.on_type { &document.text } else { &document.saved };
            (path.clone(), (document.version, text.clone()))
        });
        let asking = Asking::default();
        let analyst = Analyst {
            root: root.clone(),
            open: open.collect(),
            settings,
            launching,
            desk: desk.clone(),
            tell,
            asking: asking.clone(),
            failure: None,
        };
        let thread = thread::Builder::new().stack_size(STACK).spawn(move || analyst.run()).ok();
        Folder {
            root,
            desk,
            told: None,
            state: State::Starting,
            complaint: None,
            shows_progress: false,
            asking,
            thread,
        }
    }

    pub fn has(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.desk.end();
        self.asking.end();
        // An update under way ends by itself; the process does not wait for it.
        drop(self.thread.take());
    }
}
