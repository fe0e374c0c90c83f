//! Bytecode to SSA: blocks, abstract stack, phis.
