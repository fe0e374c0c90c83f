//! A call trace as lines, one frame each, the middle left out where it is long. Knows nothing of the
//! finding it belongs to.

use super::{look::clean, method::readable};
use crate::names::Names;
use findings::Frame;

/// Longer traces keep their ends: how the thread gets going, and how it comes to the access.
const FIRST: usize = 3;
const LAST: usize = 4;

/// Outermost first, cut if there are more than `longest`. The last frame is the access, whose place the reader has before
/// him already.
pub(super) fn lines(trace: &[Frame], longest: usize, names: &Names<'_>) -> Vec<String> {
    let shown: Vec<&Frame> = if trace.len() <= longest.max(FIRST + LAST) {
        trace.iter().collect()
    } else {
        trace[..FIRST].iter().chain(&trace[trace.len() - LAST..]).collect()
    };
    let methods: Vec<String> = shown.iter().map(|frame| readable(&frame.method)).collect();
    let callers = &methods[..methods.len().saturating_sub(1)];
    let width = callers.iter().map(|method| method.chars().count()).max().unwrap_or(0);

    let mut lines: Vec<String> = callers
        .iter()
        .zip(&shown)
        .map(|(method, frame)| format!("{method:width$}  {}", clean(&names.place(&frame.place))))
        .collect();
    lines.extend(methods.last().cloned());
    if shown.len() < trace.len() {
        lines.insert(FIRST, format!("… {} more calls …", trace.len() - FIRST - LAST));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoSources;
    use findings::Place;

    fn trace(length: u32) -> Vec<Frame> {
        (1..=length)
            .map(|n| Frame {
                method: format!("a.A.m{n}()"),
                place: Place { file: "a/A.java".into(), line: n },
            })
            .collect()
    }

    #[test]
    fn frames_stand_in_columns_and_the_access_needs_no_place() {
        let mut trace = trace(3);
        trace[0].method = "a.Main.main(java.lang.String[])".into();
        assert_eq!(
            lines(&trace, 8, &Names::new(&NoSources)),
            ["a.Main.main(String[])  a/A.java:1", "a.A.m2()               a/A.java:2", "a.A.m3()"]
        );
    }

    #[test]
    fn long_traces_lose_their_middle_and_say_how_much() {
        assert_eq!(lines(&trace(8), 8, &Names::new(&NoSources)).len(), 8);
        let lines = lines(&trace(30), 8, &Names::new(&NoSources));
        assert_eq!(lines.len(), 8);
        assert_eq!(lines[2], "a.A.m3()   a/A.java:3");
        assert_eq!(lines[3], "… 23 more calls …");
        assert_eq!(lines[4], "a.A.m27()  a/A.java:27");
        assert_eq!(lines[7], "a.A.m30()");
    }

    #[test]
    fn nothing_is_cut_from_what_is_asked_for_in_full() {
        let lines = lines(&trace(30), usize::MAX, &Names::new(&NoSources));
        assert_eq!(lines.len(), 30);
        assert_eq!(lines[3], "a.A.m4()   a/A.java:4");
    }

    #[test]
    fn an_empty_trace_has_no_lines() {
        assert!(lines(&[], 8, &Names::new(&NoSources)).is_empty());
    }
}
