//! Does nothing. It is named beside the binary when the demo is built, and beside the libraries when the
//! documentation is: with an example among its targets, cargo resolves the features of dependencies as it does
//! for tests, and so wasmtime is built once for all of them.

fn main() {}
