//! Conversations with the server, as editors hold them: over pipes, with a real compiler process.

mod building;
mod client;
mod figures;
mod findings;
mod robust;
