//! The command as its user meets it: good input, wrong input, signals, full disks. Real processes, real files.

mod input;
mod loading;
mod output;
mod run;
mod signals;
