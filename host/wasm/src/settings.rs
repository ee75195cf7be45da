//! What a bolt is run with: the manifest's limits and grants, in one value.
//!
//! Comes in from the plan, goes out to every part of this crate. It is plain data and never changes.

use anchorbolt_core::manifest::{Allow, Limits};
use std::path::PathBuf;

/// What one bolt of a topology is run with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The bolt's name, for texts.
    pub component: String,
    /// What a call may cost.
    pub limits: Limits,
    /// What the plugin may reach.
    pub allow: Allow,
    /// `config` of the manifest, as a JSON object.
    pub config_json: String,
    /// The folder that relative paths of `allow.dirs` start from: the manifest's.
    pub base: PathBuf,
}
