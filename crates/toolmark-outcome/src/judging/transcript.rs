//! A run as readable text: every event, or one line per step.

use super::elide::shortened;
use super::{Material, TextPiece};
use crate::excerpt;
use crate::view::{IndexedCall, TrajectoryView};
use toolmark_trace::{Actor, EventKind, Payload};

/// Maximum length of one message, call or result.
const PIECE: usize = 6 << 10;
/// Maximum length of a whole run.
const WHOLE: usize = 240 << 10;

/// Returns every event, in order. Texts that are too long are shortened, and the material
/// states it.
#[must_use]
pub fn transcript(view: &TrajectoryView<'_>) -> Material {
    let run = view.trajectory();
    let mut pieces = Vec::new();
    let mut shortened_pieces = 0;
    let mut push = |label: String, text: &str, mut piece: TextPiece| {
        let short = shortened(text, PIECE);
        shortened_pieces += usize::from(short.is_some());
        piece.text = short.unwrap_or_else(|| text.to_owned());
        piece.label = Some(label);
        pieces.push(piece);
    };
    for event in view.events() {
        let place = TextPiece { place: Some(view.place(&event.at)), ..TextPiece::default() };
        let words = event.text.as_ref().map(Payload::plain).unwrap_or_default();
        match event.kind {
            EventKind::User => push("user".into(), &words, place),
            EventKind::Message => push("assistant".into(), &words, place),
            EventKind::Error => push("error".into(), &words, place),
            EventKind::Call(index) => {
                let Some(call) = run.calls.get(index as usize) else { continue };
                let seen = IndexedCall { index: index as usize, call };
                let by = if call.actor == Actor::User { " by the user" } else { "" };
                let args = call.args.as_ref().map(Payload::raw).unwrap_or_default();
                let of_call =
                    || TextPiece { call: Some(view.call_ref(seen)), ..TextPiece::default() };
                let number = seen.number();
                let called = format!("{} {args}", call.name.full());
                push(format!("call {number}{by}"), &called, of_call());
                let result = call.result.as_ref().and_then(|result| result.payload.as_ref());
                let status = call.status.word();
                let text = result.map(Payload::plain).unwrap_or_default();
                push(format!("result of call {number}: {status}"), &text, of_call());
            }
            _ => {}
        }
    }
    let left_out = fit(&mut pieces);
    let mut material = Material::of_trace("transcript", pieces);
    let mut words = Vec::new();
    if shortened_pieces > 0 {
        words.push(format!("{shortened_pieces} long messages or results were shortened"));
    }
    if left_out > 0 {
        words.push(format!("{left_out} entries in the middle were left out"));
    }
    material.left_out = (!words.is_empty()).then(|| words.join(", "));
    material
}

/// Removes entries in the middle until the rest fits. Returns the number of removed entries.
pub(super) fn fit(pieces: &mut Vec<TextPiece>) -> usize {
    let total: usize = pieces.iter().map(|piece| piece.text.len()).sum();
    if total <= WHOLE {
        return 0;
    }
    let (mut head, mut used) = (0, 0);
    while let Some(piece) = pieces.get(head)
        && used + piece.text.len() <= WHOLE / 2
    {
        used += piece.text.len();
        head += 1;
    }
    let mut tail = pieces.len();
    while tail > head
        && let Some(piece) = pieces.get(tail - 1)
        && used + piece.text.len() <= WHOLE
    {
        used += piece.text.len();
        tail -= 1;
    }
    let gone = tail - head;
    let mark = TextPiece::labelled("left out", format!("[… {gone} entries left out …]"));
    pieces.splice(head..tail, [mark]);
    gone
}

/// Returns a line per call with its arguments and status, and the texts in between: the
/// course of the run without the contents.
#[must_use]
pub fn steps(view: &TrajectoryView<'_>) -> Material {
    let run = view.trajectory();
    let mut pieces = Vec::new();
    for event in view.events() {
        let words = || excerpt(&event.text.as_ref().map(Payload::plain).unwrap_or_default());
        let place = Some(view.place(&event.at));
        let piece = match event.kind {
            EventKind::User => TextPiece { place, ..TextPiece::labelled("user", words()) },
            EventKind::Message => TextPiece { place, ..TextPiece::labelled("assistant", words()) },
            EventKind::Call(index) => {
                let Some(call) = run.calls.get(index as usize) else { continue };
                let reference = view.call_ref(IndexedCall { index: index as usize, call });
                let args = reference.args.as_ref().map_or("", |args| args.raw());
                let tool = reference.tool.raw();
                let number = reference.number();
                let text = format!("{tool} {args} → {}", reference.status);
                let label = format!("call {number}");
                TextPiece { call: Some(reference), ..TextPiece::labelled(label, text) }
            }
            _ => continue,
        };
        pieces.push(piece);
    }
    let left_out = fit(&mut pieces);
    let mut material = Material::of_trace("steps", pieces);
    if left_out > 0 {
        material.left_out = Some(format!("{left_out} entries in the middle were left out"));
    }
    material
}
