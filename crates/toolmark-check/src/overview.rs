//! Sessions added up for those who answer for a team: faults per 100 calls and
//! per session, how many sessions have any, and what failed and repeated calls
//! cost; in total, and by model, agent, project and week.

use crate::profile::{SessionProfile, Spent};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The sum of some sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct Group<T> {
    /// What they have in common; `None` where the trace does not say.
    pub name: Option<T>,
    /// How many sessions.
    pub sessions: u64,
    /// How many of them have a fault.
    pub affected: u64,
    /// Findings that are errors or warnings.
    pub faults: u64,
    /// All calls.
    pub calls: Spent,
    /// Those known to have failed.
    pub failed: Spent,
    /// Those that looked again and saw the same.
    pub repeated: Spent,
}

impl<T> Group<T> {
    fn new(name: Option<T>) -> Self {
        let nothing = Spent::default();
        Self {
            name,
            sessions: 0,
            affected: 0,
            faults: 0,
            calls: nothing,
            failed: nothing,
            repeated: nothing,
        }
    }

    fn add<P>(&mut self, profile: &SessionProfile<P>) {
        self.sessions += 1;
        self.affected += u64::from(profile.faults > 0);
        self.faults += profile.faults;
        self.calls.merge(profile.calls);
        self.failed.merge(profile.failed);
        self.repeated.merge(profile.repeated);
    }

    /// Faults per 100 calls; `None` without a call.
    #[must_use]
    pub fn per_100_calls(&self) -> Option<f64> {
        let calls = self.calls.calls;
        (calls > 0).then(|| self.faults as f64 * 100.0 / calls as f64)
    }

    /// Faults per session; `None` without a session.
    #[must_use]
    pub fn per_session(&self) -> Option<f64> {
        (self.sessions > 0).then(|| self.faults as f64 / self.sessions as f64)
    }
}

impl<T: Serialize> Serialize for Group<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_struct("Group", 9)?;
        out.serialize_field("name", &self.name)?;
        out.serialize_field("sessions", &self.sessions)?;
        out.serialize_field("affected", &self.affected)?;
        out.serialize_field("faults", &self.faults)?;
        out.serialize_field("per_100_calls", &self.per_100_calls())?;
        out.serialize_field("per_session", &self.per_session())?;
        out.serialize_field("calls", &self.calls)?;
        out.serialize_field("failed", &self.failed)?;
        out.serialize_field("repeated", &self.repeated)?;
        out.end()
    }
}

/// All sessions, and the parts they fall into.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview<T> {
    /// All of them.
    pub total: Group<T>,
    /// By the (first) model.
    pub by_model: Vec<Group<T>>,
    /// By agent and version.
    pub by_agent: Vec<Group<T>>,
    /// By the directory the session works in.
    pub by_project: Vec<Group<T>>,
    /// By ISO week, the earliest first.
    pub by_week: Vec<Group<T>>,
}

impl<T: Ord + Clone> Overview<T> {
    /// The sum of these sessions.
    #[must_use]
    pub fn new(profiles: &[SessionProfile<T>]) -> Self {
        let mut total = Group::new(None);
        profiles.iter().for_each(|profile| total.add(profile));
        Self {
            total,
            by_model: most_faults_first(split(profiles, |p| p.model.clone())),
            by_agent: most_faults_first(split(profiles, |p| Some(p.agent.clone()))),
            by_project: most_faults_first(split(profiles, |p| p.project.clone())),
            by_week: split(profiles, |p| p.week.clone()),
        }
    }
}

/// Sessions with the same name together, in the order of names.
fn split<T: Ord + Clone>(
    profiles: &[SessionProfile<T>],
    name: impl Fn(&SessionProfile<T>) -> Option<T>,
) -> Vec<Group<T>> {
    let mut groups: BTreeMap<Option<T>, Group<T>> = BTreeMap::new();
    for profile in profiles {
        let name = name(profile);
        groups.entry(name.clone()).or_insert_with(|| Group::new(name)).add(profile);
    }
    groups.into_values().collect()
}

fn most_faults_first<T>(mut groups: Vec<Group<T>>) -> Vec<Group<T>> {
    groups.sort_by_key(|group| std::cmp::Reverse((group.faults, group.calls.calls)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Checker, notation};

    #[test]
    fn rates_have_their_denominators() {
        let read = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n";
        let of = |times: usize, model: &str| {
            let run = notation::parse(&read.repeat(times)).unwrap();
            let mut profile = Checker::default().check(&run).profiles.remove(0);
            profile.model = (!model.is_empty()).then(|| model.into());
            profile.redact(toolmark_outcome::Redactor::new(true))
        };
        let overview = Overview::new(&[of(4, "a"), of(1, "a"), of(1, "")]);
        let total = &overview.total;
        assert_eq!((total.sessions, total.affected), (3, 1));
        assert_eq!(total.calls.calls, 6);
        assert_eq!(total.per_100_calls(), Some(total.faults as f64 * 100.0 / 6.0));
        assert_eq!(total.per_session(), Some(total.faults as f64 / 3.0));
        let names: Vec<Option<&str>> =
            overview.by_model.iter().map(|group| group.name.as_deref()).collect();
        assert_eq!(names, [Some("a"), None], "what is unknown is a group of its own");
        assert_eq!(overview.by_model[1].per_100_calls(), Some(0.0));
        assert_eq!(Group::<String>::new(None).per_100_calls(), None);
    }
}
