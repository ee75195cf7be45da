//! The codes that only an import has. Where a mistake is one of a manifest too (a wrong type, an unknown component),
//! it has the manifest's code, from [`anchorbolt_core::manifest::codes`].

/// The text is not YAML.
pub const SYNTAX: &str = "AB501";
/// More than an import takes: bytes, values, nesting, included files.
pub const TOO_LARGE: &str = "AB502";
/// A file that is included can't be read.
pub const INCLUDE: &str = "AB503";
/// `${..}` stands for nothing.
pub const NO_PROPERTY: &str = "AB504";
/// The topology is made by Java code, not by the file.
pub const MADE_BY_JAVA: &str = "AB505";
/// Not an error: something that has no counterpart, or whose meaning only a person can carry over.
pub const NEEDS_HAND: &str = "AB510";
/// Not an error, and nothing to do: something is done otherwise here than in Storm.
pub const DIFFERS: &str = "AB511";

/// All of them in rising order, each with what it means.
pub const ALL: &[(&str, &str)] = &[
    (SYNTAX, "the Flux file is not valid YAML at this place"),
    (TOO_LARGE, "the Flux file has more bytes, values, levels or includes than an import takes"),
    (INCLUDE, "a file that the Flux file includes can't be read"),
    (NO_PROPERTY, "`${..}` names neither a property nor a variable that is set"),
    (MADE_BY_JAVA, "a Java class makes the topology (`topologySource`): the file does not say what it is"),
    (NEEDS_HAND, "a part of the Flux file that needs a hand"),
    (DIFFERS, "a part of the Flux file that is done otherwise here; nothing to do"),
];
