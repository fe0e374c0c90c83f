//! Shows on a terminal what a long run is doing. Appears only after a second, disappears without a trace,
//! and never slows the work: the work leaves its state here, a thread of its own draws it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Runs that end sooner need no reassurance.
const PATIENCE: Duration = Duration::from_secs(1);
const REDRAW: Duration = Duration::from_millis(100);

/// What is being done, and how much of it is done.
type State = Arc<Mutex<(&'static str, u64)>>;

pub struct Meter {
    state: State,
    /// Dropping the sender ends the drawing.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Meter {
    /// Draws on standard error.
    pub fn on_terminal() -> Meter {
        let state = State::default();
        let (sender, receiver) = channel();
        let drawn = Arc::clone(&state);
        let began = Instant::now();
        let drawing = thread::spawn(move || draw(&drawn, began, &receiver));
        Meter { state, drawing: Some((sender, drawing)) }
    }

    pub fn hidden() -> Meter {
        Meter { state: State::default(), drawing: None }
    }

    pub fn show(&self, stage: &'static str, done: u64) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (stage, done);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some((sender, drawing)) = self.drawing.take() {
            drop(sender);
            // A meter that failed is not worth failing for.
            let _ = drawing.join();
        }
    }
}

fn draw(state: &State, began: Instant, ended: &Receiver<()>) {
    if ended.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let style = ProgressStyle::with_template("{spinner} {msg} · {elapsed}").expect("a valid template");
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
        .with_style(style)
        .with_elapsed(began.elapsed());
    while ended.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
        let (stage, done) = *state.lock().unwrap_or_else(PoisonError::into_inner);
        bar.set_message(session::progress_text(stage, done));
        bar.tick();
    }
    bar.finish_and_clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_run_ends_without_waiting_for_the_meter() {
        let began = Instant::now();
        let meter = Meter::on_terminal();
        meter.show("reading", 3);
        drop(meter);
        assert!(began.elapsed() < PATIENCE);
        Meter::hidden().show("reading", 3);
    }
}
