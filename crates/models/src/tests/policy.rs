//! How class patterns match, and what the shipped policy says of well-known classes.

use crate::policy::{Pattern, Policy};
use crate::registry::Models;

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    texts.iter().map(|text| Pattern::parse(text).expect(text)).collect()
}

#[test]
fn a_package_pattern_covers_what_is_below() {
    let policy = Policy { opaque: patterns(&["java.text."]), ..Policy::default() };
    assert!(policy.is_opaque("java/text/Format"));
    assert!(policy.is_opaque("java/text/spi/Provider"));
    assert!(!policy.is_opaque("java/textual/Format"));
}

#[test]
fn a_class_pattern_covers_nested_classes_only() {
    let policy = Policy { merged: patterns(&["java.lang.String"]), ..Policy::default() };
    assert!(policy.is_merged("java/lang/String"));
    assert!(policy.is_merged("java/lang/String$CaseInsensitiveComparator"));
    assert!(!policy.is_merged("java/lang/StringBuilder"));
}

#[test]
fn a_star_covers_whatever_begins_so() {
    let policy = Policy { containers: patterns(&["java.io.Object*"]), ..Policy::default() };
    assert!(policy.is_container("java/io/ObjectInputStream"));
    assert!(policy.is_container("java/io/Objects"));
    assert!(!policy.is_container("java/io/Reader"));
}

#[test]
fn the_longest_pattern_decides_what_is_opaque() {
    let policy = Policy {
        opaque: patterns(&["javax.swing.", "javax.swing.table.Cell"]),
        analysed: patterns(&["javax.swing.table."]),
        ..Policy::default()
    };
    assert!(policy.is_opaque("javax/swing/JButton"));
    assert!(!policy.is_opaque("javax/swing/table/TableModel"));
    assert!(policy.is_opaque("javax/swing/table/Cell"));
}

#[test]
fn nonsense_is_no_pattern() {
    for text in ["", "*", "a*b", "a b", "[I", "Lx;"] {
        assert_eq!(Pattern::parse(text), None, "{text}");
    }
}

#[test]
fn the_quiet_jdk_keeps_collections_and_leaves_out_infrastructure() {
    let models = Models::builtin();
    for class in
        ["java/util/HashMap", "java/util/concurrent/FutureTask", "java/io/Reader", "java/lang/Iterable"]
    {
        assert!(!models.quiet.is_opaque(class), "{class}");
    }
    for class in
        ["java/util/regex/Pattern", "sun/nio/ch/Net", "java/lang/invoke/VarHandle", "java/util/Locale"]
    {
        assert!(models.quiet.is_opaque(class), "{class}");
    }
    assert!(!models.full.is_opaque("java/util/regex/Pattern"));
    assert!(models.full.is_opaque("java/lang/invoke/VarHandle"));
    assert!(!models.full.is_opaque("com/acme/Anything") && !models.quiet.is_opaque("com/acme/Anything"));
}

#[test]
fn strings_are_merged_and_collections_are_containers() {
    let models = Models::builtin();
    for policy in [&models.quiet, &models.full] {
        assert!(policy.is_merged("java/lang/String"));
        assert!(policy.is_merged("java/lang/Integer"));
        assert!(!policy.is_merged("java/lang/Thread"));
        for class in ["java/util/ArrayList$Itr", "java/util/HashMap$Node", "java/util/Collections"] {
            assert!(policy.is_container(class), "{class}");
        }
        assert!(!policy.is_container("java/lang/Thread"));
        assert!(!policy.is_container("com/acme/List"));
    }
}
