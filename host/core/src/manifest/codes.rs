//! The stable codes of all mistakes in one table, each with one line that `explain` begins with.
//!
//! A code never changes its meaning and is never used again. AB1xx: the text and its values. AB2xx: what
//! one component or the topology says. AB3xx: how components fit together. AB4xx: a plugin does not load
//! (found by the host, which is where their tests are).
//!
//! No longer used: AB308 (a grouping that a version did not have yet).

/// One code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// `AB101`
    pub code: &'static str,
    /// What it means, in one line.
    pub summary: &'static str,
    /// Found by the host when it loads plugins, not by this crate.
    pub loading: bool,
}

macro_rules! codes {
    ($($name:ident = $code:literal, $summary:literal;)*) => {
        $(#[doc = $summary] pub const $name: &str = $code;)*

        /// All codes in rising order.
        pub const ALL: &[Entry] = &[$(Entry {
            code: $code,
            summary: $summary,
            loading: matches!($code.as_bytes(), [b'A', b'B', b'4', ..]),
        }),*];
    };
}

codes! {
    SYNTAX = "AB101", "the manifest is not valid TOML at this place";
    DUPLICATE_KEY = "AB102", "a key or table is written twice";
    UNKNOWN_KEY = "AB103", "a key that means nothing here";
    MISSING_KEY = "AB104", "a required key is missing";
    WRONG_TYPE = "AB105", "a value of the wrong type";
    OUT_OF_RANGE = "AB106", "a number, duration or size outside its range";
    NOT_A_DURATION = "AB107", "a text that is not a duration such as \"250ms\", \"30s\", \"5m\" or \"1h\"";
    NOT_A_SIZE = "AB108", "a text that is not a size such as \"64KiB\", \"64MiB\" or \"1GiB\"";
    UNKNOWN_WORD = "AB109", "a word that is not among those the key allows";
    BAD_NAME = "AB110", "a name that is not of the form `[a-z][a-z0-9_-]{0,63}`";
    RESERVED_NAME = "AB111", "a name that begins with `__`, which is reserved";
    VARIABLE_UNSET = "AB112", "`${NAME}` names an environment variable that is not set";
    BAD_VARIABLE = "AB113", "`${` that is not followed by a variable's name and `}`";
    BAD_OVERRIDE = "AB114", "a `--set` argument that is not of the form PATH=VALUE";
    UNKNOWN_OVERRIDE = "AB115", "a `--set` path that is not in the manifest's reach";
    EMPTY = "AB116", "an empty or unusable text, or an empty list, where something is needed";
    REPEATED = "AB117", "the same value twice in a list that needs distinct ones";

    NAME_TAKEN = "AB201", "two components of the same name; spouts and bolts share one namespace";
    PLUGIN_OR_KIND = "AB202", "a bolt needs either `plugin` or `kind`, not both";
    UNKNOWN_KIND = "AB203", "a kind of spout or sink that does not exist";
    LATER_KIND = "AB204", "a kind of spout or sink that this version does not have yet";
    KIND_MISPLACED = "AB205", "a kind of spout where a sink is needed, or the reverse";
    KEY_MISPLACED = "AB206", "a key that does not go with another one";
    TOO_FEW_TASKS = "AB207", "fewer tasks than executors";
    ONE_TASK_ONLY = "AB208", "a kind that runs as one executor with one task";
    DEADLINE_TOO_LONG = "AB209", "a deadline that is not below the message timeout";
    CONTRADICTION = "AB210", "two bounds that contradict each other";
    RECYCLE_STATEFUL = "AB211", "`recycle-at` on a bolt that is not stateless";
    BAD_SHA256 = "AB212", "a `sha256` that is not 64 hexadecimal digits";
    BAD_ADDRESS = "AB213", "a network address that is not of the form host:port";
    SPOUT_INPUT = "AB214", "a spout with inputs";
    NO_SPOUT = "AB215", "a topology without a spout";

    UNKNOWN_COMPONENT = "AB301", "an input from a component that does not exist";
    UNKNOWN_STREAM = "AB302", "an input from a stream that the component does not declare";
    UNKNOWN_FIELD = "AB303", "a grouping on a field that the stream lacks";
    NO_INPUT = "AB304", "a bolt without inputs";
    NOT_DIRECT = "AB305", "a direct grouping on a stream that is not declared direct";
    NEEDS_DIRECT = "AB306", "another grouping than direct on a direct stream";
    DUPLICATE_INPUT = "AB307", "the same input twice";
    BAD_STREAM_NAME = "AB309", "a component declares a stream under a name that is not allowed";
    BAD_FIELD_NAME = "AB310", "a component declares a field under a name that is not allowed";
    REPEATED_DECLARATION = "AB311", "a component declares a stream or field twice";
    TOO_MANY_DECLARED = "AB312", "a component declares more streams or fields than are allowed";
    TOO_MANY_TASKS = "AB313", "more tasks in the topology than can be numbered";
    UNREACHED = "AB314", "a bolt that no spout reaches";

    PLUGIN_MISSING = "AB401", "the plugin's file can't be read";
    PLUGIN_EMPTY = "AB402", "the plugin's file is empty";
    PLUGIN_CORE_MODULE = "AB403", "the plugin's file is a core WebAssembly module, not a component";
    PLUGIN_DAMAGED = "AB404", "the plugin's file is truncated, damaged or not WebAssembly";
    PLUGIN_VERSION = "AB405", "the plugin was built against another version of the bolt interface";
    PLUGIN_INTERFACE = "AB406", "the plugin needs an interface that the host does not have";
    PLUGIN_NOT_A_BOLT = "AB407", "the plugin's component is not what is needed: a bolt, or a grouping";
    PLUGIN_SHA256 = "AB408", "the plugin's file does not have the `sha256` of the manifest";
    PLUGIN_DECLARE = "AB409", "the plugin refuses its configuration, or dies while it declares itself or prepares to group";
    PLUGIN_LIMITS = "AB410", "the plugin needs more than its limits allow before it runs";
}

/// The entry of a code.
pub fn find(code: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.code.eq_ignore_ascii_case(code))
}
