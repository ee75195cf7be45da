//! Storm's two Kafka spouts.
//!
//! In: a spout of `storm-kafka-client` or of the older `storm-kafka`, which keeps its offsets in ZooKeeper, as its beans put
//! it together. Out: [`Kafka`]: brokers, topics, group and what else decides where it reads. Invariant: what the file does
//! not say is not made up.

use super::beans::{Beans, scalar, texts};
use crate::model::{Bean, Vertex};
use crate::yaml::{Node, Value};
use serde_json::{Value as Json, json};

/// What a Kafka spout reads.
#[derive(Default)]
pub(super) struct Kafka {
    /// Keys of a manifest with what was found, in order.
    pub(super) found: Vec<(&'static str, Json)>,
    /// The fields that it emits, if the file tells.
    pub(super) fields: Option<Vec<String>>,
    /// Its offsets are in ZooKeeper.
    pub(super) zookeeper: bool,
}

/// What the default translator of `storm-kafka-client` emits.
const RECORD: [&str; 5] = ["topic", "partition", "offset", "key", "value"];

/// Whether it is one of the two.
pub(super) fn is_spout(class: &str) -> bool {
    matches!(class, "org.apache.storm.kafka.spout.KafkaSpout" | "org.apache.storm.kafka.KafkaSpout")
}

/// What the spout reads.
pub(super) fn kafka<'a>(spout: &'a Vertex, beans: &mut Beans<'a>) -> Kafka {
    if spout.bean.class() == "org.apache.storm.kafka.KafkaSpout" {
        return of_zookeeper(&spout.bean, beans);
    }
    let is_builder = |class: &str| {
        matches!(
            class,
            "org.apache.storm.kafka.spout.KafkaSpoutConfig$Builder"
                | "org.apache.storm.kafka.spout.KafkaSpoutConfig.Builder"
        )
    };
    match beans.find(&spout.bean, &is_builder) {
        Some(builder) => of_client(builder),
        None => Kafka::default(),
    }
}

fn of_client(builder: &Bean) -> Kafka {
    let mut kafka = Kafka::default();
    kafka.add_list("bootstrap", texts(builder.constructor_args.first()));
    let topics = texts(builder.constructor_args.get(1));
    // Further arguments are topics, too.
    let more = builder.constructor_args.iter().skip(2).flat_map(|node| texts(Some(node)));
    kafka.add_list("topics", topics.into_iter().chain(more).collect());
    for name in ["group.id", "auto.offset.reset", "client.id"] {
        let key = if name == "group.id" { "group" } else { name };
        kafka.add(key, client_property(builder, name));
    }
    let strategy = setting(builder, "firstPollOffsetStrategy");
    kafka.add("first-poll", strategy.map(word));
    let guarantee = setting(builder, "processingGuarantee");
    kafka.add("guarantee", guarantee.map(word));
    for (key, name) in
        [("commit-period-ms", "offsetCommitPeriodMs"), ("max-uncommitted", "maxUncommittedOffsets")]
    {
        kafka.add(key, setting(builder, name));
    }
    let translated = builder.properties.iter().any(|property| property.name == "recordTranslator");
    let translated = translated || builder.method("setRecordTranslator").is_some();
    kafka.fields = (!translated).then(|| RECORD.map(str::to_owned).to_vec());
    kafka
}

fn of_zookeeper<'a>(bean: &'a Bean, beans: &mut Beans<'a>) -> Kafka {
    let mut kafka = Kafka { zookeeper: true, ..Kafka::default() };
    let class = |suffix: &'static str| {
        move |class: &str| class.starts_with("org.apache.storm.kafka.") && class.ends_with(suffix)
    };
    if let Some(hosts) = beans.find(bean, &class(".ZkHosts")) {
        kafka.add("zookeeper", hosts.constructor_args.first().map(scalar));
    }
    let Some(config) = beans.find(bean, &class(".SpoutConfig")) else { return kafka };
    kafka.add_list("topics", texts(config.constructor_args.get(1)));
    for (i, key) in [(2, "zookeeper-root"), (3, "group")] {
        kafka.add(key, config.constructor_args.get(i).map(scalar));
    }
    for (key, name) in [
        ("start-offset-time", "startOffsetTime"),
        ("ignore-saved-offsets", "ignoreZkOffsets"),
        ("max-offset-behind", "maxOffsetBehind"),
    ] {
        kafka.add(key, setting(config, name));
    }
    let fields = match beans.find(config, &class("Scheme")).map(super::fields::short_class).as_deref() {
        None => Some("bytes"),
        Some("SchemeAsMultiScheme" | "StringScheme") => Some("str"),
        Some(_) => None,
    };
    kafka.fields = fields.map(|field| vec![field.to_owned()]);
    kafka
}

impl Kafka {
    fn add(&mut self, key: &'static str, value: Option<Json>) {
        self.found.extend(value.map(|value| (key, value)));
    }

    fn add_list(&mut self, key: &'static str, values: Vec<String>) {
        // Several hosts may stand in one text.
        let values: Vec<&str> = values.iter().flat_map(|value| value.split(',')).map(str::trim).collect();
        if !values.is_empty() {
            self.found.push((key, json!(values)));
        }
    }
}

/// `UNCOMMITTED_EARLIEST` as a manifest would write it.
fn word(value: Json) -> Json {
    json!(value.as_str().unwrap_or_default().to_lowercase().replace('_', "-"))
}

/// A property, or the argument of its setter.
fn setting(bean: &Bean, name: &str) -> Option<Json> {
    let property = bean.properties.iter().find(|property| property.name == name);
    if let Some(value) = property.and_then(|property| property.value.as_ref()) {
        return Some(scalar(value));
    }
    let mut letters = name.chars();
    let first = letters.next()?.to_ascii_uppercase();
    bean.method(&format!("set{first}{}", letters.as_str()))?.first().map(scalar)
}

/// A property of Kafka's own client: `setProp("group.id", "x")`, or with a map.
fn client_property(builder: &Bean, name: &str) -> Option<Json> {
    if name == "group.id"
        && let Some([group]) = builder.method("setGroupId")
    {
        return Some(scalar(group));
    }
    let calls = builder.methods.iter().filter(|method| method.name == "setProp");
    calls.rev().find_map(|method| match &method.args[..] {
        [key, value] if key.text() == Some(name) => Some(scalar(value)),
        [Node { value: Value::Map(_), .. }] => method.args.first()?.get(name).map(scalar),
        _ => None,
    })
}
