//! Sums over sessions for people who are responsible for a team: faults per 100 calls and per
//! session, the number of affected sessions, and the cost of failed and repeated calls; in
//! total and by model, agent, project and week.

use crate::profile::{CallCost, SessionProfile};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use toolmark_base::SortedMap;
use toolmark_outcome::{Printable, Redactor, Untrusted};

/// Sums over a group of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct OverviewGroup<T> {
    /// Common attribute of the sessions; `None` if the trace does not record it.
    pub name: Option<T>,
    /// Number of sessions.
    pub sessions: u64,
    /// Number of sessions with a fault.
    pub affected: u64,
    /// Number of findings that are errors or warnings.
    pub faults: u64,
    /// All calls.
    pub calls: CallCost,
    /// Calls that are known to have failed.
    pub failed: CallCost,
    /// Calls that looked again and got the same result.
    pub repeated: CallCost,
}

impl<T> OverviewGroup<T> {
    fn new(name: Option<T>) -> Self {
        let nothing = CallCost::default();
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

    fn merge<O>(&mut self, other: &OverviewGroup<O>) {
        self.sessions += other.sessions;
        self.affected += other.affected;
        self.faults += other.faults;
        self.calls.merge(other.calls);
        self.failed.merge(other.failed);
        self.repeated.merge(other.repeated);
    }

    fn add<P>(&mut self, profile: &SessionProfile<P>) {
        self.sessions += 1;
        self.affected += u64::from(profile.faults > 0);
        self.faults += profile.faults;
        self.calls.merge(profile.calls);
        self.failed.merge(profile.failed);
        self.repeated.merge(profile.repeated);
    }

    /// Returns the number of faults per 100 calls; `None` without a call.
    #[must_use]
    pub fn per_100_calls(&self) -> Option<f64> {
        let calls = self.calls.calls;
        (calls > 0).then(|| self.faults as f64 * 100.0 / calls as f64)
    }

    /// Returns the number of faults per session; `None` without a session.
    #[must_use]
    pub fn per_session(&self) -> Option<f64> {
        (self.sessions > 0).then(|| self.faults as f64 / self.sessions as f64)
    }
}

impl<T: Serialize> Serialize for OverviewGroup<T> {
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

/// All sessions, in total and by group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview<T> {
    /// All sessions.
    pub total: OverviewGroup<T>,
    /// Groups by the (first) model.
    pub by_model: Vec<OverviewGroup<T>>,
    /// Groups by agent and version.
    pub by_agent: Vec<OverviewGroup<T>>,
    /// Groups by the working directory of the session.
    pub by_project: Vec<OverviewGroup<T>>,
    /// Groups by ISO week, earliest first.
    pub by_week: Vec<OverviewGroup<T>>,
}

/// Incremental sums over sessions that are not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct OverviewSums<T: Ord = Untrusted> {
    total: OverviewGroup<T>,
    by_model: Groups<T>,
    by_agent: Groups<T>,
    by_project: Groups<T>,
    by_week: Groups<T>,
}

/// Groups of sessions by a common attribute.
type Groups<T> = SortedMap<Option<T>, OverviewGroup<T>>;

impl<T: Ord> Default for OverviewSums<T> {
    fn default() -> Self {
        Self {
            total: OverviewGroup::new(None),
            by_model: Groups::new(),
            by_agent: Groups::new(),
            by_project: Groups::new(),
            by_week: Groups::new(),
        }
    }
}

impl<T: Ord + Clone> OverviewSums<T> {
    /// Returns the sums of these sessions.
    #[must_use]
    pub fn of(profiles: &[SessionProfile<T>]) -> Self {
        let mut sums = Self::default();
        profiles.iter().for_each(|profile| sums.add(profile));
        sums
    }

    /// Adds a session.
    pub fn add(&mut self, profile: &SessionProfile<T>) {
        self.total.add(profile);
        group(&mut self.by_model, &profile.model).add(profile);
        group(&mut self.by_agent, &Some(profile.agent.clone())).add(profile);
        group(&mut self.by_project, &profile.project).add(profile);
        group(&mut self.by_week, &profile.week).add(profile);
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: Self) {
        self.total.merge(&other.total);
        for (groups, others) in [
            (&mut self.by_model, other.by_model),
            (&mut self.by_agent, other.by_agent),
            (&mut self.by_project, other.by_project),
            (&mut self.by_week, other.by_week),
        ] {
            others.into_iter().for_each(|(name, sum)| group(groups, &name).merge(&sum));
        }
    }

    /// Returns the overview.
    #[must_use]
    pub fn overview(&self) -> Overview<T> {
        let all = |groups: &Groups<T>| groups.values().cloned().collect();
        Overview {
            total: self.total.clone(),
            by_model: most_faults_first(all(&self.by_model)),
            by_agent: most_faults_first(all(&self.by_agent)),
            by_project: most_faults_first(all(&self.by_project)),
            by_week: all(&self.by_week),
        }
    }
}

impl OverviewSums {
    /// Returns the printable sums. Groups whose names become equal are merged.
    #[must_use]
    pub fn redact(self, redactor: Redactor) -> OverviewSums<Printable> {
        let all = |groups: Groups<Untrusted>| {
            let mut redacted = Groups::new();
            for (name, sum) in groups {
                let name = name.map(|name| redactor.apply(name));
                group(&mut redacted, &name).merge(&sum);
            }
            redacted
        };
        let mut total = OverviewGroup::new(None);
        total.merge(&self.total);
        OverviewSums {
            total,
            by_model: all(self.by_model),
            by_agent: all(self.by_agent),
            by_project: all(self.by_project),
            by_week: all(self.by_week),
        }
    }
}

/// Returns the group with this name.
fn group<'g, T: Ord + Clone>(
    groups: &'g mut Groups<T>,
    name: &Option<T>,
) -> &'g mut OverviewGroup<T> {
    groups.entry(name.clone()).or_insert_with(|| OverviewGroup::new(name.clone()))
}

fn most_faults_first<T>(mut groups: Vec<OverviewGroup<T>>) -> Vec<OverviewGroup<T>> {
    groups.sort_by_key(|group| std::cmp::Reverse((group.faults, group.calls.calls)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checker;
    use toolmark_session::notation;

    #[test]
    fn rates_have_their_denominators() {
        let read = "Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n";
        let of = |times: usize, model: &str| {
            let run = notation::parse(&read.repeat(times)).unwrap();
            let mut profile = Checker::default().check(&run).profiles.remove(0);
            profile.model = (!model.is_empty()).then(|| model.into());
            profile.redact(Redactor::new(true))
        };
        let overview = OverviewSums::of(&[of(4, "a"), of(1, "a"), of(1, "")]).overview();
        let total = &overview.total;
        assert_eq!((total.sessions, total.affected), (3, 1));
        assert_eq!(total.calls.calls, 6);
        assert_eq!(total.per_100_calls(), Some(total.faults as f64 * 100.0 / 6.0));
        assert_eq!(total.per_session(), Some(total.faults as f64 / 3.0));
        let names: Vec<Option<&str>> =
            overview.by_model.iter().map(|group| group.name.as_deref()).collect();
        assert_eq!(names, [Some("a"), None], "what is unknown is a group of its own");
        assert_eq!(overview.by_model[1].per_100_calls(), Some(0.0));
        assert_eq!(OverviewGroup::<String>::new(None).per_100_calls(), None);
    }
}
