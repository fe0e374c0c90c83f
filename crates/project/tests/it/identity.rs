use crate::support::{class, opened, place};
use crate::watch_support::{version, watch};
use project::Project;

fn identity(project: &Project) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    project.identify(&mut |part| parts.push(part.to_vec()));
    parts
}

#[test]
fn a_program_is_the_same_wherever_it_lies_and_whenever_it_was_written() {
    let (one, two) = (place(), place());
    for place in [&one, &two] {
        place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
        place.jar("lib/l.jar", &[("lib/L.class", &class("lib/L")), ("META-INF/services/x", b"x")]);
        place.write("META-INF/services/a.Service", "a.A");
    }
    let first = identity(&opened(one.path("")));
    assert_eq!(first, identity(&opened(two.path(""))));
    assert_eq!(first, identity(watch(&[&two.path("")]).watched.project()));
}

#[test]
fn a_program_with_other_classes_or_services_is_another_one() {
    let place = place();
    place.classes(&[("a/A.class", "a/A"), ("b/B.class", "b/B")]);
    place.jar("lib/l.jar", &[("lib/L.class", &class("lib/L")), ("META-INF/services/x", b"x")]);
    let mut before = identity(&opened(place.path("")));
    let mut check = |what: &str| {
        let after = identity(&opened(place.path("")));
        assert_ne!(before, after, "{what}");
        before = after;
    };
    place.write("a/A.class", version("a/A", 1));
    check("an edited class");
    place.write("c/C.class", class("c/C"));
    check("a new class");
    place.write("META-INF/services/a.Service", "a.A");
    check("a new service");
    place.jar("lib/l.jar", &[("lib/L.class", &version("lib/L", 1)), ("META-INF/services/x", b"x")]);
    check("an edited class in a jar");
    place.jar("lib/l.jar", &[("lib/L.class", &version("lib/L", 1)), ("META-INF/services/x", b"y")]);
    check("an edited service in a jar");
    std::fs::remove_file(place.path("lib/l.jar")).unwrap();
    check("a jar removed");
}
