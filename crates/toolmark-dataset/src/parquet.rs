//! Parquet: columns reassembled into rows.
//!
//! Times become ISO 8601 text. Bytes become text if they are UTF-8 and hexadecimal otherwise.
//! Decimals become text unless they are whole numbers. JSON columns become the values they
//! contain, and numbers that JSON cannot represent become null.
//!
//! The library panics on files that combine incompatible types; such a file is reported like
//! any other unreadable file.

use super::{DatasetFault, DatasetRows, MAX_BYTES};
use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use parquet::basic::{LogicalType, TimeUnit};
use parquet::data_type::Decimal;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Map, Number, Value};
use std::fmt::Write as _;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Maximum nesting depth of columns.
const MAX_DEPTH: usize = 32;

/// Reason why a Parquet file, or one of its rows, cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum ParquetFault {
    #[error(transparent)]
    Format(#[from] parquet::errors::ParquetError),
    #[error("its types do not go together")]
    Types,
    #[error("the rows come to more than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("its columns nest too deep")]
    TooDeep,
}

pub(super) fn read(file: File, rows: &mut DatasetRows) -> Result<(), DatasetFault> {
    let read = catch_unwind(AssertUnwindSafe(|| read_rows(file, rows)));
    Ok(read.unwrap_or(Err(ParquetFault::Types))?)
}

fn read_rows(file: File, rows: &mut DatasetRows) -> Result<(), ParquetFault> {
    let reader = SerializedFileReader::new(file)?;
    let schema = reader.metadata().file_metadata().schema().clone();
    let mut writer = FieldConverter { left: MAX_BYTES };
    for (n, row) in reader.get_row_iter(None)?.enumerate() {
        let place = n as u64 + 1;
        let value = row
            .map_err(ParquetFault::from)
            .and_then(|row| writer.group(&row, Some(&schema), MAX_DEPTH));
        match value {
            Ok(value) => {
                if !rows.push(place, value) {
                    break;
                }
            }
            Err(fault) => {
                // Rows after a bad row cannot be trusted.
                rows.fail(Some(place), fault.to_string());
                break;
            }
        }
    }
    Ok(())
}

/// Converts fields to JSON, up to a maximum number of bytes.
struct FieldConverter {
    left: u64,
}

impl FieldConverter {
    fn spend(&mut self, bytes: usize) -> Result<(), ParquetFault> {
        match self.left.checked_sub(bytes as u64 + 16) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(ParquetFault::TooLarge),
        }
    }

    fn group(
        &mut self,
        row: &Row,
        kind: Option<&Type>,
        depth: usize,
    ) -> Result<Value, ParquetFault> {
        let mut map = Map::new();
        for (name, field) in row.get_column_iter() {
            let kind = kind
                .filter(|kind| kind.is_group())
                .and_then(|kind| kind.get_fields().iter().find(|field| field.name() == name));
            self.spend(name.len())?;
            map.insert(name.clone(), self.field(field, kind.map(AsRef::as_ref), depth)?);
        }
        Ok(Value::Object(map))
    }

    fn field(
        &mut self,
        field: &Field,
        kind: Option<&Type>,
        depth: usize,
    ) -> Result<Value, ParquetFault> {
        let depth = depth.checked_sub(1).ok_or(ParquetFault::TooDeep)?;
        let value = match field {
            Field::Group(row) => return self.group(row, kind, depth),
            Field::ListInternal(list) => {
                let element = kind.and_then(element_of);
                let items = list.elements().iter().map(|item| self.field(item, element, depth));
                return Ok(Value::Array(items.collect::<Result<_, _>>()?));
            }
            Field::MapInternal(map) => {
                let pair = kind.and_then(|kind| child(kind, 0));
                let (key_kind, value_kind) =
                    (pair.and_then(|p| child(p, 0)), pair.and_then(|p| child(p, 1)));
                let mut object = Map::new();
                for (key, value) in map.entries() {
                    let key = match self.field(key, key_kind, depth)? {
                        Value::String(key) => key,
                        other => other.to_string(),
                    };
                    object.insert(key, self.field(value, value_kind, depth)?);
                }
                return Ok(Value::Object(object));
            }
            plain => plain_value(plain, kind),
        };
        self.spend(value.as_str().map_or(0, str::len))?;
        Ok(value)
    }
}

fn child(kind: &Type, n: usize) -> Option<&Type> {
    kind.is_group().then(|| kind.get_fields().get(n)).flatten().map(AsRef::as_ref)
}

/// Returns the element type of a list, which is below the repeated group if there is one.
fn element_of(list: &Type) -> Option<&Type> {
    let repeated = child(list, 0)?;
    match repeated.is_group() && repeated.get_fields().len() == 1 {
        true => child(repeated, 0),
        false => Some(repeated),
    }
}

fn plain_value(field: &Field, kind: Option<&Type>) -> Value {
    let logical = kind.and_then(|kind| kind.get_basic_info().logical_type_ref());
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => Value::Bool(*value),
        Field::Byte(value) => Value::from(*value),
        Field::Short(value) => Value::from(*value),
        Field::Int(value) => Value::from(*value),
        Field::Long(value) => match logical {
            Some(LogicalType::Timestamp(of)) if of.unit == TimeUnit::NANOS => {
                timestamp(Timestamp::from_nanosecond(i128::from(*value)).ok(), logical, *value)
            }
            Some(LogicalType::Time(of)) if of.unit == TimeUnit::NANOS => time(*value),
            _ => Value::from(*value),
        },
        Field::UByte(value) => Value::from(*value),
        Field::UShort(value) => Value::from(*value),
        Field::UInt(value) => Value::from(*value),
        Field::ULong(value) => Value::from(*value),
        Field::Float16(value) => float(f64::from(*value)),
        Field::Float(value) => float(f64::from(*value)),
        Field::Double(value) => float(*value),
        Field::Decimal(value) => decimal(value),
        Field::Str(text) => match logical {
            Some(LogicalType::Json) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()))
            }
            _ => Value::from(text.as_str()),
        },
        Field::Bytes(bytes) => match (logical, bytes.data()) {
            (Some(LogicalType::Uuid), data) if data.len() == 16 => uuid(data),
            (_, data) => match std::str::from_utf8(data) {
                Ok(text) => Value::from(text),
                Err(_) => Value::from(hex(data)),
            },
        },
        Field::Date(days) => {
            let moment = Timestamp::from_second(i64::from(*days) * 86_400).ok();
            match moment {
                Some(moment) => moment.to_zoned(TimeZone::UTC).date().to_string().into(),
                None => Value::from(*days),
            }
        }
        Field::TimeMillis(value) => time(i64::from(*value).saturating_mul(1_000_000)),
        Field::TimeMicros(value) => time(value.saturating_mul(1_000)),
        Field::TimestampMillis(value) => {
            timestamp(Timestamp::from_millisecond(*value).ok(), logical, *value)
        }
        Field::TimestampMicros(value) => {
            timestamp(Timestamp::from_microsecond(*value).ok(), logical, *value)
        }
        // Already converted to JSON.
        Field::Group(_) | Field::ListInternal(_) | Field::MapInternal(_) => Value::Null,
    }
}

fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// Formats a timestamp with its time zone, or without one if the column is declared as local
/// time.
fn timestamp(moment: Option<Timestamp>, logical: Option<&LogicalType>, raw: i64) -> Value {
    let is_local = matches!(logical, Some(LogicalType::Timestamp(of)) if !of.is_adjusted_to_u_t_c);
    match moment {
        None => Value::from(raw),
        Some(moment) if is_local => {
            Value::from(moment.to_zoned(TimeZone::UTC).datetime().to_string())
        }
        Some(moment) => Value::from(moment.to_string()),
    }
}

fn time(nanos: i64) -> Value {
    let time = Time::midnight().checked_add(SignedDuration::from_nanos(nanos));
    time.map_or_else(|_| Value::from(nanos), |time| Value::from(time.to_string()))
}

/// Converts a decimal number to text, or to a number if it is whole.
fn decimal(value: &Decimal) -> Value {
    let data = value.data();
    if data.is_empty() || data.len() > 16 {
        return Value::from(hex(data));
    }
    let negative = data.first().is_some_and(|byte| byte & 0x80 != 0);
    let start: i128 = if negative { -1 } else { 0 };
    let unscaled = data.iter().fold(start, |sum, byte| (sum << 8) | i128::from(*byte));
    let scale = usize::try_from(value.scale()).unwrap_or(0).min(64);
    if scale == 0
        && let Ok(whole) = i64::try_from(unscaled)
    {
        return Value::from(whole);
    }
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, rest) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    let point = if scale == 0 { "" } else { "." };
    Value::from(format!("{sign}{whole}{point}{rest}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn uuid(bytes: &[u8]) -> Value {
    let text = hex(bytes);
    let mut out = String::new();
    for (n, c) in text.chars().enumerate() {
        if matches!(n, 8 | 12 | 16 | 20) {
            out.push('-');
        }
        out.push(c);
    }
    Value::from(out)
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use parquet::column::writer::ColumnWriter;
    use parquet::data_type::{ByteArray, FixedLenByteArray};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use serde_json::{Value, json};
    use std::path::Path;
    use std::sync::Arc;

    const SCHEMA: &str = "message m {
        required int64 id;
        optional byte_array q (UTF8);
        required byte_array j (JSON);
        required double d;
        required boolean b;
        required int32 day (DATE);
        required int64 at (TIMESTAMP(NANOS,true));
        required int64 ms (TIMESTAMP(MILLIS,false));
        required int32 t (TIME(MILLIS,true));
        required int32 money (DECIMAL(9,2));
        required fixed_len_byte_array(16) u (UUID);
        required byte_array raw;
        required int32 small (INTEGER(8,false));
        optional group calls (LIST) {
            repeated group list {
                optional byte_array element (UTF8);
            }
        }
    }";

    fn bytes(text: &str) -> ByteArray {
        ByteArray::from(text.as_bytes().to_vec())
    }

    fn write(path: &Path) {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let file = std::fs::File::create(path).unwrap();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut n = 0;
        while let Some(mut column) = group.next_column().unwrap() {
            match (n, column.untyped()) {
                (0, ColumnWriter::Int64ColumnWriter(w)) => w.write_batch(&[1, 2], None, None),
                (1, ColumnWriter::ByteArrayColumnWriter(w)) => {
                    w.write_batch(&[bytes("x")], Some(&[1, 0]), None)
                }
                (2, ColumnWriter::ByteArrayColumnWriter(w)) => {
                    w.write_batch(&[bytes("{\"a\":[1]}"), bytes("no json")], None, None)
                }
                (3, ColumnWriter::DoubleColumnWriter(w)) => {
                    w.write_batch(&[1.5, f64::NAN], None, None)
                }
                (4, ColumnWriter::BoolColumnWriter(w)) => w.write_batch(&[true, false], None, None),
                (5, ColumnWriter::Int32ColumnWriter(w)) => {
                    w.write_batch(&[20_000, i32::MAX], None, None)
                }
                (6, ColumnWriter::Int64ColumnWriter(w)) => {
                    w.write_batch(&[1_700_000_000_000_000_001, i64::MIN], None, None)
                }
                (7, ColumnWriter::Int64ColumnWriter(w)) => {
                    w.write_batch(&[1_700_000_000_500, i64::MAX], None, None)
                }
                (8, ColumnWriter::Int32ColumnWriter(w)) => {
                    w.write_batch(&[3_661_250, -1], None, None)
                }
                (9, ColumnWriter::Int32ColumnWriter(w)) => w.write_batch(&[1234, -5], None, None),
                (10, ColumnWriter::FixedLenByteArrayColumnWriter(w)) => {
                    let id = FixedLenByteArray::from((0..16).collect::<Vec<u8>>());
                    w.write_batch(&[id.clone(), id], None, None)
                }
                (11, ColumnWriter::ByteArrayColumnWriter(w)) => {
                    let raw = ByteArray::from(vec![0xff, 0x00]);
                    w.write_batch(&[bytes("text"), raw], None, None)
                }
                (12, ColumnWriter::Int32ColumnWriter(w)) => w.write_batch(&[200, 1], None, None),
                (13, ColumnWriter::ByteArrayColumnWriter(w)) => {
                    w.write_batch(&[bytes("a"), bytes("b")], Some(&[3, 3, 0]), Some(&[0, 1, 0]))
                }
                other => panic!("an unexpected column: {}", other.0),
            }
            .unwrap();
            column.close().unwrap();
            n += 1;
        }
        group.close().unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn all_types() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.parquet");
        write(&path);
        let rows = read(&path).unwrap();
        let rows: Vec<&Value> = rows.iter().map(|row| &*row.value).collect();
        assert_eq!(
            *rows[0],
            json!({
                "id": 1, "q": "x", "j": {"a": [1]}, "d": 1.5, "b": true,
                "day": "2024-10-04",
                "at": "2023-11-14T22:13:20.000000001Z",
                "ms": "2023-11-14T22:13:20.5",
                "t": "01:01:01.25",
                "money": "12.34",
                "u": "00010203-0405-0607-0809-0a0b0c0d0e0f",
                "raw": "text", "small": 200, "calls": ["a", "b"],
            })
        );
        assert_eq!(
            *rows[1],
            json!({
                "id": 2, "q": null, "j": "no json", "d": null, "b": false,
                "day": i32::MAX, "at": "1677-09-21T00:12:43.145224192Z", "ms": i64::MAX,
                "t": -1_000_000, "money": "-0.05",
                "u": "00010203-0405-0607-0809-0a0b0c0d0e0f",
                "raw": "ff00", "small": 1, "calls": null,
            })
        );
    }

    #[test]
    fn damaged_files_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.parquet");
        write(&path);
        let good = std::fs::read(&path).unwrap();
        for cut in [4, 8, good.len() / 2, good.len() - 1] {
            std::fs::write(&path, &good[..cut]).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("cannot be read as Parquet"), "{error}");
        }
        // Reading ends with rows or with an error, whichever byte is flipped.
        for at in (0..good.len()).step_by(7) {
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            std::fs::write(&path, &bad).unwrap();
            let _ = read(&path);
        }
    }
}
