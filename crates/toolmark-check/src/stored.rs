//! Binary form of results, for lists that are too long for memory: they are written to a
//! temporary file and read back by the same process.
//!
//! Only printable values have such a form, so that no secret is written to disk.

use crate::call_rows::CallRow;
use crate::rules::rule_by_code;
use toolmark_outcome::{
    Axis, CallRef, Confidence, Evidence, EvidenceRole, Finding, Printable, SecondOpinion, Severity,
    SharedName, TracePlace,
};
use toolmark_shell::results::ResultKind;
use toolmark_trace::Status;

/// Values that can be written as bytes and read back.
pub trait Stored: Sized {
    /// Appends the value to `out`.
    fn write(&self, out: &mut Vec<u8>);

    /// Reads a value from the front of the bytes; `None` if they are invalid.
    fn read(bytes: &mut &[u8]) -> Option<Self>;
}

/// Seven bits per byte, lowest first; every byte except the last has the eighth bit set.
impl Stored for u64 {
    fn write(&self, out: &mut Vec<u8>) {
        let mut rest = *self;
        while rest > 0x7f {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut number = 0;
        for at in 0..10 {
            let byte = take(bytes, 1)?.first().copied()?;
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

macro_rules! whole {
    ($($number:ty)*) => { $(
        impl Stored for $number {
            fn write(&self, out: &mut Vec<u8>) {
                (*self as u64).write(out);
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                <$number>::try_from(u64::read(bytes)?).ok()
            }
        }
    )* };
}

whole!(u32 usize);

impl Stored for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(take(bytes, 1)? == [1])
    }
}

impl Stored for f64 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self::from_le_bytes(take(bytes, 8)?.try_into().ok()?))
    }
}

impl Stored for i64 {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Some(Self::from_le_bytes(take(bytes, 8)?.try_into().ok()?))
    }
}

impl Stored for String {
    fn write(&self, out: &mut Vec<u8>) {
        write_str(self, out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        read_str(bytes).map(str::to_owned)
    }
}

impl Stored for Printable {
    fn write(&self, out: &mut Vec<u8>) {
        write_str(self, out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        // It was printable when it was written.
        let text = read_str(bytes)?;
        Some(Self::default().reshape(|_| text))
    }
}

impl Stored for SharedName<Printable> {
    fn write(&self, out: &mut Vec<u8>) {
        write_str(self, out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Printable::read(bytes).map(Into::into)
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        self.iter().for_each(|one| one.write(out));
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        match bool::read(bytes)? {
            true => T::read(bytes).map(Some),
            false => Some(None),
        }
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        self.iter().for_each(|one| one.write(out));
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        (0..usize::read(bytes)?).map(|_| T::read(bytes)).collect()
    }
}

/// The status of a call or the code of a rule.
impl Stored for &'static str {
    fn write(&self, out: &mut Vec<u8>) {
        write_str(self, out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let word = read_str(bytes)?;
        let status = Status::from_word(word).map(Status::word);
        status.or_else(|| Some(rule_by_code(word)?.code))
    }
}

/// Implements [`Stored`] by the index of a value.
macro_rules! indices {
    ($($type:ty)*) => { $(
        impl Stored for $type {
            fn write(&self, out: &mut Vec<u8>) {
                (*self as usize).write(out);
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                Self::ALL.get(usize::read(bytes)?).copied()
            }
        }
    )* };
}

indices!(Axis Confidence ResultKind EvidenceRole Severity);

/// Implements [`Stored`] by these fields.
macro_rules! fields {
    ($($type:ty { $($field:ident)* })*) => { $(
        impl Stored for $type {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: Stored::read(bytes)?),* })
            }
        }
    )* };
}

fields! {
    TracePlace<Printable> { file line column byte }
    CallRef<Printable> { index step id tool args status place }
    Evidence<Printable> { role text call place excerpt }
    SecondOpinion<Printable> { score reason agrees }
    CallRow<Printable> {
        session place number step turn tool status result_kind masked program exit_code started
        spent codes
    }
}

impl Stored for Finding<Printable> {
    fn write(&self, out: &mut Vec<u8>) {
        self.code.write(out);
        self.axis.write(out);
        self.severity.write(out);
        self.confidence.write(out);
        self.tool.write(out);
        self.bucket.write(out);
        self.message.write(out);
        self.remedy.write(out);
        self.session.write(out);
        self.place.write(out);
        self.evidence.write(out);
        self.fingerprint.write(out);
        self.new.write(out);
        self.judge.write(out);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let rule = rule_by_code(read_str(bytes)?)?;
        Some(Self {
            code: rule.code,
            name: rule.name,
            axis: Stored::read(bytes)?,
            severity: Stored::read(bytes)?,
            confidence: Stored::read(bytes)?,
            tool: Stored::read(bytes)?,
            bucket: Stored::read(bytes)?,
            message: Stored::read(bytes)?,
            remedy: Stored::read(bytes)?,
            session: Stored::read(bytes)?,
            place: Stored::read(bytes)?,
            evidence: Stored::read(bytes)?,
            fingerprint: Stored::read(bytes)?,
            new: Stored::read(bytes)?,
            judge: Stored::read(bytes)?,
        })
    }
}

fn write_str(text: &str, out: &mut Vec<u8>) {
    text.len().write(out);
    out.extend_from_slice(text.as_bytes());
}

fn read_str<'b>(bytes: &mut &'b [u8]) -> Option<&'b str> {
    let length = usize::read(bytes)?;
    std::str::from_utf8(take(bytes, length)?).ok()
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checker;
    use toolmark_outcome::Redactor;
    use toolmark_session::notation;

    #[test]
    fn what_is_written_is_read_back() {
        let run = notation::parse(
            "user: why is the build slow?\n\
             Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             Read {\"file_path\":\"/w/a.rs\"} -> \"1\\tone\"\n\
             Bash {\"command\":\"rm -rf src/legacy\"} -> \"\"\n\
             Edit {\"file_path\":\"/w/b.rs\",\"old_string\":\"x\",\"new_string\":\"y\"} !> \"String to replace not found in file.\"",
        );
        let checked = Checker::default().keep_calls().check(&run.unwrap());
        let mut checked = checked.redact(Redactor::new(true));
        assert!(checked.findings.len() > 2 && !checked.calls.is_empty());
        checked.findings[0].new = Some(false);
        checked.findings[1].judge =
            Some(SecondOpinion { score: Some(0.5), reason: "so".into(), agrees: true });
        let mut bytes = Vec::new();
        checked.findings.write(&mut bytes);
        checked.calls.write(&mut bytes);
        let mut rest = bytes.as_slice();
        assert_eq!(Vec::<Finding<Printable>>::read(&mut rest).unwrap(), checked.findings);
        assert_eq!(Vec::<CallRow<Printable>>::read(&mut rest).unwrap(), checked.calls);
        assert!(rest.is_empty());
        for cut in 0..bytes.len().min(2_000) {
            // Broken input returns nothing, without a panic.
            let _ = Vec::<Finding<Printable>>::read(&mut &bytes[..cut]);
        }
    }

    #[test]
    fn numbers_of_all_sizes() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            number.write(&mut bytes);
            assert_eq!(u64::read(&mut bytes.as_slice()), Some(number));
        }
        assert_eq!(u32::read(&mut [0xff_u8; 9].as_slice()), None);
        for number in [-1_i64, 0, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            Some(number).write(&mut bytes);
            assert_eq!(Option::<i64>::read(&mut bytes.as_slice()), Some(Some(number)));
        }
    }
}
