//! What each engine knows, and when.

use crate::programs::*;
use findings::Engine;
use session::{Engines, Options, Session};

#[test]
fn each_engine_answers_alone() {
    let project = compiled("Shared", SHARED);
    assert_eq!(
        told(&session(&project, Engines::WholeProgram), "Shared", "byLock"),
        "1 of 1 hold `this.lock`; all accesses hold `this.lock`\n\
         56 write in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock"
    );
    assert_eq!(
        told(&session(&project, Engines::Compositional), "Shared", "byLock"),
        "1 of 2 hold `this.lock`; it is reported\n\
         56 write in Shared.put(java.lang.String) by any thread…; Shared.lock from 53 = this.lock\n\
         59 read in Shared.never() by any thread…; lacks the guard"
    );
}

#[test]
fn nothing_is_known_before_anything_was_analysed() {
    let project = compiled("Shared", SHARED);
    let session = Session::new(project, Options { engines: Engines::Both, ..Options::default() });
    assert_eq!(told(&session, "Shared", "guarded"), "nothing is known");
    assert_eq!(session.about_lock("Program.java", 47), None);
}

#[test]
fn what_methods_say_is_known_before_threads_are() {
    let options = Options { engines: Engines::Both, follow: true, ..Options::default() };
    let mut session = Session::new(compiled("Shared", SHARED), options);
    session.first_look(&|_, _| ()).expect("both are asked");
    let about = session.about_field("Shared", "byLock").expect("it is there");
    assert_eq!(about.engines, [Engine::Compositional]);
    assert_eq!(
        text(&about),
        "1 of 2 hold `this.lock`; it is reported\n\
         56 write in Shared.put(java.lang.String) by any thread…; Shared.lock from 53 = this.lock\n\
         59 read in Shared.never() by any thread…; lacks the guard"
    );
    session.check(&|_, _| ());
    let about = session.about_field("Shared", "byLock").expect("it is there");
    assert_eq!(about.engines, [Engine::WholeProgram, Engine::Compositional]);
}

#[test]
fn guards_of_a_class_are_told_in_short() {
    let guards = shared().guards("Shared").into_iter();
    let guards =
        guards.filter_map(|guard| Some(format!("{}: {}", guard.field, report::about::lens(&guard)?)));
    assert_eq!(
        guards.collect::<Vec<_>>().join("\n"),
        "afterJoin: ordered\n\
         byLock: guarded by lock in 1 of 2 accesses\n\
         confined: only the main thread\n\
         counted: guarded by Shared.class\n\
         fromLambda: no guard\n\
         guarded: guarded by this in 2 of 3 accesses\n\
         names: guarded by lock in 1 of 2 accesses\n\
         setOnce: never written once shared"
    );
}
