//! What is said about fields: who touches them, under which locks, and what guards them.

use crate::programs::*;
use session::Engines;

#[test]
fn a_field_that_most_accesses_guard_names_the_one_that_does_not() {
    assert_eq!(
        told(&shared(), "Shared", "guarded"),
        "2 of 3 hold `this`; it is reported\n\
         46 write in Shared.<init>(java.lang.String) by main thread; unpublished\n\
         47 write in Shared.add() by main thread, thread started at Program.java:9; this from 47 = shared made at Program.java:7 = this\n\
         48 read in Shared.look() by main thread; this from 48 = shared made at Program.java:7 = this\n\
         49 write in Shared.reset() by thread started at Program.java:9; lacks the guard"
    );
}

#[test]
fn a_volatile_field_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "stopped"),
        "it is volatile\n\
         50 write in Shared.stop() by thread started at Program.java:9"
    );
}

#[test]
fn a_final_field_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "name"),
        "it is final\n\
         27 read in Worker.run() by thread started at Program.java:9\n\
         46 write in Shared.<init>(java.lang.String) by main thread; unpublished"
    );
}

#[test]
fn a_field_that_one_thread_has_for_itself_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "confined"),
        "only the main thread touches it\n\
         15 write in Main.main(java.lang.String[]) by main thread"
    );
}

#[test]
fn a_field_that_only_the_constructor_sets_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "setOnce"),
        "it is never written once others know its object\n\
         27 read in Worker.run() by thread started at Program.java:9\n\
         46 write in Shared.<init>(java.lang.String) by main thread; unpublished"
    );
}

#[test]
fn a_field_that_is_read_after_its_writer_has_ended_needs_no_guard() {
    assert_eq!(
        told(&shared(), "Shared", "afterJoin"),
        "ordered: before the thread is started, or after it is joined\n\
         17 read in Main.main(java.lang.String[]) by main thread\n\
         30 write in Worker.run() by thread started at Program.java:9"
    );
}

#[test]
fn a_static_field_is_guarded_by_a_class() {
    assert_eq!(
        told(&shared(), "Shared", "counted"),
        "1 of 1 hold `Shared.class`; all accesses hold `Shared.class`\n\
         51 write in Shared.count() by main thread, thread started at Program.java:9; Shared.class from 51 = Shared.class"
    );
}

#[test]
fn a_lock_of_the_library_guards_like_any_other_also_where_the_program_never_gets() {
    assert_eq!(
        told(&shared(), "Shared", "byLock"),
        "1 of 2 hold `this.lock`; it is reported\n\
         56 write in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock\n\
         59 read in Shared.never() by any thread…; lacks the guard"
    );
}

#[test]
fn a_container_in_a_field_is_guarded_where_it_is_used() {
    assert_eq!(
        told(&shared(), "Shared", "names"),
        "1 of 2 hold `this.lock`; it is reported\n\
         45 write in Shared.<init>(java.lang.String) by main thread; unpublished\n\
         55 write of its contents in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock\n\
         59 read of its contents in Shared.never() by any thread…; lacks the guard"
    );
}

#[test]
fn a_lock_tells_what_it_guards() {
    assert_eq!(
        told(&shared(), "Shared", "lock"),
        "guards [\"byLock\", \"names\"]; it is final, and made for several threads: java.util.concurrent.locks.ReentrantLock\n\
         43 write in Shared.<init>(java.lang.String) by main thread; unpublished\n\
         53 read in Shared.put(java.lang.String) by main thread, thread started at Program.java:9\n\
         57 read in Shared.put(java.lang.String) by main thread, thread started at Program.java:9; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock"
    );
}

#[test]
fn a_lambda_runs_on_the_thread_that_it_is_given_to() {
    assert_eq!(
        told(&shared(), "Shared", "fromLambda"),
        "it is reported\n\
         12 write in Main.main(java.lang.String[]) lambda by thread started at Program.java:13\n\
         14 write in Main.main(java.lang.String[]) by main thread"
    );
}

#[test]
fn of_what_nobody_touches_there_is_nothing_to_say() {
    let session = shared();
    assert_eq!(told(&session, "Shared", "untouched"), "nothing touches it");
    for (class, field) in
        [("Shared", "unknown"), ("Unknown", "name"), ("", ""), ("java.util.ArrayList", "size")]
    {
        assert_eq!(told(&session, class, field), "nothing is known", "{class}.{field}");
    }
    assert!(session.guards("Unknown").is_empty());
    assert_eq!(session.about_lock("Program.java", 1), None);
    assert_eq!(session.about_lock("Unknown.java", 47), None);
}

#[test]
fn a_lock_that_is_only_shared_is_enough_to_read() {
    assert_eq!(
        told(&pool(), "Table", "value"),
        "2 of 2 hold `this.rw`; all accesses hold `this.rw`\n\
         38 write in Table.put(int) by thread started at Program.java:18…; Table.rw from 37 = java.util.concurrent.locks.ReentrantReadWriteLock made at Program.java:32 = this.rw\n\
         43 read in Table.get() by thread started at Program.java:18…; Table.rw shared from 42 = java.util.concurrent.locks.ReentrantReadWriteLock made at Program.java:32 = this.rw"
    );
}

#[test]
fn a_lock_in_a_variable_is_known_by_where_it_is_made() {
    assert_eq!(
        told(&pool(), "Tally", "total"),
        "2 of 2 hold `lock made at Program.java:8`; all accesses hold `lock made at Program.java:8`\n\
         16 write in Main.main(java.lang.String[]) lambda by thread started at Program.java:18…; lock from 16 = lock made at Program.java:8\n\
         20 write in Main.main(java.lang.String[]) by main thread; lock from 20 = lock made at Program.java:8"
    );
}

#[test]
fn elements_of_an_array_are_touched_without_a_lock() {
    assert_eq!(
        told(&pool(), "Table", "cells"),
        "it is reported\n\
         34 write in Table.<init>() by main thread; unpublished\n\
         46 write of an element in Table.fill(int) by thread started at Program.java:18…"
    );
}

#[test]
fn an_object_may_be_guarded_by_the_one_that_has_it() {
    assert_eq!(
        told(&pool(), "Node", "next"),
        "2 of 2 hold `Table.this`; all accesses hold `Table.this`\n\
         39 write in Table.put(int) by thread started at Program.java:18…; this from 39 = Table.this = table made at Program.java:7\n\
         52 read in Table.isEmpty() by any thread…; this from 52 = Table.this"
    );
}

#[test]
fn an_inherited_field_is_found_by_the_class_below() {
    let session = pool();
    assert_eq!(
        told(&session, "Table", "size"),
        "3 of 3 hold `this`; all accesses hold `this`\n\
         21 write in Main.main(java.lang.String[]) by main thread; table from 21 = table made at Program.java:7 = this\n\
         48 write in Table.fill(int) by thread started at Program.java:18…; this from 47 = table made at Program.java:7 = this\n\
         55 read in Table$Inner.look() by any thread…; Table.this from 55 = this"
    );
    assert_eq!(told(&session, "Base", "size"), told(&session, "Table", "size"));
}

#[test]
fn an_object_of_ones_own_needs_no_guard() {
    assert_eq!(
        told(&pool(), "Own", "own"),
        "it is touched only while nobody else knows its object\n\
         28 write in Own.run() by thread started at Program.java:18…; unpublished"
    );
}

#[test]
fn without_a_beginning_only_methods_speak() {
    let project = compiled("Library", LIBRARY);
    let both = session(&project, Engines::Both);
    assert_eq!(
        told(&both, "Cache", "hits"),
        "1 of 2 hold `this.lock` as declared; it is reported\n\
         12 write in Cache.get(java.lang.String) by any thread…; Cache.lock from 11 = this.lock\n\
         20 read in Cache.hits() by any thread…; lacks the guard"
    );
    assert_eq!(
        told(&both, "Cache", "last"),
        "2 of 2 hold `this.lock`; all accesses hold `this.lock`\n\
         13 write in Cache.get(java.lang.String) by any thread…; Cache.lock from 11 = this.lock\n\
         21 read in Cache.twice() by any thread…; Cache.lock from 0 = this.lock"
    );
    assert_eq!(
        told(&both, "Cache", "map"),
        "2 of 2 hold `this.lock`; all accesses hold `this.lock`\n\
         8 write in Cache.<init>() by any thread…; unpublished\n\
         14 read of its contents in Cache.get(java.lang.String) by any thread…; Cache.lock from 11 = this.lock\n\
         18 write of its contents in Cache.put(java.lang.String, java.lang.String) by any thread…; Cache.lock from 18 = this.lock"
    );
    assert_eq!(
        told(&both, "Plain", "number"),
        "nothing says that several threads touch it\n\
         26 write in Plain.set(int) by any thread…"
    );
    let whole = session(&project, Engines::WholeProgram);
    assert_eq!(told(&whole, "Cache", "hits"), "nothing is known");
}
