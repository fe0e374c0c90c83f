//! The edge beyond which no panic goes: a bug in the analysis becomes a message. Knows nothing of the
//! analysis.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Arc, Mutex, PoisonError};

/// A panic, in words. Holds a backtrace only if `RUST_BACKTRACE` asks for it.
#[derive(Debug)]
pub struct Crash {
    what: String,
    backtrace: Option<Backtrace>,
}

/// Runs `work`; a panic in it, or in threads it waits for, comes back as a [`Crash`].
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Crash> {
    let first = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&first);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        // Only the first tells the cause; what follows are threads that waited for it.
        keep.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| Crash::new(info));
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    panic::set_hook(before);
    result.map_err(|_| {
        first.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_else(Crash::unknown)
    })
}

impl Crash {
    fn new(info: &PanicHookInfo<'_>) -> Crash {
        let payload = info.payload();
        let owned = payload.downcast_ref::<String>().map(String::as_str);
        let message = owned.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let what = match info.location() {
            Some(place) => format!("{message} ({}:{})", place.file(), place.line()),
            None => message.to_owned(),
        };
        let backtrace = Backtrace::capture();
        Crash { what, backtrace: (backtrace.status() == BacktraceStatus::Captured).then_some(backtrace) }
    }

    fn unknown() -> Crash {
        Crash { what: "no message".to_owned(), backtrace: None }
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "internal error: {}", self.what)?;
        write!(
            f,
            "This is a bug in snarl {}, not in your program. Please report it, with the command and, if you may \
             share it, the program.",
            env!("CARGO_PKG_VERSION")
        )?;
        match &self.backtrace {
            Some(backtrace) => write!(f, "\n{backtrace}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::caught;

    /// One test: the hook belongs to the whole process.
    #[test]
    fn a_panic_becomes_a_message_and_work_goes_on_afterwards() {
        assert_eq!(caught(|| 1).ok(), Some(1));

        let crash = caught(|| panic!("index {} is gone", 7)).expect_err("a crash").to_string();
        assert!(crash.starts_with("internal error: index 7 is gone ("), "{crash}");
        assert!(crash.contains("crash.rs:"), "{crash}");
        assert!(crash.contains("Please report it"), "{crash}");

        let in_thread = caught(|| {
            std::thread::scope(|scope| scope.spawn(|| panic!("in a worker")).join().expect("no result"));
        });
        assert!(in_thread.expect_err("a crash").to_string().contains("in a worker"));
        assert_eq!(caught(|| 2).ok(), Some(2));
    }
}
