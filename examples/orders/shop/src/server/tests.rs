//! The server as its clients see it.

use super::*;
use orders_http::Client;
use serde_json::Value;
use std::time::Instant;
use tempfile::TempDir;

const TIMEOUT: Duration = Duration::from_secs(5);

fn server(settings: Settings) -> (Server, Client, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(settings, &folder.path().join("charges.jsonl")).unwrap();
    let client = Client::new(&server.address(), TIMEOUT).unwrap();
    (server, client, folder)
}

fn charge(client: &mut Client, id: &str, key: Option<&str>) -> Result<u16, String> {
    let headers: Vec<(&str, &str)> = key.map(|key| ("Idempotency-Key", key)).into_iter().collect();
    let body = format!(r#"{{"order_id":"{id}","user_id":"u-1","amount":1.5}}"#);
    client.post("/charge", &headers, &body).map(|answer| answer.status).map_err(|error| error.to_string())
}

fn lines(folder: &TempDir) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.path().join("charges.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_charge_is_in_the_file_when_it_is_answered() {
    let (server, mut client, folder) = server(Settings::default());
    assert_eq!(charge(&mut client, "o-1", Some("o-1")), Ok(200));
    assert_eq!(
        (lines(&folder)[0]["order_id"].as_str(), lines(&folder)[0]["amount"].as_f64()),
        (Some("o-1"), Some(1.5))
    );
    assert_eq!(charge(&mut client, "o-1", Some("o-1")), Ok(200));
    assert_eq!(lines(&folder).len(), 1);
    assert_eq!(charge(&mut client, "o-1", None), Ok(200));
    assert_eq!(lines(&folder).len(), 2);
    let Counts { connections, charges, known_keys, .. } = server.counts();
    assert_eq!((connections, charges, known_keys), (1, 2, 1));
}

#[test]
fn a_request_that_makes_no_sense_is_refused() {
    let (_server, mut client, folder) = server(Settings::default());
    let mut ask = |path: &str, body: &str| client.post(path, &[], body).unwrap().status;
    assert_eq!(
        (ask("/charge", "{"), ask("/charge", "{\"order_id\":1}"), ask("/notify", "{}")),
        (400, 400, 400)
    );
    assert_eq!((ask("/other", ""), ask("/notify", r#"{"order_id":"o","fate":"SUCCESS"}"#)), (404, 200));
    assert_eq!(ask("/charge", r#"{"order_id":"o","amount":900.01}"#), 402);
    assert!(lines(&folder).is_empty());
}

#[test]
fn a_request_that_fails_is_refused_or_its_answer_is_lost() {
    let (server, mut client, folder) = server(Settings { fail_rate: 1.0, ..Settings::default() });
    let answers: Vec<_> = (0..100).map(|n| charge(&mut client, &format!("o-{n}"), None)).collect();
    let refused = answers.iter().filter(|answer| **answer == Ok(503)).count();
    let lost = answers.iter().filter(|answer| answer.is_err()).count();
    assert!(refused > 20 && lost > 20 && refused + lost == 100, "{answers:?}");
    assert_eq!((lines(&folder).len(), server.counts().failed), (lost, 100));
}

#[test]
fn an_outage_closes_and_refuses_connections_until_it_is_over() {
    let (server, mut client, _folder) = server(Settings::default());
    assert_eq!(charge(&mut client, "o-1", None), Ok(200));
    server.outage(Duration::from_millis(300));
    let began = Instant::now();
    let mut refused = 0;
    while charge(&mut client, "o-2", None).is_err() {
        refused += 1;
        assert!(began.elapsed() < TIMEOUT, "it is up again");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(refused > 1 && began.elapsed() >= Duration::from_millis(290));
}

#[test]
fn an_outage_begins_by_itself_and_a_stop_ends_it() {
    let outage = Some(Outage { after: Duration::ZERO, length: Duration::from_secs(3600) });
    let (server, mut client, _folder) = server(Settings { outage, ..Settings::default() });
    let began = Instant::now();
    while charge(&mut client, "o-1", None).is_ok() {
        assert!(began.elapsed() < TIMEOUT, "it is down");
    }
    server.stop();
    assert_eq!(server.wait(), Ok(()));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (server, _, folder) = server(Settings::default());
    let settings = Settings { port: server.port(), ..Settings::default() };
    let error = Server::start(settings, &folder.path().join("other.jsonl")).unwrap_err();
    assert!(error.starts_with(&format!("can't listen on {}: ", server.address())), "{error}");
}
