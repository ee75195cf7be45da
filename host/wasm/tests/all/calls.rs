//! What a call that ends well leaves behind.

use crate::support::*;
use anchorbolt_core::port::{
    Call, CallError, Context, ContextInput, ContextOutput, FailKind, InstanceFactory, Op,
};

#[test]
fn a_plugin_says_what_it_is() {
    let probe = Probe::new();
    let declaration = probe.factory.declaration();
    assert!(declaration.stateless);
    assert_eq!(declaration.outputs[0].fields, ["text"]);
    assert_eq!(probe.factory.sha256().unwrap().len(), 64);
    let settings =
        anchorbolt_wasm::Settings { config_json: "declare:err not like this".into(), ..settings() };
    let refused = plugin().declare(&settings);
    assert_eq!(refused, Err(CallError::Declared("not like this".into())));
}

#[test]
fn prepare_gets_the_whole_context() {
    let context = Context {
        topology: "t".into(),
        component: "c".into(),
        task_index: 1,
        task: 9,
        task_count: 3,
        inputs: vec![ContextInput {
            component: "lines".into(),
            stream: "default".into(),
            fields: vec!["line".into()],
            tasks: vec![4, 5],
        }],
        outputs: vec![ContextOutput { stream: "default".into(), consumers: vec![("sink".into(), vec![10])] }],
        config: "show".into(),
    };
    let Err(CallError::Declared(shown)) = Probe::new().instance.prepare(&context) else { panic!("no error") };
    for part in ["topology: \"t\"", "task-id: 9", "task-count: 3", "\"lines\"", "[4, 5]", "\"sink\"", "[10]"]
    {
        assert!(shown.contains(part) || shown.contains(&part.replace('-', "_")), "{part} is not in {shown}");
    }
}

#[test]
fn the_log_keeps_the_order_of_the_calls() {
    let log = Probe::new().batch("order", 2).unwrap();
    let [Op::Ack(acked), Op::Emit(rows), Op::ResetTimeout(reset), Op::ReportError(text)] = &log[..] else {
        panic!("{log:?}")
    };
    assert_eq!((&acked[..], &reset[..], text.as_str()), (&[1, 2][..], &[1, 2][..], "look"));
    assert_eq!((&rows.offsets[..], &rows.data[..]), (&[0, 5][..], &b"after"[..]));
}

#[test]
fn failures_come_with_kind_and_cleaned_reason() {
    let log = Probe::new().batch("fail", 3).unwrap();
    let expected = [
        (1, FailKind::Retry, "no 1".to_owned()),
        (2, FailKind::Reject, "no 2".to_owned()),
        (3, FailKind::Fail, "no 3".to_owned()),
    ];
    assert_eq!(log, [Op::Fail(expected.to_vec())]);
}

#[test]
fn the_columns_come_back_and_an_empty_batch_is_fine() {
    let mut probe = Probe::new();
    let before = tuples("ack", 5);
    let mut lent = before.clone();
    let mut call = Call::default();
    probe.instance.execute(&mut lent, &mut call).unwrap();
    assert_eq!(lent, before);
    assert_eq!(call.log, [Op::Ack(vec![1, 2, 3, 4, 5])]);
    assert_eq!(probe.batch("", 0).unwrap(), []);
    let mut lent = before.clone();
    lent.data = b"panic".to_vec();
    lent.offsets = vec![0, 5, 5, 5, 5, 5];
    let dies = lent.clone();
    assert!(probe.instance.execute(&mut lent, &mut call).is_err());
    assert_eq!(lent, dies, "also after a death");
}

#[test]
fn a_declared_error_keeps_what_was_settled_and_the_instance() {
    let mut probe = Probe::new();
    assert_eq!(probe.run("err bad \u{1b}[1mday"), Err(CallError::Declared("bad day".into())));
    assert_eq!(probe.run("ack").unwrap(), [Op::Ack(vec![1])]);
}

#[test]
fn services_answer_during_the_call() {
    let mut probe = Probe::new();
    let log = probe.run("placed").unwrap();
    let Op::EmitPlaced(rows, targets) = &log[0] else { panic!("{log:?}") };
    assert_eq!((rows.streams.len(), &targets[..]), (2, &[vec![7, 8], vec![7, 8]][..]));
    assert_eq!(probe.ask("placed"), "[[7, 8], [7, 8]]");
    assert!(
        probe.ask("describe").contains("source_task: 1") || probe.ask("describe").contains("source-task: 1")
    );
}

#[test]
fn tick_flush_and_cleanup_are_calls_too() {
    let mut probe = Probe::new();
    probe.prepare("tick:emit").unwrap();
    let mut call = Call::default();
    probe.instance.tick(&mut call).unwrap();
    assert!(matches!(call.log[..], [Op::Emit(_)]));
    call.log.clear();
    probe.instance.flush(&mut call).unwrap();
    assert_eq!(call.log, []);
    probe.instance.cleanup().unwrap();
}
