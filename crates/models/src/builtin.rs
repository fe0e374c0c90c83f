//! The model files that ship with Snarl.

pub(crate) const FILES: &[(&str, &str)] = &[
    ("threads.toml", include_str!("../data/threads.toml")),
    ("locks.toml", include_str!("../data/locks.toml")),
    ("policy.toml", include_str!("../data/policy.toml")),
];
