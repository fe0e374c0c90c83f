//! Why code is believed to run on several threads at the same time. Without such a reason nothing is reported.

use crate::engine::Compositional;
use crate::path::Root;
use crate::summary::{Access, Held, Thread};
use ir::{ClassId, MethodId, Program, access};
use models::{Kind, Knowledge, Says};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evidence {
    pub strength: Strength,
    /// Only what it calls says so.
    pub is_indirect: bool,
    pub words: String,
}

/// The stronger, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// Fields beside it are volatile or atomic.
    Hint,
    /// A framework keeps one object for all.
    Framework,
    /// A thread runs it, perhaps each its own object.
    Task,
    /// It takes locks.
    Locks,
    /// A type above says so.
    Promised,
    /// It says so.
    Declared,
}

/// What is said of a class as a whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassSays {
    pub thread_safe: Option<(Strength, String)>,
    /// Not meant for threads, or nothing ever changes.
    pub excused: bool,
    pub singleton: Option<String>,
    pub main_thread: bool,
    pub is_task: bool,
    /// A volatile or atomic field.
    pub hint: Option<String>,
}

pub(crate) fn of_class(program: &Program, knowledge: &Knowledge, class: ClassId) -> ClassSays {
    let mut says = ClassSays::default();
    let mut is_scoped = false;
    // What is nearest is told; above the class itself, in an order that does not depend on ids.
    let mut above: Vec<ClassId> = program.supertypes(class).filter(|&above| above != class).collect();
    above.sort_unstable_by_key(|&above| program.class_name(above));
    let supertypes: Vec<ClassId> = std::iter::once(class).chain(above).collect();
    for &above in &supertypes {
        let entry = program.class(above);
        for note in &entry.annotations {
            let name = &program.names[note.class];
            let simple = name.rsplit(['/', '$']).next().unwrap_or(name);
            for meaning in knowledge.says(name) {
                match meaning {
                    Says::ThreadSafe if says.thread_safe.is_none() => {
                        let of = program.class_display(above);
                        let strength = if above == class { Strength::Declared } else { Strength::Promised };
                        says.thread_safe = Some((strength, format!("{of} is marked @{simple}")));
                    }
                    Says::NotThreadSafe | Says::Immutable | Says::Confined if above == class => {
                        says.excused = true
                    }
                    Says::Singleton if above == class => {
                        says.singleton = Some(format!(
                            "{} is a singleton (@{simple}); requests run concurrently",
                            program.class_display(class)
                        ));
                    }
                    Says::Scoped if above == class => {
                        is_scoped |= !note.values.iter().any(|(_, value)| value == "singleton");
                    }
                    Says::MainThread if above == class => says.main_thread = true,
                    _ => {}
                }
            }
        }
        match knowledge.kind(program.class_name(above)) {
            Some(Kind::Singleton) if above != class => {
                says.singleton = Some(format!(
                    "one object serves all requests, which run concurrently: it is a {}",
                    program.class_display(above)
                ));
            }
            Some(Kind::MainThread) if above != class => says.main_thread = true,
            Some(Kind::Task) if above != class => says.is_task = true,
            _ => {}
        }
    }
    if is_scoped {
        says.singleton = None;
    }
    says.excused |= knowledge.assumed.is_confined_class(program.class_name(class));
    says.hint = hint(program, knowledge, class);
    says
}

fn hint(program: &Program, knowledge: &Knowledge, class: ClassId) -> Option<String> {
    let fields = program.class(class).fields.iter().copied();
    let is_static = |id: &ir::FieldId| program.field(*id).access & access::STATIC != 0;
    let has_objects = !fields.clone().all(|id| is_static(&id));
    // What counts or numbers the objects of a class says nothing of who uses one of them.
    let is_about_class = |id: &ir::FieldId| {
        let field = program.field(*id);
        let is_counter = match field.class_of {
            Some(class) => knowledge.is_counter(program.class_name(class)),
            None => true,
        };
        has_objects && is_static(id) && is_counter
    };
    let mut found = fields.filter(|id| !is_about_class(id)).filter_map(|id| {
        let field = program.field(id);
        let name = &program.names[field.name];
        if field.access & access::VOLATILE != 0 {
            return Some(format!("`{name}` beside it is volatile"));
        }
        let of = field.class_of.map(|class| program.class_name(class))?;
        let simple = of.rsplit('/').next().unwrap_or(of);
        let article = if simple.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
        knowledge.is_concurrent(of).then(|| format!("`{name}` beside it is {article} {simple}"))
    });
    found.next()
}

/// Does a class of the JDK say `synchronized` already? Then it says nothing about this one.
fn is_inherited(program: &Program, id: MethodId) -> bool {
    let entry = program.method(id);
    program.supertypes(entry.class).any(|above| {
        let of_jdk = program.class(above).layer == classfile::Layer::Jdk;
        let overridden = program.declared_method(ir::MethodRef { class: above, selector: entry.selector });
        of_jdk && overridden.is_some_and(|method| program.method(method).is_synchronized())
    })
}

impl Compositional {
    /// Why a method that others call is believed to run on any thread.
    pub(crate) fn evidence(&self, program: &Program, says: &ClassSays, id: MethodId) -> Option<Evidence> {
        let found = |strength, words: String| Some(Evidence { strength, is_indirect: false, words });
        let method = self.method(id)?;
        let summary = self.summary(id)?;
        let entry = program.method(id);
        let name = program.selector_text(entry.selector).0;
        let own = |meaning: Says| {
            entry
                .annotations
                .iter()
                .any(|note| self.knowledge.says(&program.names[note.class]).contains(&meaning))
        };
        if own(Says::Confined) || own(Says::Once) || self.knowledge.is_once(name) {
            return None;
        }
        if own(Says::ThreadSafe) {
            return found(
                Strength::Declared,
                format!("{} is marked as thread-safe", program.method_display(id)),
            );
        }
        if let Some((strength, words)) = &says.thread_safe {
            return found(*strength, words.clone());
        }
        if summary.thread == Thread::Background {
            return found(
                Strength::Declared,
                format!("{} runs on a background thread, as it says itself", program.method_display(id)),
            );
        }
        if own(Says::Spawned) {
            return found(
                Strength::Framework,
                format!("a framework runs {} on a thread of its own", program.method_display(id)),
            );
        }
        if own(Says::AnyThread) {
            return found(
                Strength::Declared,
                format!("{} may run on any thread, as it says", program.method_display(id)),
            );
        }
        if says.is_task && self.knowledge.is_task_method(name) {
            return found(
                Strength::Task,
                format!("{} is what a thread or task runs", program.method_display(id)),
            );
        }
        if let Some(words) = &says.singleton {
            return found(Strength::Framework, words.clone());
        }
        if method.is_synchronized && !is_inherited(program, id) {
            return found(Strength::Locks, format!("{} is synchronized", program.method_display(id)));
        }
        let known =
            |root: Root| matches!(root, Root::Param(_) | Root::Static(_) | Root::Class(_) | Root::Unknown);
        let takes = summary.taken.iter().any(|taken| taken.depth == 0 && known(taken.lock.root));
        if summary.locks && !method.is_synchronized && takes {
            return found(Strength::Locks, format!("{} takes a lock", program.method_display(id)));
        }
        let inner = summary.taken.iter().any(|taken| {
            let is_near = taken.depth > 0 && taken.depth < 3 && !taken.started;
            is_near && taken.lock.root == Root::Param(0) && taken.lock.len() <= 1
        });
        let holds = |access: &Access| {
            let is_own = |held: &Held| held.sure && held.at != crate::ENTRY && known(held.lock.root);
            access.depth == 0 && access.held.iter().any(is_own)
        };
        if inner || summary.accesses.iter().any(holds) {
            let words = format!("{} takes a lock in what it calls", program.method_display(id));
            return Some(Evidence { strength: Strength::Locks, is_indirect: true, words });
        }
        if let Some(words) = &says.hint {
            return found(Strength::Hint, words.clone());
        }
        None
    }
}
