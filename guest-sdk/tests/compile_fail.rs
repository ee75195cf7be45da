//! What settles or uses a tuple twice does not compile.
//!
//! The texts beside the cases are the compiler's; `TRYBUILD=overwrite` writes them anew when it changes its mind.

#[test]
fn a_settled_tuple_is_gone() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
