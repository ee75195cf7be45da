//! What an instance takes of the host beside its memories and tables: its functions, globals and element segments.
//!
//! The bytes of a valid component go in; an upper bound in bytes comes out, for all core instances that one instance of
//! the component is made of. Wasmtime lays these out for each core instance and asks nobody, so a small file could
//! have a gigabyte of them.

use crate::limits::INSTANCES_MAX;
use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind, ComponentTypeRef,
    Element, ElementItems, Encoding, Instance, Parser, Payload, Result,
};

/// The most that an instance may take beside its memories and tables. Python's libraries come to a few MiB.
pub(crate) const INSTANCE_BYTES_MAX: u64 = 16 << 20;

/// Bytes of a function, a global, an import, or an item of an element segment: the largest of what wasmtime has for them.
const ENTITY_BYTES: u64 = 32;

/// A module or component that is being read.
#[derive(Default)]
struct Part {
    /// Bytes of an instance of it.
    bytes: u64,
    /// Of its modules, by index.
    modules: Vec<u64>,
    /// Of its components, by index.
    components: Vec<u64>,
    /// Indexes of modules or components may be of something that comes from elsewhere.
    borrows: bool,
}

impl Part {
    fn count(&mut self, entities: u32) {
        self.bytes = self.bytes.saturating_add(u64::from(entities) * ENTITY_BYTES);
    }

    /// An instance of one of its parts; of something from elsewhere that may be anything.
    fn instantiate(&mut self, parts: impl Fn(&Part) -> &Vec<u64>, index: u32) {
        let known = parts(self).get(index as usize).filter(|_| !self.borrows);
        self.bytes = self.bytes.saturating_add(known.copied().unwrap_or(u64::MAX));
    }

    /// Takes a section in.
    fn read(&mut self, section: Payload<'_>) -> Result<()> {
        match section {
            Payload::ImportSection(reader) => self.count(reader.count()),
            Payload::FunctionSection(reader) => self.count(reader.count()),
            Payload::TableSection(reader) => self.count(reader.count()),
            Payload::MemorySection(reader) => self.count(reader.count()),
            Payload::TagSection(reader) => self.count(reader.count()),
            Payload::GlobalSection(reader) => self.count(reader.count()),
            Payload::ElementSection(reader) => {
                for element in reader {
                    self.count(items(&element?));
                }
            }
            Payload::DataSection(reader) => self.count(reader.count()),
            Payload::ComponentCanonicalSection(reader) => self.count(reader.count()),
            Payload::InstanceSection(reader) => {
                for instance in reader {
                    if let Instance::Instantiate { module_index, .. } = instance? {
                        self.instantiate(|part| &part.modules, module_index);
                    }
                }
            }
            Payload::ComponentInstanceSection(reader) => {
                for instance in reader {
                    if let ComponentInstance::Instantiate { component_index, .. } = instance? {
                        self.instantiate(|part| &part.components, component_index);
                    }
                }
            }
            Payload::ComponentAliasSection(reader) => {
                for alias in reader {
                    self.borrows |= is_of_parts(&alias?);
                }
            }
            Payload::ComponentImportSection(reader) => {
                for import in reader {
                    let ty = import?.ty;
                    self.borrows |=
                        matches!(ty, ComponentTypeRef::Module(_) | ComponentTypeRef::Component(_));
                }
            }
            // What is exported gets a further index.
            Payload::ComponentExportSection(reader) => {
                for export in reader {
                    self.borrows |= is_part(export?.kind);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn items(element: &Element<'_>) -> u32 {
    match &element.items {
        ElementItems::Functions(items) => items.count(),
        ElementItems::Expressions(_, items) => items.count(),
    }
}

fn is_part(kind: ComponentExternalKind) -> bool {
    matches!(kind, ComponentExternalKind::Module | ComponentExternalKind::Component)
}

fn is_of_parts(alias: &ComponentAlias<'_>) -> bool {
    match alias {
        ComponentAlias::InstanceExport { kind, .. } => is_part(*kind),
        ComponentAlias::CoreInstanceExport { .. } => false,
        ComponentAlias::Outer { kind, .. } => {
            matches!(kind, ComponentOuterAliasKind::CoreModule | ComponentOuterAliasKind::Component)
        }
    }
}

/// How many bytes an instance of this component takes beside its memories and tables, at most.
///
/// # Errors
/// The bytes are no component.
pub(crate) fn of(wasm: &[u8]) -> Result<u64> {
    let (mut open, mut largest, mut whole) = (Vec::<(Part, Encoding)>::new(), 0, 0);
    for payload in Parser::new(0).parse_all(wasm) {
        match payload? {
            Payload::Version { encoding, .. } => open.push((Part::default(), encoding)),
            Payload::End(_) => {
                let Some((part, encoding)) = open.pop() else { continue };
                whole = part.bytes;
                let parent = open.last_mut().map(|(parent, _)| parent);
                if encoding == Encoding::Module {
                    largest = part.bytes.max(largest);
                }
                match (parent, encoding) {
                    (Some(parent), Encoding::Module) => parent.modules.push(part.bytes),
                    (Some(parent), Encoding::Component) => parent.components.push(part.bytes),
                    (None, _) => {}
                }
            }
            section => {
                if let Some((part, _)) = open.last_mut() {
                    part.read(section)?;
                }
            }
        }
    }
    // There are no more instances than that, of whatever it is.
    Ok(whole.min(largest.saturating_mul(INSTANCES_MAX as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(wat: &str) -> u64 {
        of(&wat::parse_str(wat).expect("text")).expect("component")
    }

    /// A module of three entities.
    const THREE: &str = "(core module $m (func) (global i32 (i32.const 0)) (memory 1))";

    #[test]
    fn each_instance_counts_what_its_module_has() {
        assert_eq!(bytes("(component)"), 0);
        assert_eq!(bytes(&format!("(component {THREE})")), 0, "a module that nobody instantiates");
        let one = format!("(component {THREE} (core instance (instantiate $m)))");
        assert_eq!(bytes(&one), 3 * ENTITY_BYTES);
        let two =
            format!("(component {THREE} (core module) {})", "(core instance (instantiate $m))".repeat(2));
        assert_eq!(bytes(&two), 6 * ENTITY_BYTES);
        let lists = "(component (core module $m (func $f) (table 4 funcref) (elem declare func $f $f)
            (elem (i32.const 0) funcref (ref.func $f) (ref.null func))) (core instance (instantiate $m)))";
        assert_eq!(bytes(lists), 6 * ENTITY_BYTES);
    }

    #[test]
    fn components_in_components_multiply() {
        let mut inner = format!("{THREE} (core instance (instantiate $m))");
        for _ in 0..3 {
            inner = format!("(component $c {inner}) {}", "(instance (instantiate $c))".repeat(2));
        }
        assert_eq!(bytes(&format!("(component {inner})")), 8 * 3 * ENTITY_BYTES);
        for _ in 0..40 {
            inner = format!("(component $c {inner}) {}", "(instance (instantiate $c))".repeat(2));
        }
        assert_eq!(bytes(&format!("(component {inner})")), INSTANCES_MAX as u64 * 3 * ENTITY_BYTES);
    }

    /// Then an index may be of anything.
    #[test]
    fn a_module_from_elsewhere_counts_as_much_as_can_be() {
        let most = INSTANCES_MAX as u64 * 3 * ENTITY_BYTES;
        let alias = format!(
            "(component $o {THREE} (component $c (alias outer $o $m (core module $a)) (core module $small)
             (core instance (instantiate $a))) (instance (instantiate $c)))"
        );
        assert_eq!(bytes(&alias), most);
        let export = format!(
            "(component {THREE} (export $e \"m\" (core module $m)) (core instance (instantiate $e)))"
        );
        assert_eq!(bytes(&export), most);
    }
}
