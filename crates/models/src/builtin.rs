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
];
