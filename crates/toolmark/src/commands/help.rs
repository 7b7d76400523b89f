//! `toolmark help`: the help of commands, and the pages of the book.

use crate::book::{self, BookPage};
use crate::cli::Cli;
use crate::commands::{formats, graders, rules};
use crate::exit::{Exit, Failure};
use crate::printer::{Printer, StyledLine, style};
use crate::text::width;
use clap::{Args, CommandFactory};
use std::io;
use toolmark_app::Stop;
use toolmark_check::{RULES, Rule, rule_by_code};
use toolmark_config::{did_you_mean, quoted};
use toolmark_grade::GraderInfo;
use toolmark_redact::printable;
use toolmark_spec::{GRADERS, grader_by_id};
use toolmark_trace::{FORMATS, FormatInfo, format_by_id};

const EXAMPLES: &str = "\
Examples:
  toolmark help                    all commands and pages
  toolmark help feed fix           the help of a command
  toolmark help tutorial           a page of the book
  toolmark help commands/feed      the page of a command
  toolmark help S101               a rule
  toolmark help tool-calls         a grader
  toolmark help claude-code        a format";

/// Print the help of a command, or a page about a topic
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Help {
    /// A command, a page, or the name of a rule, grader or format [default: list them]
    #[arg(value_name = "TOPIC")]
    topic: Vec<String>,
}

// clap has no such command below others where the one at the top is ours.
/// Print this message or the help of the given command
#[derive(Debug, Args)]
pub(crate) struct HelpBelow {
    /// The command
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl HelpBelow {
    /// Prints the help of a subcommand of this command, or of this command.
    pub(crate) fn run(self, above: &[&str], printer: &mut Printer) -> Result<Exit, Stop> {
        let above = above.iter().map(|word| (*word).to_owned());
        Help { topic: above.chain(self.command).collect() }.run(printer)
    }
}

/// A topic that a word can name.
#[derive(Clone, Copy)]
enum Topic {
    Page(&'static BookPage),
    Rule(&'static Rule),
    Grader(&'static GraderInfo),
    Format(&'static FormatInfo),
}

impl Topic {
    /// The command line that selects exactly this topic.
    fn command(self) -> String {
        match self {
            // A word with this ending is a page.
            Self::Page(page) => format!("toolmark help {}.md", page.name),
            Self::Rule(rule) => format!("toolmark rules {}", rule.code),
            Self::Grader(info) => format!("toolmark graders {}", info.id),
            Self::Format(info) => format!("toolmark formats {}", info.id),
        }
    }

    fn print(self, printer: &mut Printer) -> Result<(), Stop> {
        match self {
            Self::Page(page) => printer.markdown(page.text)?,
            Self::Rule(rule) => rules::explain(rule.code, printer)?,
            Self::Grader(info) => graders::explain(info, printer)?,
            Self::Format(info) => formats::print_details(printer, info)?,
        }
        Ok(())
    }
}

impl Help {
    pub(crate) fn run(self, printer: &mut Printer) -> Result<Exit, Stop> {
        if self.topic.is_empty() {
            printer.raw(&command_help(&[]).unwrap_or_default())?;
            list_pages(printer)?;
            return Ok(Exit::Ok);
        }
        let mut topics = topics(&self.topic).into_iter();
        match command_help(&self.topic) {
            Some(help) => printer.raw(&help)?,
            None => topics.next().ok_or_else(|| unknown(&self.topic))?.print(printer)?,
        }
        let others: Vec<String> = topics.map(Topic::command).collect();
        if !others.is_empty() {
            printer.line(&StyledLine::new())?;
            printer.line(&StyledLine::of(style::STRONG, "See also:"))?;
            for command in others {
                printer.line(&StyledLine::of(
                    style::USER,
                    printable!("  {}", printer.redact(command)),
                ))?;
            }
        }
        Ok(Exit::Ok)
    }
}

/// The help of a command, as `--help` prints it.
fn command_help(words: &[String]) -> Option<String> {
    let root = Cli::command();
    words.iter().try_fold(&root, |command, word| command.find_subcommand(word))?;
    let line = ["toolmark"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    let help = root.clone().try_get_matches_from(line).err()?;
    Some(help.render().ansi().to_string())
}

/// All topics that words can name besides commands, the likeliest first.
fn topics(words: &[String]) -> Vec<Topic> {
    let [word] = words else {
        // `toolmark help guard policy`
        let pages = ["-", "/"].into_iter().filter_map(|sign| book::page(&words.join(sign)));
        return pages.map(Topic::Page).collect();
    };
    if let Some(name) = word.strip_suffix(".md") {
        return book::page(name).map(Topic::Page).into_iter().collect();
    }
    let ends = |page: &&BookPage| page.name.rsplit_once('/').is_some_and(|(_, end)| end == word);
    let format = format_by_id(word).map(|format| Topic::Format(format.info()));
    let pages = book::page(word).into_iter().chain(book::PAGES.iter().filter(ends));
    pages
        .map(Topic::Page)
        .chain(rule_by_code(word).map(Topic::Rule))
        .chain(grader_by_id(word).map(Topic::Grader))
        .chain(format)
        .collect()
}

/// The names of all topics, each with its summary.
pub(crate) fn names() -> Vec<(&'static str, &'static str)> {
    let pages = book::parts().into_iter().flat_map(|(_, pages)| pages);
    let pages = pages.map(|(title, page)| (page.name, title));
    let rules = RULES.iter().map(|rule| (rule.code, rule.summary));
    let graders = GRADERS.iter().map(|info| (info.id, info.summary));
    let formats = FORMATS.iter().map(|format| (format.info().id, format.info().title));
    pages.chain(rules).chain(graders).chain(formats).collect()
}

/// Maximum number of listed pages that mention a word.
const MENTIONED: usize = 5;

fn unknown(words: &[String]) -> Failure {
    let topic = words.join(" ");
    let failure = Failure::usage(format!("unknown topic {}", quoted(&topic)));
    let root = Cli::command();
    let commands = root.get_subcommands().map(clap::Command::get_name);
    let rules = RULES.iter().map(|rule| rule.name);
    let names = names();
    let all = commands.chain(names.iter().map(|(name, _)| *name)).chain(rules);
    if let Some(near) = did_you_mean(&topic, all) {
        return failure.hint(format!("did you mean {near}?"));
    }
    let wanted = topic.to_lowercase();
    let mentions = |page: &&BookPage| page.text.to_lowercase().contains(&wanted);
    let pages: Vec<&str> =
        book::PAGES.iter().filter(mentions).map(|page| page.name).take(MENTIONED).collect();
    match pages.as_slice() {
        [] => failure.hint("`toolmark help` lists commands and pages"),
        pages => failure.hint(format!("these pages mention it: {}", pages.join(", "))),
    }
}

fn list_pages(printer: &mut Printer) -> io::Result<()> {
    let parts = book::parts();
    let names = parts.iter().flat_map(|(_, pages)| pages).map(|(_, page)| width(page.name));
    let column = names.max().unwrap_or(0) + 4;
    printer.line(&StyledLine::new())?;
    printer.line(&StyledLine::of(style::STRONG, "Pages:"))?;
    for (title, pages) in parts {
        printer.line(&StyledLine::of(style::DIM, printable!("  {}", title)))?;
        for (title, page) in pages {
            let mut line = StyledLine::of(style::USER, printable!("  {}", page.name));
            line.pad(column);
            printer.line(&line.with(style::PLAIN, title))?;
        }
    }
    printer.line(&StyledLine::new())?;
    let others = "`toolmark help NAME` explains rules (`toolmark rules`), graders (`toolmark \
                  graders`) and formats (`toolmark formats`) too.";
    printer.markdown(others)
}
