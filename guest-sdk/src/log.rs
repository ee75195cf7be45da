//! Log lines, which the host shows with the bolt's name.
//!
//! In: a format string, by [`info!`](crate::info) and its like. Out: one line at the host, whose rate is limited.

pub use crate::bindings::anchorbolt::bolt::logging::Level;
use crate::host::logging;

/// Writes one line.
pub fn log(level: Level, message: &str) {
    logging::log(level, message);
}

macro_rules! levels {
    ($d:tt $($name:ident $level:ident $what:literal)*) => {$(
        #[doc = concat!("Logs ", $what, "; takes what `format!` takes.")]
        #[macro_export]
        macro_rules! $name {
            ($d($d arg:tt)+) => {
                $crate::log::log($crate::log::Level::$level, &::std::format!($d($d arg)+))
            };
        }
    )*};
}

levels! { $
    trace Trace "each small step"
    debug Debug "what helps to find a fault"
    info Info "what an operator wants to know"
    warn Warn "what may need attention"
    error Error "what needs attention"
}
