//! Whether the user agreed to what the agent proposed.

/// Agreement of the user before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// The last message of the user agrees to a message of the agent.
    Given,
    /// The last message of the user does not agree, or answers no message of the agent.
    NotGiven,
    /// No message of the user is recorded.
    Unknown,
}

/// Words that agree, at the start of a sentence.
const AGREES: &[&str] = &[
    "yes",
    "yeah",
    "yep",
    "yup",
    "sure",
    "ok",
    "okay",
    "correct",
    "confirm",
    "confirmed",
    "agreed",
    "absolutely",
    "definitely",
    "certainly",
    "exactly",
    "perfect",
    "approved",
    "proceed",
    "great",
    "fine",
    "alright",
    "right",
    "y",
    "ja",
    "oui",
    "sí",
    "si",
    "sim",
    "da",
    "はい",
    "是",
];
/// Phrases that agree anywhere in a message.
const PHRASES: &[&str] = &[
    "go ahead",
    "please proceed",
    "proceed with",
    "please do",
    "i confirm",
    "i agree",
    "i'd like to proceed",
    "i would like to proceed",
    "let's proceed",
    "let's do it",
    "let's do that",
    "let's go with",
    "do it",
    "that's correct",
    "that is correct",
    "that's right",
    "looks good",
    "sounds good",
    "works for me",
    "that works",
    "that's fine",
    "that is fine",
    "you may proceed",
    "you can proceed",
    "confirmed",
    "i'd like to confirm",
    "please confirm the",
    "please book",
    "please cancel",
    "please process",
    "please make",
    "please update",
];
/// Starts of messages that do not agree, whatever follows.
const REFUSES: &[&str] =
    &["no", "nope", "wait", "stop", "don't", "not", "hold", "actually", "never", "nein", "non"];

/// Whether a message agrees to what was proposed.
#[must_use]
pub fn is_agreement(text: &str) -> bool {
    let text = text.trim().to_lowercase().replace('’', "'");
    let first = |sentence: &str| {
        let words = sentence.trim_start().split(|c: char| !c.is_alphanumeric() && c != '\'');
        words.into_iter().find(|word| !word.is_empty()).map(str::to_owned)
    };
    if first(&text).is_some_and(|word| REFUSES.contains(&word.as_str())) {
        return false;
    }
    let mut sentences = text.split(['.', '!', '?', '\n', ',', ';', '—']);
    sentences.any(|sentence| first(sentence).is_some_and(|word| AGREES.contains(&word.as_str())))
        || PHRASES.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages() {
        for (text, want) in [
            ("Yes", true),
            ("yes, please.", true),
            ("Thanks! Yes, go ahead and cancel it.", true),
            ("That sounds good, please proceed.", true),
            ("Please go ahead.", true),
            ("Okay", true),
            ("y", true),
            ("Ja, bitte", true),
            ("No, I changed my mind", false),
            ("no thanks, that's fine", false),
            ("Wait, what is the fee?", false),
            ("How much would that be?", false),
            ("My order number is W1", false),
            ("I want to return the yesterday delivered lamp", false),
            ("", false),
        ] {
            assert_eq!(is_agreement(text), want, "{text}");
        }
    }
}
