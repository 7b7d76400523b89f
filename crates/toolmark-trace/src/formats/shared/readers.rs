//! Readers that only differ in how they process a record.

use crate::builder::TrajectoryBuilder;
use crate::format::{Format, Out, Reader, Record};
use crate::model::Text;
use toolmark_scan::Value;

/// Creates a reader of files in which every record is independent.
pub(crate) fn each_record(read: fn(&Record<'_>, &mut Out)) -> Box<dyn Reader> {
    struct EachRecord(fn(&Record<'_>, &mut Out));

    impl Reader for EachRecord {
        fn record(&mut self, record: &Record<'_>, out: &mut Out) {
            self.0(record, out);
        }

        fn spans_records(&self) -> bool {
            false
        }
    }

    Box::new(EachRecord(read))
}

/// State of a reader of a file that holds one run.
pub(crate) trait OneRun: Default + Send + 'static {
    /// Reads one record, which is an object.
    fn record(&mut self, b: &mut TrajectoryBuilder, record: &Record<'_>, value: Value<'_>);

    /// Called at the end of the file.
    fn finish(&mut self, b: &mut TrajectoryBuilder) {
        let _ = b;
    }
}

/// Creates a reader of files that hold one run and whose records are objects; `what` describes
/// a record (`"a session line"`).
pub(crate) fn one_run<R: OneRun>(
    format: &'static dyn Format,
    agent: &'static str,
    what: &'static str,
) -> Box<dyn Reader> {
    struct OneRunReader<R> {
        format: &'static dyn Format,
        agent: &'static str,
        what: &'static str,
        /// The run and the reader's state, set at the first record.
        open: Option<(TrajectoryBuilder, R)>,
    }

    impl<R: OneRun> Reader for OneRunReader<R> {
        fn record(&mut self, record: &Record<'_>, out: &mut Out) {
            let Some(value) = out.object(record, self.what) else { return };
            let (b, run) = self.open.get_or_insert_with(|| {
                let mut b = out.builder(self.format);
                b.run.agent.name = Some(Text::owned(self.agent));
                (b, R::default())
            });
            run.record(b, record, value);
        }

        fn finish(&mut self, out: &mut Out) {
            if let Some((mut b, mut run)) = self.open.take() {
                run.finish(&mut b);
                out.push(b.finish());
            }
        }
    }

    Box::new(OneRunReader::<R> { format, agent, what, open: None })
}
