//! Effects of tools by their names. The guard, the MCP proxy and the rules of
//! `toolmark check` share this table.
//!
//! The first verb of a name decides: `inspect_refund_settlement` reads, whatever its nouns
//! are. Words before it belong to a server or a namespace (`stripe_create_refund`,
//! `flight.book`). Some verbs are also nouns (`order`, `return`, `transfer`); they count where
//! a verb is expected, and not in names of information (`order_status`). A few objects change
//! the meaning of a verb: `create_refund` moves money, and `transfer_to_human_agents` is a
//! hand-off.
//!
//! A name makes an effect likely. It is proven only by a statement, such as the annotations
//! of an MCP tool.

mod verbs;

use toolmark_shell::Certainty;
use verbs::{
    ACCOUNTS, ANSWERS, AT_END, BEFORE_VERBS, BOOKED, FINAL_NOUNS, INFORMATION, INPUTS, MONEY_NOUNS,
    NOUN_VERBS, PERSONS, PROMOTED, RUNS, SERVERS, SUMS, VERBS,
};

/// The effect of a call of a named tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolEffect {
    /// Reads or computes.
    Read,
    /// Changes something that can be changed back.
    Change,
    /// Hands the conversation to another agent or a person.
    HandOff,
    /// Sends a message to people.
    Send,
    /// Changes something for good: cancels, books, deletes, publishes.
    Final,
    /// Moves money.
    Money,
}

impl ToolEffect {
    /// Name of the effect in output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Change => "change",
            Self::HandOff => "hand-off",
            Self::Send => "send",
            Self::Final => "final",
            Self::Money => "money",
        }
    }

    /// All effects.
    pub const ALL: &'static [Self] =
        &[Self::Read, Self::Change, Self::HandOff, Self::Send, Self::Final, Self::Money];

    /// Whether a call with this effect cannot be taken back.
    #[must_use]
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Final | Self::Money)
    }

    /// Whether a call with this effect changes the state of the service.
    #[must_use]
    pub const fn is_change(self) -> bool {
        matches!(self, Self::Change | Self::Final | Self::Money)
    }

    /// Returns the effect that the name of a tool suggests; `None` if it has no known verb.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::of_words(name, &own_words(name))
    }

    /// Returns the effect by the name and the annotations of an MCP tool, and its certainty.
    #[must_use]
    pub fn of_tool(
        name: &str,
        annotations: Option<&serde_json::Value>,
    ) -> Option<(Self, Certainty)> {
        let is = |key: &str| annotations.and_then(|hints| hints.get(key)?.as_bool());
        let named = Self::of_name(name);
        if is("readOnlyHint") == Some(true) {
            return Some((Self::Read, Certainty::Proven));
        }
        // The hint counts only for tools that are said to write.
        match is("destructiveHint").filter(|_| is("readOnlyHint") == Some(false)) {
            Some(true) => {
                let kind = named.filter(|kind| kind.is_final()).unwrap_or(Self::Final);
                Some((kind, Certainty::Proven))
            }
            Some(false) if !named.is_some_and(Self::is_final) => {
                let kind = named.filter(|kind| *kind != Self::Read).unwrap_or(Self::Change);
                Some((kind, Certainty::Proven))
            }
            _ => named.map(|kind| (kind, Certainty::Likely)),
        }
    }

    /// Like [`Self::of_name`], for words that are split already.
    #[must_use]
    pub fn of_words(name: &str, words: &str) -> Option<Self> {
        let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let has_namespace = name.contains(['.', '/', ':']) || name.contains("__");
        let (at, verb, kind) = first_verb(&words, has_namespace)?;
        let rest = words.get(at + 1..).unwrap_or_default();
        if kind == Self::Read {
            return Some(read_or_change(verb, rest));
        }
        // `order_status`, `refund_policy`, `software_update_history`
        let is_verb_first = at == 0 && !is_noun_verb(verb);
        let last = rest.last().copied().unwrap_or("");
        if !is_verb_first && INFORMATION.contains(&last) {
            return Some(Self::Read);
        }
        by_object(verb, kind, rest)
    }
}

/// Returns the words of the name of a tool without those of its server.
#[must_use]
pub fn own_words(name: &str) -> String {
    let own = name.rsplit_once("__").map_or(name, |(_, own)| own);
    let own = own.rsplit(['/', '.', ':']).next().unwrap_or(own);
    split_words(without_server(own))
}

/// Removes the server from `mcp_SERVER_tool_name` or `SERVER-tool_name`; some hosts join them
/// with a single character.
fn without_server(own: &str) -> &str {
    if let Some((_, tool)) = own.strip_prefix("mcp_").and_then(|rest| rest.split_once('_')) {
        return tool;
    }
    match own.rsplit_once('-') {
        Some((_, tool)) if tool.contains('_') => tool,
        _ => own,
    }
}

/// Returns the words of a name, separated by blanks.
#[must_use]
pub fn split_words(own: &str) -> String {
    let mut words = String::with_capacity(own.len() + 8);
    let mut was_lower = false;
    // Most names are short and plain.
    if own.is_ascii() {
        for b in own.bytes() {
            if !b.is_ascii_alphanumeric() || b.is_ascii_uppercase() && was_lower {
                words.push(' ');
            }
            was_lower = b.is_ascii_lowercase();
            if b.is_ascii_alphanumeric() {
                words.push(char::from(b.to_ascii_lowercase()));
            }
        }
        return words;
    }
    for c in own.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_lower {
            words.push(' ');
        }
        was_lower = c.is_lowercase();
        match c {
            c if c.is_ascii_alphanumeric() => words.push(c.to_ascii_lowercase()),
            c if c.is_alphanumeric() => words.extend(c.to_lowercase()),
            _ => {}
        }
    }
    words
}

/// Returns the kind of a verb of the table.
fn kind_of(word: &str) -> Option<ToolEffect> {
    let of = |table: &[(ToolEffect, &[&str])]| {
        table.iter().find(|(_, verbs)| verbs.contains(&word)).map(|(kind, _)| *kind)
    };
    of(VERBS).or_else(|| of(NOUN_VERBS))
}

fn is_noun_verb(word: &str) -> bool {
    NOUN_VERBS.iter().any(|(_, verbs)| verbs.contains(&word))
}

/// Returns the first verb, its position and its kind. A word that may be a noun counts at the
/// start or behind a known server, if an object follows, and some at the end of a short name.
fn first_verb<'w>(words: &[&'w str], has_namespace: bool) -> Option<(usize, &'w str, ToolEffect)> {
    let last = words.len().checked_sub(1)?;
    let starts = |at: usize| {
        words.get(..at).is_some_and(|before| before.iter().all(|word| SERVERS.contains(word)))
    };
    for (at, word) in words.iter().copied().enumerate() {
        if RUNS.contains(&word) {
            return None;
        }
        let Some(kind) = kind_of(word) else { continue };
        let may_be_noun = is_noun_verb(word);
        // `order_get`, `message_delete`, `todo_list_add`: the last word is the verb.
        let end = words.last().copied().filter(|end| at < last && !is_noun_verb(end));
        let end = end.and_then(|end| Some((last, end, kind_of(end)?)));
        let before = BEFORE_VERBS.contains(&word)
            && (at > 0 || end.is_some_and(|(.., kind)| kind == ToolEffect::Read));
        if let Some(end) = end.filter(|_| may_be_noun || before) {
            return Some(end);
        }
        let ends = at == last && AT_END.contains(&word) && (has_namespace || last < 3);
        // `crypto_swap_estimate_fee`: a verb after a noun may be a noun too.
        let reads = || first_reading(words, at + 1).filter(|_| !starts(at));
        if let Some(reading) = reads().filter(|_| !may_be_noun) {
            return Some(reading);
        }
        let books = word == "book" && words.get(at + 1).is_some_and(|it| BOOKED.contains(it));
        if !may_be_noun || ends || books || starts(at) && (at < last || has_namespace) {
            return Some((at, word, kind));
        }
    }
    None
}

/// Returns the first verb from a position on that surely reads.
fn first_reading<'w>(words: &[&'w str], from: usize) -> Option<(usize, &'w str, ToolEffect)> {
    let mut rest = words.iter().copied().enumerate().skip(from);
    let (at, word) = rest.find(|(_, word)| {
        kind_of(word) == Some(ToolEffect::Read) && !BEFORE_VERBS.contains(word)
    })?;
    Some((at, word, ToolEffect::Read))
}

/// Some reading verbs change something with certain objects: `resolve_ticket`, `check_in`.
fn read_or_change(verb: &str, rest: &[&str]) -> ToolEffect {
    let next = rest.first().copied().unwrap_or("");
    let changes = match verb {
        "resolve" => rest.iter().any(|word| INPUTS.resolved.contains(word)),
        "check" => matches!(next, "in" | "out" | "off"),
        _ => false,
    };
    if changes { ToolEffect::Change } else { ToolEffect::Read }
}

/// Returns the kind of a verb with its objects.
fn by_object(verb: &str, kind: ToolEffect, rest: &[&str]) -> Option<ToolEffect> {
    let has = |all: &[&str]| rest.iter().any(|word| all.contains(word));
    let last = rest.last().copied().unwrap_or("");
    if PROMOTED.contains(&verb)
        && let Some(kind) = promoted(verb, rest, last)
    {
        return Some(kind);
    }
    let changes = match verb {
        "charge" => has(INPUTS.batteries),
        "exchange" => has(&["token", "code", "key", "keys"]),
        "post" => !has(INPUTS.posted),
        "merge" => !has(INPUTS.merged),
        "close" => has(INPUTS.closed),
        "remove" | "cancel" => has(INPUTS.remade),
        _ => false,
    };
    if changes {
        return Some(ToolEffect::Change);
    }
    let is_known = match verb {
        "process" | "confirm" | "execute" | "trigger" => false,
        "complete" => !rest.is_empty() && !has(&["prompt", "text", "chat", "code"]),
        "request" => !has(INPUTS.asked),
        "send" => !has(INPUTS.typed),
        "submit" => !rest.is_empty() && !ANSWERS.contains(&last),
        "return" => has(INPUTS.goods),
        "call" => has(&["phone", "number"]) || has(PERSONS) && !has(&["agent", "agents"]),
        "forward" => has(&["email", "emails", "mail", "message", "messages"]),
        "hand" => has(&["off", "over"]),
        "add" => !has(&["numbers", "binary"]),
        "turn" => has(&["on", "off", "up", "down"]),
        "open" => has(INPUTS.opened),
        "file" => has(INPUTS.filed),
        "checkout" => has(&["cart", "order", "basket", "subscription"]),
        _ => true,
    };
    match verb {
        _ if !is_known => None,
        "transfer" => Some(transfer(rest)),
        "place" | "make" if has(&["call", "phonecall"]) => Some(ToolEffect::Send),
        "swap" if has(SUMS) => Some(ToolEffect::Money),
        _ => Some(kind),
    }
}

/// Returns the kind of a general verb whose object tells what is done.
fn promoted(verb: &str, rest: &[&str], last: &str) -> Option<ToolEffect> {
    let has = |all: &[&str]| rest.iter().any(|word| all.contains(word));
    // A transaction that is created or added may be an entry of a book.
    let is_entry = last == "transaction" && matches!(verb, "create" | "add");
    if MONEY_NOUNS.contains(&last) && !is_entry {
        return Some(ToolEffect::Money);
    }
    let pays = matches!(verb, "place" | "complete" | "issue")
        && has(&["order", "orders", "card", "cards", "subscription", "checkout"]);
    match pays {
        true => Some(ToolEffect::Money),
        false => FINAL_NOUNS.contains(&last).then_some(ToolEffect::Final),
    }
}

/// A call, a file or money may be transferred.
fn transfer(rest: &[&str]) -> ToolEffect {
    let has = |all: &[&str]| rest.iter().any(|word| all.contains(word));
    if rest.is_empty() || has(SUMS) {
        return ToolEffect::Money;
    }
    if has(PERSONS) || has(&["call", "chat", "conversation", "session", "back"]) {
        return ToolEffect::HandOff;
    }
    if has(ACCOUNTS) {
        return ToolEffect::Money;
    }
    match rest.first() {
        // `transfer_to_sales`
        Some(&"to") => ToolEffect::HandOff,
        _ if has(&["ownership", "domain", "repository", "repo"]) => ToolEffect::Final,
        _ => ToolEffect::Change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ToolEffect::{Change, Final, HandOff, Money, Read, Send};
    use serde_json::json;

    /// Names, with the effect they have and not merely seem to have.
    const NAMES: &[(&str, Option<ToolEffect>)] = &[
        // The first verb decides, whatever follows.
        ("inspect_refund_settlement", Some(Read)),
        ("get_cancelled_orders", Some(Read)),
        ("review_payment_transfer", Some(Read)),
        ("calculate_dividend_payout", Some(Read)),
        ("preview_return_label", Some(Read)),
        ("estimateTransferFee", Some(Read)),
        ("mcp__bank__list_withdrawals", Some(Read)),
        ("check_order_refund_eligibility", Some(Read)),
        ("resolve_booking_holder", Some(Read)),
        ("think", Some(Read)),
        ("crypto_swap_estimate_fee", Some(Read)),
        ("savings_account_transfer", Some(Money)),
        ("shop.verify_card_charge", Some(Read)),
        ("has_pending_transfer", Some(Read)),
        ("update_refund_note", Some(Change)),
        ("create_payment_method", Some(Change)),
        ("add_return_comment", Some(Change)),
        // What is final or moves money.
        ("cancel_subscription", Some(Final)),
        ("cancelBooking", Some(Final)),
        ("return_received_items", Some(Final)),
        ("exchange_order_items", Some(Final)),
        ("book_table", Some(Final)),
        ("hotel.book", Some(Final)),
        ("ticket-delete", Some(Final)),
        ("close_account", Some(Final)),
        ("merge_pull_request", Some(Final)),
        ("make_reservation", Some(Final)),
        ("submit_claim_form", Some(Final)),
        ("process_cancellation", Some(Final)),
        ("mcp__stripe__create_refund", Some(Money)),
        ("stripe_refund_charge", Some(Money)),
        ("bank.transfer", Some(Money)),
        ("process_refund", Some(Money)),
        ("send_payment", Some(Money)),
        ("payBill", Some(Money)),
        ("withdraw_funds", Some(Money)),
        ("ticket_buy", Some(Money)),
        ("place_order", Some(Money)),
        // What can be changed back.
        ("modify_pending_order_address", Some(Change)),
        ("reschedule_visit", Some(Change)),
        ("enable_roaming", Some(Change)),
        ("connect_vpn", Some(Change)),
        ("dismiss_notification", Some(Change)),
        ("share_document", Some(Change)),
        ("get_connect_status", Some(Read)),
        ("list_shared_files", Some(Read)),
        ("close_issue", Some(Change)),
        ("todo_list_add", Some(Change)),
        ("create_transaction", Some(Change)),
        ("remove_from_cart", Some(Change)),
        ("remove_file", Some(Final)),
        ("cancel_ticket", Some(Final)),
        ("merge_cells", Some(Change)),
        ("transfer_file", Some(Change)),
        ("resolve_ticket", Some(Change)),
        ("charge_phone_battery", Some(Change)),
        // Messages and hand-offs.
        ("send_email", Some(Send)),
        ("slack_post_message", Some(Send)),
        ("notifyCustomer", Some(Send)),
        ("reply_to_thread", Some(Send)),
        ("transfer_to_human_agents", Some(HandOff)),
        ("transfer_to_billing", Some(HandOff)),
        ("transfer_call_to_supervisor", Some(HandOff)),
        ("escalate_case", Some(HandOff)),
        ("handoff", Some(HandOff)),
        // Nouns that look like verbs.
        ("order_status", Some(Read)),
        ("sort_order", None),
        ("git_checkout", None),
        ("block_get", Some(Read)),
        ("request_user_input", None),
        ("refund_policy", Some(Read)),
        ("exchange_rate", Some(Read)),
        ("order_get", Some(Read)),
        ("message_delete", Some(Final)),
        ("book_search", Some(Read)),
        ("return_result", None),
        ("return_value", None),
        ("call_tool", None),
        ("send_keys", None),
        ("submit", None),
        ("submit_answer", None),
        ("process_image", None),
        ("file_search", Some(Read)),
        ("open_webpage", None),
        ("annual_return", None),
        ("electromagnetic_force", None),
        ("browser_click", None),
        ("run_query", None),
        ("calculate_sum", Some(Read)),
        ("add_binary_numbers", None),
        ("festival_book_ticket", Some(Final)),
        ("book_details", Some(Read)),
        ("bash", None),
    ];

    #[test]
    fn effects_of_names() {
        for (name, want) in NAMES {
            assert_eq!(ToolEffect::of_name(name), *want, "{name}");
        }
    }

    #[test]
    fn no_verb_stands_twice() {
        let all: Vec<&str> =
            VERBS.iter().chain(NOUN_VERBS).flat_map(|(_, verbs)| verbs.iter().copied()).collect();
        for verb in &all {
            assert_eq!(all.iter().filter(|other| *other == verb).count(), 1, "{verb}");
        }
    }

    #[test]
    fn statements_come_before_names() {
        let of = |name: &str, hints| ToolEffect::of_tool(name, Some(&hints));
        let read = json!({"readOnlyHint": true});
        assert_eq!(of("delete_nothing", read), Some((Read, Certainty::Proven)));
        let destroys = json!({"readOnlyHint": false, "destructiveHint": true});
        assert_eq!(of("sync", destroys.clone()), Some((Final, Certainty::Proven)));
        assert_eq!(of("pay_bill", destroys), Some((Money, Certainty::Proven)));
        let adds = json!({"readOnlyHint": false, "destructiveHint": false});
        assert_eq!(of("sync", adds.clone()), Some((Change, Certainty::Proven)));
        // Money is gone, even if nothing is destroyed.
        assert_eq!(of("pay_bill", adds), Some((Money, Certainty::Likely)));
        assert_eq!(of("cancel_order", json!({})), Some((Final, Certainty::Likely)));
        assert_eq!(of("sync", json!({})), None);
    }
}
