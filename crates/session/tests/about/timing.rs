//! How long answers take on any program.

use classfile::ClassSource;
use project::Request;
use session::{Engines, Options, Session};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Asks about every field of a program, and tells how long that takes: `SNARL_PATHS` as for `java`, `SNARL_MAINS` with
/// commas. With `SNARL_SHOW` it shows the answers.
#[test]
#[ignore = "takes a program from the environment"]
fn every_field_of_a_program_is_known_at_once() {
    let list = |name: &str, separator: char| -> Vec<String> {
        let text = std::env::var(name).unwrap_or_default();
        text.split(separator).filter(|part| !part.is_empty()).map(str::to_string).collect()
    };
    let paths = list("SNARL_PATHS", ':').into_iter().map(PathBuf::from).collect();
    let project = Arc::new(project::open(&Request { paths, ..Request::default() }).expect("a project"));
    for engines in [Engines::Both, Engines::WholeProgram, Engines::Compositional] {
        let mains = list("SNARL_MAINS", ',');
        let mut session =
            Session::new(project.clone(), Options { engines, mains, follow: true, ..Options::default() });
        session.check(&|_, _| ());
        let mut times: [Vec<(Duration, String)>; 3] = Default::default();
        for class in project.app_classes().iter().map(|class| class.replace('/', ".")) {
            let guards = timed(&mut times[0], &class, || session.guards(&class));
            for field in guards.into_iter().map(|guard| guard.field) {
                let name = format!("{class}.{field}");
                let about = timed(&mut times[1], &name, || session.about_field(&class, &field));
                let about = about.expect("it has a guard");
                for place in
                    about.accesses.iter().flat_map(|access| &access.locks).map(|held| &held.lock.place)
                {
                    let name = format!("{}:{}", place.file, place.line);
                    timed(&mut times[2], &name, || session.about_lock(&place.file, place.line));
                }
                if std::env::var_os("SNARL_SHOW").is_some() {
                    println!("{}", report::about::markdown(&about, &|_| None));
                }
            }
        }
        for (what, times) in ["guards", "about_field", "about_lock"].into_iter().zip(&mut times) {
            println!("{engines:?}, {what}: {}", distribution(times));
        }
    }
}

/// The shortest of a few times: whatever else the machine does makes it longer.
fn timed<T>(times: &mut Vec<(Duration, String)>, name: &str, ask: impl Fn() -> T) -> T {
    let once = || {
        let began = Instant::now();
        (ask(), began.elapsed())
    };
    let (answer, first) = once();
    let shortest = (0..3).map(|_| once().1).fold(first, Duration::min);
    times.push((shortest, name.to_owned()));
    answer
}

fn distribution(times: &mut [(Duration, String)]) -> String {
    times.sort_by(|a, b| b.cmp(a));
    let milliseconds = |at: usize| times.get(at).map_or(0.0, |(time, _)| time.as_secs_f64() * 1e3);
    let (count, slowest) = (times.len(), times.first().map_or("", |(_, name)| name.as_str()));
    let (median, most) = (milliseconds(count / 2), milliseconds(count / 100));
    format!(
        "{count} asked, {median:.2} ms at the median, {most:.1} ms for one in a hundred, {:.1} ms for {slowest}",
        milliseconds(0)
    )
}
