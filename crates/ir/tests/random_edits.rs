//! Random programs under random edits: after each of them the program must answer like one made anew, and the delta
//! must have said just what changed.

#[path = "support/answers.rs"]
mod answers;
#[path = "support/spec.rs"]
mod spec;

use answers::{Answers, described, loaded, problems, related};
use classfile::Layer;
use ir::{MethodRef, Program, access};
use spec::{ClassSpec, MethodSpec, Op, Spec};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const CLASSES: usize = 9;
const MEMBERS: [&str; 4] = ["a", "b", "c", "d"];
const SEQUENCES: u64 = 300;
const STEPS: usize = 14;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit.max(1) as u64) as usize
    }

    fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Mostly one further up, so that cycles stay rare.
    fn class_above(&mut self, number: usize) -> String {
        let number = if self.one_in(12) { self.below(CLASSES) } else { self.below(number.max(1)) };
        name_of(number)
    }

    fn class(&mut self) -> String {
        name_of(self.below(CLASSES))
    }

    fn member(&mut self) -> String {
        MEMBERS[self.below(MEMBERS.len())].to_owned()
    }

    fn op(&mut self) -> Op {
        match self.below(30) {
            0..8 => Op::New(self.class()),
            8..12 => Op::Text(self.member()),
            12..20 => Op::Call(self.class(), self.member()),
            20..23 => Op::Store(self.class(), self.member()),
            23..26 => Op::Load(self.class(), self.member()),
            26..29 => Op::Unless(Box::new(self.op())),
            _ => Op::Broken,
        }
    }

    fn method(&mut self) -> MethodSpec {
        let access =
            [0, access::PUBLIC, access::PRIVATE, access::STATIC | access::PUBLIC, access::SYNCHRONIZED]
                [self.below(5)];
        let mut method = MethodSpec { name: self.member(), access, line: 10, ..MethodSpec::default() };
        match self.below(6) {
            0 => method.access = access::PUBLIC | access::ABSTRACT,
            1 if self.one_in(4) => {}
            _ => method.code = Some((0..self.below(8)).map(|_| self.op()).collect()),
        }
        method
    }

    fn class_spec(&mut self, number: usize) -> ClassSpec {
        let is_interface = self.one_in(3);
        let mut class = ClassSpec {
            access: if is_interface {
                access::PUBLIC | access::INTERFACE | access::ABSTRACT
            } else {
                access::PUBLIC
            },
            ..ClassSpec::default()
        };
        if number > 0 && !is_interface && !self.one_in(3) {
            class.super_class = self.class_above(number);
        }
        for _ in 0..self.below(3) {
            class.interfaces.push(self.class_above(number));
        }
        for _ in 0..self.below(3) {
            class.fields.push((self.member(), access::PUBLIC));
        }
        for _ in 0..self.below(5) {
            class.methods.push(self.method());
        }
        class
    }
}

/// 0 is Object.
fn name_of(number: usize) -> String {
    if number == 0 { "java/lang/Object".to_owned() } else { format!("C{number}") }
}

/// The names of what may have changed.
fn edit(spec: &mut Spec, random: &mut Random) -> Vec<String> {
    let mut named = Vec::new();
    for _ in 0..1 + random.below(3) {
        let number = random.below(CLASSES);
        let name = name_of(number);
        named.push(name.clone());
        let Some((class, layer)) = spec.0.get_mut(&name) else {
            spec.0.insert(name, (random.class_spec(number), Layer::App));
            continue;
        };
        match random.below(14) {
            0 => {
                spec.0.remove(&name);
            }
            1 => class.is_damaged = !class.is_damaged,
            2 => *layer = [Layer::App, Layer::Library][random.below(2)],
            3 => class.super_class = random.class_above(number),
            4 => class.interfaces.push(random.class_above(number)),
            5 => {
                class.interfaces.pop();
            }
            6 => class.access ^= [access::FINAL, access::INTERFACE, access::PUBLIC][random.below(3)],
            7 => class.fields.push((random.member(), 0)),
            8 => {
                class.fields.pop();
            }
            9 => class.methods.insert(0, random.method()),
            10 => {
                class.methods.pop();
            }
            11 => {
                let delta = random.below(20) as u16;
                class.methods.iter_mut().for_each(|method| method.line += delta);
            }
            12 => {}
            _ => {
                let count = class.methods.len();
                if let Some(method) = class.methods.get_mut(random.below(count)) {
                    match (random.below(4), &mut method.code) {
                        (0, _) => method.access ^= access::SYNCHRONIZED,
                        (1, _) => method.throws.push(random.class()),
                        (2, Some(code)) => {
                            code.pop();
                        }
                        (_, Some(code)) => code.insert(random.below(code.len() + 1), random.op()),
                        _ => {}
                    }
                }
            }
        }
    }
    named
}

/// Half of the methods, always the same.
fn lowers(method: &str) -> bool {
    !method.contains(".a(") && !method.contains(".b(")
}

type All = (Answers, Answers, Vec<String>);

fn assert_alike(left: &All, right: &All, what: &str) {
    for name in left.0.keys() {
        assert_eq!(left.0[name], right.0[name], "{what}: {name}");
        assert_eq!(left.1[name], right.1[name], "{what}: {name}");
    }
    assert_eq!(left.2, right.2, "{what}");
}

fn answers(program: &mut Program, names: &[String]) -> All {
    let described = names.iter().map(|name| (name.clone(), described(program, name, lowers))).collect();
    (described, related(program, names, &MEMBERS), problems(program))
}

/// What is told of each member, in no order, without the lines at the left of statements.
fn meaning(described: &str) -> BTreeSet<String> {
    let mut members = vec![String::new()];
    for line in described.lines() {
        if line.starts_with("method ") || line.starts_with("field ") {
            members.push(String::new());
        }
        let line = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
        members.last_mut().expect("never empty").push_str(&format!("{line}\n"));
    }
    members.into_iter().collect()
}

#[test]
fn an_edited_program_answers_like_a_new_one() {
    let mut states = 0;
    for seed in 0..SEQUENCES {
        let random = &mut Random(seed);
        let mut spec = Spec::default();
        for number in 0..CLASSES {
            if !random.one_in(8) {
                spec.0.insert(name_of(number), (random.class_spec(number), Layer::App));
            }
        }
        let mut program = Program::new(Arc::new(spec.clone()));
        let mut ids = BTreeMap::new();
        for step in 0..STEPS {
            // Something more is asked for from time to time, and loaded then.
            let asked = random.class();
            let asked = program.class_id(&asked);
            program.load(asked);
            let names = loaded(&program);
            let before = answers(&mut program, &names);
            assert_eq!(names, loaded(&program), "answers load nothing else");

            let named = edit(&mut spec, random);
            let delta = program.diff(Arc::new(spec.clone()), &named);
            assert_eq!(
                before,
                answers(&mut program, &names),
                "seed {seed} step {step}: a diff changes nothing"
            );
            program.commit(&delta);

            let mut fresh = Program::new(Arc::new(spec.clone()));
            let names_after = loaded(&program);
            let after = answers(&mut program, &names_after);
            let expected = answers(&mut fresh, &names_after);
            assert_alike(&after, &expected, &format!("seed {seed} step {step}: {named:?}"));
            states += 1;

            let changed: BTreeSet<String> = delta
                .classes
                .iter()
                .map(|change| change.class)
                .chain(delta.bodies.iter().map(|change| program.method(change.method).class))
                .map(|class| program.names[program.class(class).name].to_owned())
                .collect();
            for name in &names {
                let (old, new) = (meaning(&before.0[name]), meaning(&after.0[name]));
                let is_changed = changed.contains(name);
                assert!(
                    is_changed || old == new,
                    "seed {seed} step {step}: {name} changed, unsaid\n{old:?}\n{new:?}"
                );
                assert!(!is_changed || old != new, "seed {seed} step {step}: {name} did not change\n{old:?}");
            }
            for name in &names_after {
                let class = program.class_id(name);
                for &method in &program.class(class).methods {
                    let selector = program.method(method).selector;
                    let known = *ids.entry(MethodRef { class, selector }).or_insert(method);
                    assert_eq!(known, method, "ids stay");
                }
            }
        }
    }
    println!("{states} states compared");
}
