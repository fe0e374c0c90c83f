//! Classes written byte by byte: what compilers seldom or never produce.

mod builder;
mod instructions;
mod structure;
