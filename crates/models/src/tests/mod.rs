mod classes;
mod cycles;
mod inheritance;
mod jdk;
mod parsing;
mod policy;
