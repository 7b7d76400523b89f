//! Times in JSON, in RFC 3339 format.

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(time: &Timestamp, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(time)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map_err(|_| D::Error::custom(format!("{text:?} is not a time")))
}

/// Optional times.
pub(crate) mod optional {
    use super::{Timestamp, deserialize as read};
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => to.collect_str(time),
            None => to.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        #[derive(Deserialize)]
        struct Time(#[serde(deserialize_with = "read")] Timestamp);
        Ok(Option::<Time>::deserialize(from)?.map(|Time(time)| time))
    }
}
