mod classes;
mod inheritance;
mod jdk;
mod parsing;
mod policy;
