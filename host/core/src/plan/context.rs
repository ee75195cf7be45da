//! What a task is told of its place, read off a [`Plan`].

use super::model::{Component, Plan, Role};
use crate::ids::TaskId;
use crate::port::{Context, ContextInput, ContextOutput};

impl Plan {
    /// The context of a component's task (counted from 0); none when there is no such task.
    pub fn context(&self, component: usize, task_index: u32) -> Option<Context> {
        let own = self.components.get(component)?;
        let task = own.tasks.start.checked_add(task_index).filter(|task| own.tasks.contains(task))?;
        Some(Context {
            topology: self.topology.name.clone(),
            component: own.name.clone(),
            task_index,
            task,
            task_count: own.task_count(),
            inputs: own.inputs.iter().filter_map(|edge| self.context_input(*edge)).collect(),
            outputs: self.context_outputs(own),
            config: match &own.role {
                Role::Bolt(bolt) => bolt.config.to_string(),
                Role::Spout(_) => "{}".to_owned(),
            },
        })
    }

    /// A component by its name.
    pub fn component(&self, name: &str) -> Option<(usize, &Component)> {
        let i = self.components.binary_search_by(|component| component.name.as_str().cmp(name)).ok()?;
        Some((i, self.components.get(i)?))
    }

    /// The component that a task belongs to.
    pub fn component_of(&self, task: TaskId) -> Option<usize> {
        let i = self.components.partition_point(|component| component.tasks.end <= task);
        self.components.get(i).filter(|component| component.tasks.contains(&task)).map(|_| i)
    }

    fn context_input(&self, edge: usize) -> Option<ContextInput> {
        let edge = self.edges.get(edge)?;
        let from = self.components.get(edge.from)?;
        let output = from.outputs.get(edge.output)?;
        Some(ContextInput {
            component: from.name.clone(),
            stream: output.name.clone(),
            fields: output.fields.clone(),
            tasks: from.tasks.clone().collect(),
        })
    }

    fn context_outputs(&self, own: &Component) -> Vec<ContextOutput> {
        let consumer = |edge: &usize| {
            let to = self.components.get(self.edges.get(*edge)?.to)?;
            Some((to.name.clone(), to.tasks.clone().collect()))
        };
        let outputs = own.outputs.iter().map(|output| ContextOutput {
            stream: output.name.clone(),
            consumers: output.consumers.iter().filter_map(consumer).collect(),
        });
        outputs.collect()
    }
}

impl Component {
    /// How many tasks it has.
    pub fn task_count(&self) -> u32 {
        self.tasks.end.saturating_sub(self.tasks.start)
    }
}
