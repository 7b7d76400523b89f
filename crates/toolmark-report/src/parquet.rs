//! Parquet, for data frames and databases: the rows of CSV, with types.

use crate::table::{ColumnKind, RowTable, TableCell, TableRow, VERSION, cell_of};
use crate::{Report, ReportError, ReportOptions};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::{self, Write};
use std::sync::Arc;

/// Number of rows per row group, and maximum number of rows in memory.
const GROUP: usize = 32_768;

/// Number of values that are passed to a column writer at once. It equals the writer's own batch
/// size, so that the file does not depend on it.
const BATCH: usize = 1024;

pub(crate) fn write(
    report: &Report<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    write_table(RowTable::new(report, options)?, options, out)
}

pub(crate) fn write_table(
    table: RowTable<'_>,
    options: &ReportOptions,
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let mut writer = ParquetWriter::new(&table.name, &table.columns, options)?;
    for row in table.into_rows() {
        writer.push(row?, out)?;
    }
    writer.finish(out)
}

/// Writes rows as Parquet as they arrive.
pub struct ParquetWriter {
    columns: Vec<ParquetColumn>,
    /// Parquet writer with the bytes that are not passed on yet.
    file: SerializedFileWriter<Vec<u8>>,
    /// Number of rows in the current row group.
    rows: usize,
    has_group: bool,
}

impl ParquetWriter {
    /// Returns a writer for a table with this name and these columns.
    pub fn new(
        name: &str,
        columns: &[(&'static str, ColumnKind)],
        options: &ReportOptions,
    ) -> Result<Self, ReportError> {
        let file = open(name, columns, options).map_err(io::Error::other)?;
        let columns = columns.iter().map(|(name, kind)| ParquetColumn::new(name, *kind)).collect();
        Ok(Self { columns, file, rows: 0, has_group: false })
    }

    /// Adds a row, and writes complete row groups to `out`.
    pub fn push(&mut self, row: TableRow, out: &mut dyn Write) -> Result<(), ReportError> {
        for column in &mut self.columns {
            column.push(cell_of(&row, column.name));
        }
        self.rows += 1;
        if self.rows < GROUP {
            return Ok(());
        }
        self.end_group().map_err(io::Error::other)?;
        self.file.flush()?;
        Ok(out.write_all(&std::mem::take(self.file.inner_mut()))?)
    }

    /// Writes the remaining rows.
    pub fn finish(mut self, out: &mut dyn Write) -> Result<(), ReportError> {
        // A table without rows has a group too: some readers take the columns from it.
        if self.rows > 0 || !self.has_group {
            self.end_group().map_err(io::Error::other)?;
        }
        let rest = self.file.into_inner().map_err(io::Error::other)?;
        Ok(out.write_all(&rest)?)
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close()?;
        self.rows = 0;
        self.has_group = true;
        Ok(())
    }
}

/// The cells of a column: the known values, and for every row whether its value is known. Storing
/// rows would take several times the memory.
struct ParquetColumn {
    name: &'static str,
    levels: Vec<i16>,
    values: ColumnValues,
}

enum ColumnValues {
    /// The concatenated texts, and the end offset of each.
    Text(Vec<u8>, Vec<usize>),
    Whole(Vec<i64>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
}

impl ParquetColumn {
    fn new(name: &'static str, kind: ColumnKind) -> Self {
        let values = match kind {
            ColumnKind::Text => ColumnValues::Text(Vec::new(), Vec::new()),
            ColumnKind::Whole => ColumnValues::Whole(Vec::new()),
            ColumnKind::Real => ColumnValues::Real(Vec::new()),
            ColumnKind::Flag => ColumnValues::Flag(Vec::new()),
        };
        Self { name, levels: Vec::new(), values }
    }

    fn push(&mut self, cell: Option<&TableCell>) {
        let is_known = match (&mut self.values, cell) {
            (ColumnValues::Text(bytes, ends), Some(TableCell::Text(Some(text)))) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                true
            }
            (ColumnValues::Whole(values), Some(TableCell::Whole(Some(value)))) => {
                add(values, *value)
            }
            (ColumnValues::Real(values), Some(TableCell::Real(Some(value)))) => add(values, *value),
            (ColumnValues::Flag(values), Some(TableCell::Flag(Some(value)))) => add(values, *value),
            _ => false,
        };
        self.levels.push(i16::from(is_known));
    }

    /// Writes the cells and clears the column.
    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        let (mut from, mut start) = (0, 0);
        // A column without a row is written too.
        for at in (0..self.levels.len().max(1)).step_by(BATCH) {
            let end = self.levels.len().min(at + BATCH);
            let levels = self.levels.get(at..end).unwrap_or_default();
            let to = from + levels.iter().filter(|level| **level > 0).count();
            macro_rules! write_as {
                ($writer:expr, $values:expr) => {
                    $writer.write_batch(
                        $values.get(from..to).unwrap_or_default(),
                        Some(levels),
                        None,
                    )
                };
            }
            match (&mut *writer, &self.values) {
                (ColumnWriter::ByteArrayColumnWriter(writer), ColumnValues::Text(bytes, ends)) => {
                    let text = |end: &usize| {
                        let text = bytes.get(start..*end).unwrap_or_default();
                        start = *end;
                        ByteArray::from(text.to_vec())
                    };
                    let texts: Vec<ByteArray> =
                        ends.get(from..to).unwrap_or_default().iter().map(text).collect();
                    writer.write_batch(&texts, Some(levels), None)
                }
                (ColumnWriter::Int64ColumnWriter(writer), ColumnValues::Whole(all)) => {
                    write_as!(writer, all)
                }
                (ColumnWriter::DoubleColumnWriter(writer), ColumnValues::Real(all)) => {
                    write_as!(writer, all)
                }
                (ColumnWriter::BoolColumnWriter(writer), ColumnValues::Flag(all)) => {
                    write_as!(writer, all)
                }
                _ => Err(ParquetError::General(format!("{} has no type of ours", self.name))),
            }?;
            from = to;
        }
        self.levels.clear();
        match &mut self.values {
            ColumnValues::Text(bytes, ends) => {
                bytes.clear();
                ends.clear();
            }
            ColumnValues::Whole(all) => all.clear(),
            ColumnValues::Real(all) => all.clear(),
            ColumnValues::Flag(all) => all.clear(),
        }
        Ok(())
    }
}

/// Adds a known value.
fn add<T>(values: &mut Vec<T>, value: T) -> bool {
    values.push(value);
    true
}

fn open(
    name: &str,
    columns: &[(&'static str, ColumnKind)],
    options: &ReportOptions,
) -> Result<SerializedFileWriter<Vec<u8>>, ParquetError> {
    let said = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let mut metadata = vec![
        said("toolmark.table", name.to_owned()),
        said("toolmark.schema_version", VERSION.to_string()),
    ];
    metadata.extend(options.generated_at.map(|time| said("generated_at", time.to_string())));
    let properties = WriterProperties::builder()
        .set_created_by(format!("toolmark {}", env!("CARGO_PKG_VERSION")))
        .set_key_value_metadata(Some(metadata))
        .set_compression(Compression::SNAPPY);
    let schema = Arc::new(parse_message_type(&schema(columns))?);
    SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))
}

fn schema(columns: &[(&'static str, ColumnKind)]) -> String {
    let column = |(name, kind): &(&str, ColumnKind)| match kind {
        ColumnKind::Text => format!("optional byte_array {name} (UTF8);"),
        ColumnKind::Whole => format!("optional int64 {name};"),
        ColumnKind::Real => format!("optional double {name};"),
        ColumnKind::Flag => format!("optional boolean {name};"),
    };
    let columns: Vec<String> = columns.iter().map(column).collect();
    format!("message rows {{ {} }}", columns.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked::tests::sample;
    use crate::{RowContent, testing};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    use serde_json::Value;

    fn read(report: &Report<'_>, options: &ReportOptions) -> Vec<Value> {
        let mut bytes = Vec::new();
        write(report, options, &mut bytes).unwrap();
        rows_in(bytes)
    }

    fn rows_in(bytes: Vec<u8>) -> Vec<Value> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.parquet");
        std::fs::write(&path, bytes).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let rows = reader.get_row_iter(None).unwrap();
        let value = |field: &Field| match field {
            Field::Str(text) => text.as_str().into(),
            Field::Long(number) => (*number).into(),
            Field::Bool(flag) => (*flag).into(),
            _ => Value::Null,
        };
        rows.map(|row| {
            let row = row.unwrap();
            row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
        })
        .collect()
    }

    #[test]
    fn the_rows_of_csv_with_types() {
        let run = sample();
        let rows = read(&(&run).into(), &ReportOptions::default());
        assert_eq!(rows.len(), run.checked.findings.len());
        assert_eq!((&rows[0]["code"], &rows[0]["line"]), (&"A202".into(), &4.into()));
        assert_eq!(rows[0]["new"], true);
        assert!(rows[1]["bucket"].is_null(), "{}", rows[1]);
        let options = ReportOptions { rows: RowContent::Calls, ..ReportOptions::default() };
        let rows = read(&(&run).into(), &options);
        assert_eq!(rows.len(), run.checked.calls.len());
        assert_eq!(rows[2]["findings"], "[\"S101\"]");
        assert!(rows[2]["tokens"].is_null());
    }

    #[test]
    fn rows_are_handed_on_group_by_group() {
        let columns = [("n", ColumnKind::Whole)];
        let count = i64::try_from(2 * GROUP + 3).unwrap();
        let mut writer = ParquetWriter::new("stats", &columns, &ReportOptions::default()).unwrap();
        let mut bytes = Vec::new();
        for n in 0..count {
            writer.push(vec![("n", TableCell::Whole(Some(n)))], &mut bytes).unwrap();
            assert!(writer.rows < GROUP);
        }
        assert!(bytes.starts_with(b"PAR1"));
        writer.finish(&mut bytes).unwrap();
        let rows = rows_in(bytes);
        let numbers: Vec<i64> = rows.iter().filter_map(|row| row["n"].as_i64()).collect();
        assert_eq!(numbers, (0..count).collect::<Vec<_>>());
    }

    #[test]
    fn a_row_per_grader() {
        let run = testing::sample();
        let options = ReportOptions { rows: RowContent::Graders, ..ReportOptions::default() };
        let rows = read(&(&run).into(), &options);
        let graders = run.outcomes.iter().flat_map(|outcome| &outcome.graders);
        assert_eq!(rows.len(), graders.clone().count());
        for (row, grader) in rows.iter().zip(graders) {
            assert_eq!(row["verdict"], grader.outcome.verdict.word());
            assert_eq!(row["required"], grader.required);
        }
    }

    #[test]
    fn a_file_says_what_its_rows_are() {
        let table = RowTable::of(
            "stats",
            &[("n", ColumnKind::Whole)],
            vec![vec![("n", TableCell::count(Some(7)))]],
        );
        let mut bytes = Vec::new();
        table.write_parquet(&ReportOptions::default(), &mut bytes).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.parquet");
        std::fs::write(&path, bytes).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let said = reader.metadata().file_metadata().key_value_metadata().unwrap();
        let said: Vec<_> = said.iter().map(|one| (&*one.key, one.value.as_deref())).collect();
        assert_eq!(
            said,
            [("toolmark.table", Some("stats")), ("toolmark.schema_version", Some("1"))]
        );
    }

    #[test]
    fn outcomes_and_nothing_at_all() {
        let options = ReportOptions::default();
        let graded = testing::sample();
        let mut bytes = Vec::new();
        write(&(&graded).into(), &options, &mut bytes).unwrap();
        assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        let mut bytes = Vec::new();
        write(&(&testing::empty()).into(), &options, &mut bytes).unwrap();
        assert!(bytes.ends_with(b"PAR1"));
    }
}
