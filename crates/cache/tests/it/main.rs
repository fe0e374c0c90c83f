//! The crate from outside: what is kept and forgotten, and what happens to it when disks, processes and people
//! do their worst.

mod damage;
mod keep;
mod kill;
mod places;
mod support;
