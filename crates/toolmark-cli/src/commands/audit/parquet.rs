//! The audit as Parquet: a typed column for each field, written in row groups, so that memory holds one group at a time.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, FixedLenByteArray, FixedLenByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use toolmark_core::verdict::Decision;
use toolmark_store::audit::{AuditEntry, AuditReader, ExportError};

/// How many records are in one row group.
const GROUP: usize = 20_000;

/// The columns. Times are UTC; durations are nanoseconds.
const SCHEMA: &str = "message audit {
  REQUIRED BYTE_ARRAY node (STRING);
  REQUIRED INT64 seq (INTEGER(64,false));
  REQUIRED FIXED_LEN_BYTE_ARRAY(16) id (UUID);
  REQUIRED INT64 time (TIMESTAMP(MICROS,true));
  OPTIONAL BYTE_ARRAY caller (STRING);
  OPTIONAL BYTE_ARRAY session (STRING);
  OPTIONAL BYTE_ARRAY era (STRING);
  OPTIONAL BYTE_ARRAY transport (STRING);
  REQUIRED BYTE_ARRAY called (STRING);
  OPTIONAL BYTE_ARRAY tool (STRING);
  OPTIONAL BYTE_ARRAY mark (STRING);
  OPTIONAL BYTE_ARRAY definition (STRING);
  OPTIONAL BYTE_ARRAY task (STRING);
  OPTIONAL BYTE_ARRAY verdict (STRING);
  OPTIONAL BYTE_ARRAY reasons (JSON);
  OPTIONAL BYTE_ARRAY rules (JSON);
  OPTIONAL BYTE_ARRAY policy (STRING);
  OPTIONAL BYTE_ARRAY grant (STRING);
  OPTIONAL BYTE_ARRAY judged (JSON);
  OPTIONAL BYTE_ARRAY arguments_digest (STRING);
  OPTIONAL INT64 arguments_size (INTEGER(64,false));
  OPTIONAL FIXED_LEN_BYTE_ARRAY(32) result_sha256;
  OPTIONAL FIXED_LEN_BYTE_ARRAY(32) result_blake3;
  OPTIONAL INT64 result_size (INTEGER(64,false));
  REQUIRED BYTE_ARRAY outcome (STRING);
  OPTIONAL BYTE_ARRAY code (STRING);
  REQUIRED INT64 judge_ns (INTEGER(64,false));
  REQUIRED INT64 approve_ns (INTEGER(64,false));
  REQUIRED INT64 dispatch_ns (INTEGER(64,false));
  REQUIRED INT64 total_ns (INTEGER(64,false));
  OPTIONAL FIXED_LEN_BYTE_ARRAY(16) trace;
  REQUIRED FIXED_LEN_BYTE_ARRAY(32) prev;
  REQUIRED FIXED_LEN_BYTE_ARRAY(32) hash;
  OPTIONAL BYTE_ARRAY arguments (STRING);
  OPTIONAL BYTE_ARRAY result (STRING);
}";

/// Writes everything that is left, and returns how many there were.
pub(super) async fn write(mut records: AuditReader, out: impl Write + Send, bodies: bool) -> Result<u64, ExportError> {
    let schema = Arc::new(parse_message_type(SCHEMA).map_err(broken)?);
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(broken)?;
    let (mut count, mut group) = (0, Vec::new());
    loop {
        let entry = records.next().await?;
        let ended = entry.is_none();
        group.extend(entry);
        if !group.is_empty() && (ended || group.len() == GROUP) {
            count += group.len() as u64;
            let mut row_group = writer.next_row_group().map_err(broken)?;
            columns(&mut row_group, &group, bodies).map_err(broken)?;
            row_group.close().map_err(broken)?;
            group.clear();
        }
        if ended {
            break;
        }
    }
    writer.close().map_err(broken)?;
    Ok(count)
}

/// In the order of the schema.
fn columns<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    rows: &[AuditEntry],
    bodies: bool,
) -> Result<(), ParquetError> {
    let bytes = |of: &dyn Fn(&AuditEntry) -> Option<Vec<u8>>| -> Vec<Option<FixedLenByteArray>> {
        rows.iter().map(|row| of(row).map(|bytes| ByteArray::from(bytes).into())).collect()
    };
    let mut out = Columns(group);
    out.texts(rows, |row| Some(&row.node))?;
    out.numbers(rows, |row| Some(row.link.seq))?;
    out.put::<FixedLenByteArrayType>(bytes(&|row| Some(row.record.id.as_bytes().to_vec())), false)?;
    out.put::<Int64Type>(rows.iter().map(|row| Some(row.record.time.get())).collect(), false)?;
    out.maybe(rows, |row| row.record.caller.as_deref())?;
    out.maybe(rows, |row| row.record.session.as_deref())?;
    out.maybe(rows, |row| row.record.era.as_deref())?;
    out.maybe(rows, |row| row.record.transport.as_deref())?;
    out.texts(rows, |row| Some(&row.record.called))?;
    out.maybe(rows, |row| row.record.tool.as_ref().map(|tool| &*tool.canonical))?;
    out.owned(rows, |row| row.record.tool.as_ref().map(|tool| tool.mark.to_string()))?;
    out.owned(rows, |row| row.record.tool.as_ref().map(|tool| tool.definition.to_string()))?;
    out.maybe(rows, |row| row.record.task.as_deref())?;
    out.maybe(rows, |row| row.record.verdict.map(Decision::as_str))?;
    out.maybe(rows, |row| row.record.reasons.as_deref())?;
    out.maybe(rows, |row| row.record.rules.as_deref())?;
    out.maybe(rows, |row| row.record.policy.as_deref())?;
    out.maybe(rows, |row| row.record.grant.as_deref())?;
    out.maybe(rows, |row| row.record.judged.as_deref())?;
    out.owned(rows, |row| row.record.arguments.map(|digest| digest.to_string()))?;
    out.maybe_numbers(rows, |row| row.record.arguments_size)?;
    for algorithm in ["sha256", "blake3"] {
        let made_with = |row: &AuditEntry| {
            let digest = row.record.result.as_ref().filter(|digest| digest.algorithm() == algorithm);
            digest.map(|digest| digest.bytes().to_vec())
        };
        out.put::<FixedLenByteArrayType>(bytes(&made_with), true)?;
    }
    out.maybe_numbers(rows, |row| row.record.result_size)?;
    out.texts(rows, |row| Some(row.record.outcome.as_str()))?;
    out.maybe(rows, |row| row.record.code.as_deref())?;
    out.numbers(rows, |row| Some(row.record.timings.judge))?;
    out.numbers(rows, |row| Some(row.record.timings.approve))?;
    out.numbers(rows, |row| Some(row.record.timings.dispatch))?;
    out.numbers(rows, |row| Some(row.record.timings.total))?;
    out.put::<FixedLenByteArrayType>(bytes(&|row| row.record.trace.map(Vec::from)), true)?;
    out.put::<FixedLenByteArrayType>(bytes(&|row| Some(row.link.prev.to_vec())), false)?;
    out.put::<FixedLenByteArrayType>(bytes(&|row| Some(row.link.hash.to_vec())), false)?;
    let kept = |row: &AuditEntry| row.record.bodies.clone().filter(|_| bodies);
    out.owned(rows, |row| kept(row)?.arguments.map(|text| text.to_string()))?;
    out.owned(rows, |row| kept(row)?.result.map(|text| text.to_string()))
}

/// Writes one column after the other.
struct Columns<'c, 'g, W: Write>(&'c mut SerializedRowGroupWriter<'g, W>);

impl<W: Write + Send> Columns<'_, '_, W> {
    /// Values, and where one is absent, a level that says so.
    fn put<T: DataType>(&mut self, values: Vec<Option<T::T>>, optional: bool) -> Result<(), ParquetError> {
        let missing = || ParquetError::General("there are more columns than the schema names".into());
        let mut column = self.0.next_column()?.ok_or_else(missing)?;
        let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
        let present: Vec<T::T> = values.into_iter().flatten().collect();
        column.typed::<T>().write_batch(&present, optional.then_some(levels.as_slice()), None)?;
        column.close()
    }

    fn texts(&mut self, rows: &[AuditEntry], of: impl Fn(&AuditEntry) -> Option<&str>) -> Result<(), ParquetError> {
        self.put::<ByteArrayType>(rows.iter().map(|row| of(row).map(ByteArray::from)).collect(), false)
    }

    fn maybe(&mut self, rows: &[AuditEntry], of: impl Fn(&AuditEntry) -> Option<&str>) -> Result<(), ParquetError> {
        self.put::<ByteArrayType>(rows.iter().map(|row| of(row).map(ByteArray::from)).collect(), true)
    }

    fn owned(&mut self, rows: &[AuditEntry], of: impl Fn(&AuditEntry) -> Option<String>) -> Result<(), ParquetError> {
        self.put::<ByteArrayType>(
            rows.iter().map(|row| of(row).map(|text| ByteArray::from(text.as_str()))).collect(),
            true,
        )
    }

    /// The bits of a number as they are; the column says that it has no sign.
    fn numbers(&mut self, rows: &[AuditEntry], of: impl Fn(&AuditEntry) -> Option<u64>) -> Result<(), ParquetError> {
        self.put::<Int64Type>(rows.iter().map(|row| of(row).map(u64::cast_signed)).collect(), false)
    }

    fn maybe_numbers(
        &mut self,
        rows: &[AuditEntry],
        of: impl Fn(&AuditEntry) -> Option<u64>,
    ) -> Result<(), ParquetError> {
        self.put::<Int64Type>(rows.iter().map(|row| of(row).map(u64::cast_signed)).collect(), true)
    }
}

/// What cannot be written, in the words of whoever reported it.
fn broken(error: ParquetError) -> ExportError {
    match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(error) => ExportError::Write(*error),
            Err(inner) => ExportError::Write(std::io::Error::other(inner)),
        },
        error => ExportError::Write(std::io::Error::other(error)),
    }
}
