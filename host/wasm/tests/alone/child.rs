//! Compiling in a bounded child: the same code as in process, and a bomb that dies alone.

use anchorbolt_wasm::{ChildProcess, CompileError, Compiler, InProcess};
use std::time::Instant;

fn compiler() -> ChildProcess {
    ChildProcess { exe: std::env::current_exe().unwrap(), args: vec!["compile-child".into()] }
}

pub fn the_code_is_the_same() {
    let component = wat::parse_str("(component (core module (func (export \"f\"))))").unwrap();
    assert_eq!(compiler().compile(&component).unwrap(), InProcess.compile(&component).unwrap());
}

pub fn what_is_invalid_is_refused_with_the_compilers_text() {
    let module = wat::parse_str("(module)").unwrap();
    let expected = InProcess.compile(&module);
    assert!(matches!(expected, Err(CompileError::Refused(_))));
    assert_eq!(compiler().compile(&module), expected);
}

/// One loop with far more variables and ways back than compilers are made for: each way back hands over
/// each variable, so what the compiler keeps grows with their product.
pub fn a_bomb_dies_alone() {
    const VARIABLES: usize = 30_000;
    let mut body = String::new();
    for to in 0..VARIABLES {
        let from = to * 7 % VARIABLES;
        body.push_str(&format!("(local.set {to} (i32.add (local.get {from}) (i32.const {to})))"));
        body.push_str("(br_if $l (local.get 0))");
    }
    let locals = "(local i32)".repeat(VARIABLES);
    let bomb = format!("(component (core module (func {locals} (loop $l {body}))))");
    let bomb = wat::parse_str(bomb).unwrap();
    let start = Instant::now();
    let outcome = compiler().compile(&bomb).map(|code| code.len());
    println!("a bomb of {} bytes ended after {:?}: {outcome:?}", bomb.len(), start.elapsed());
    assert!(matches!(outcome, Err(CompileError::TooMuch(_))), "{outcome:?}");
}
