//! Reads model files: TOML tables whose values are steps in the model language.
