//! Follows a project through edits, with a clock of its own, and compares every state with a project opened anew.

use crate::support::{Place, class};
use classfile::ClassSource;
use project::{Change, Delays, Environment, Project, Refresh, Request, Watched};
use std::path::Path;
use std::time::{Duration, Instant};

pub struct Watching {
    pub watched: Watched,
    request: Request,
    now: Instant,
}

pub fn watch(paths: &[&Path]) -> Watching {
    let request =
        Request { paths: paths.iter().map(|path| path.to_path_buf()).collect(), ..Request::default() };
    watch_request(request)
}

pub fn watch_request(request: Request) -> Watching {
    let now = Instant::now();
    let opened = Watched::open_in(&request, &Environment::current(), Delays::default(), now);
    let watched = opened.unwrap_or_else(|error| panic!("{error}"));
    Watching { watched, request, now }
}

impl Watching {
    /// Time goes on, and files are looked at.
    pub fn after(&mut self, milliseconds: u64) -> Refresh {
        self.now += Duration::from_millis(milliseconds);
        self.watched.refresh(self.now)
    }

    /// What a look brings at once: `+` appeared, `~` changed, `-` went.
    pub fn changes(&mut self) -> Vec<String> {
        shown(&self.after(1))
    }

    /// What is different when everything has settled, which is then what a project opened anew has.
    pub fn settled(&mut self) -> Vec<String> {
        let mut changes = self.changes();
        for _ in 0..100 {
            let refresh = self.after(50);
            changes.extend(shown(&refresh));
            let Some(wait) = refresh.again else { break };
            self.now += wait;
        }
        self.check_like_new();
        changes
    }

    pub fn check_like_new(&mut self) {
        let fresh = project::open(&self.request).unwrap_or_else(|error| panic!("{error}"));
        let followed = self.watched.project();
        assert_eq!(followed.app_classes(), fresh.app_classes());
        for name in fresh.app_classes().iter().map(String::as_str).chain(["lib/L", "lib/M", "a/A", "b/B"]) {
            assert_eq!(bytes(followed, name), bytes(&fresh, name), "{name}");
        }
        let services = "META-INF/services/a.Service";
        assert_eq!(followed.resources(services), fresh.resources(services));
    }
}

pub fn bytes(project: &Project, name: &str) -> Option<Vec<u8>> {
    project.find(name).map(|class| class.bytes.to_vec())
}

pub fn shown(refresh: &Refresh) -> Vec<String> {
    let sign = |change| match change {
        Change::Appeared => '+',
        Change::Changed => '~',
        Change::Went => '-',
    };
    refresh.classes.iter().map(|class| format!("{}{}", sign(class.what), class.name)).collect()
}

/// A class whose bytes depend on the version.
pub fn version(name: &str, version: u8) -> Vec<u8> {
    let mut bytes = class(name);
    let super_class = bytes.windows(16).position(|window| window == b"java/lang/Object").unwrap();
    // Another superclass: the last letter of its name.
    bytes[super_class + 15] = b'a' + version;
    bytes
}

/// Classes `d/C0`, `d/C1`, … in a directory.
pub fn many(place: &Place, directory: &str, count: usize, of: u8) {
    for number in 0..count {
        place.write(&format!("{directory}/d/C{number}.class"), version(&format!("d/C{number}"), of));
    }
}
