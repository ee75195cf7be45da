//! Golden tests of the manifest: what each mistake says, and what a plan is made of.
//!
//! `invalid/NAME.toml` has its diagnostics in `NAME.err`, `valid/NAME.toml` its plan in `NAME.plan`.
//! `BLESS=1 cargo test -p anchorbolt-core --test manifest` writes them anew: read the difference.
//!
//! Comments at the top of a case say what surrounds it:
//! `#set PATH=VALUE`, `#env NAME=VALUE`, `#declare BOLT STREAM(field,field)..` (`!STREAM` is direct, `-` is
//! no stream), `#stateless BOLT`. A bolt whose plugin is `split.wasm` or `count.wasm` declares what the
//! example plugins do; any other plugin counts as one that did not load.

#![allow(clippy::unwrap_used, reason = "a test that can not go on says where by panicking")]
#![allow(clippy::disallowed_methods, reason = "tests read files and the environment; the core does not")]

mod behaviour;
mod golden;
mod hostile;
mod surround;
