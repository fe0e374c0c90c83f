//! What is said about locks.

use crate::programs::*;
use findings::{AboutLock, Access};
use session::Session;

/// Everything that is said about a lock.
fn lock(session: &Session, line: u32) -> String {
    let Some(AboutLock { lock, method, origins, elsewhere, covers, .. }) =
        session.about_lock("Program.java", line)
    else {
        return "no lock is taken there".to_owned();
    };
    let origins = origins.iter().map(|origin| origin.name.as_str()).collect::<Vec<_>>().join(", ");
    let elsewhere: Vec<u32> = elsewhere.iter().map(|place| place.line).collect();
    let covered = covers.iter().flat_map(|covered| {
        covered.accesses.iter().map(|access| format!("\n{}: {}", covered.field, line_of(access)))
    });
    let (name, at) = (lock.name, lock.place.line);
    format!("{name} from {at} in {method} by {origins}, also {elsewhere:?}{}", covered.collect::<String>())
}

fn line_of(access: &Access) -> String {
    line(access).trim_start().to_owned()
}

#[test]
fn what_is_done_under_a_lock_is_told_where_it_is_taken() {
    let session = pool();
    assert_eq!(
        lock(&session, 39),
        "this from 39 in Table.put(int) by thread started at Program.java:18, also [21, 47, 52]\n\
         Node.next: 39 write in Table.put(int) by thread started at Program.java:18…; this from 39 = Table.this = table made at Program.java:7"
    );
    assert_eq!(
        lock(&session, 42),
        "Table.rw from 42 in Table.get() by thread started at Program.java:18, also [37]\n\
         Table.value: 43 read in Table.get() by thread started at Program.java:18…; Table.rw shared from 42 = java.util.concurrent.locks.ReentrantReadWriteLock made at Program.java:32 = this.rw"
    );
    assert_eq!(
        lock(&session, 47),
        "this from 47 in Table.fill(int) by thread started at Program.java:18, also [21, 39, 52]\n\
         Base.size: 48 write in Table.fill(int) by thread started at Program.java:18…; this from 47 = table made at Program.java:7 = this"
    );
    // The head of a synchronized method has no line of its own.
    assert_eq!(lock(&session, 51), lock(&session, 52));
    assert_eq!(
        lock(&session, 52),
        "this from 52 in Table.isEmpty() by any thread, also [39, 47]\n\
         Node.next: 52 read in Table.isEmpty() by any thread…; this from 52 = Table.this"
    );
    assert_eq!(lock(&session, 44), "no lock is taken there");
    // In what is called meanwhile, as far as it is certainly held there.
    assert_eq!(
        lock(&shared(), 47),
        "this from 47 in Shared.add() by main thread, thread started at Program.java:9, also [48]\n\
         Shared.byLock: 56 write in Shared.put(java.lang.String) by main thread; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock; this from 47 = shared made at Program.java:7 = this\n\
         Shared.counted: 51 write in Shared.count() by main thread; Shared.class from 51 = Shared.class; this from 47 = shared made at Program.java:7\n\
         Shared.guarded: 47 write in Shared.add() by main thread, thread started at Program.java:9; this from 47 = shared made at Program.java:7 = this\n\
         Shared.names: 55 write of its contents in Shared.put(java.lang.String) by main thread; Shared.lock from 53 = java.util.concurrent.locks.ReentrantLock made at Program.java:43 = this.lock; this from 47 = shared made at Program.java:7 = this"
    );
}
