//! The model files that ship with Snarl.

pub(crate) const FILES: &[(&str, &str)] = &[
    ("policy.toml", include_str!("../data/policy.toml")),
    ("threads.toml", include_str!("../data/threads.toml")),
    ("executors.toml", include_str!("../data/executors.toml")),
    ("futures.toml", include_str!("../data/futures.toml")),
    ("jdk21.toml", include_str!("../data/jdk21.toml")),
    ("jdk25.toml", include_str!("../data/jdk25.toml")),
    ("locks.toml", include_str!("../data/locks.toml")),
    ("order.toml", include_str!("../data/order.toml")),
    ("streams.toml", include_str!("../data/streams.toml")),
    ("views.toml", include_str!("../data/views.toml")),
    ("containers.toml", include_str!("../data/containers.toml")),
    ("collections.toml", include_str!("../data/collections.toml")),
    ("concurrent.toml", include_str!("../data/concurrent.toml")),
    ("factories.toml", include_str!("../data/factories.toml")),
    ("atomics.toml", include_str!("../data/atomics.toml")),
    ("natives.toml", include_str!("../data/natives.toml")),
    ("text.toml", include_str!("../data/text.toml")),
    ("swing.toml", include_str!("../data/swing.toml")),
    ("sql.toml", include_str!("../data/sql.toml")),
];
