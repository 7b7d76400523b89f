//! Programs that show the content of files. A secret is recognized by its file name; the pattern of
//! a search is not a file.
//!
//! ```denied
//! awk 'BEGIN{system("rm -rf /")}'
//! ```
//! ```asked
//! jq '.version = "2"' package.json > package.json
//! sort -u names.txt > names.txt
//! grep -f .env README.md
//! rg -if .env src
//! cat .env?
//! cat .env
//! cat ~/.ssh/id_rsa
//! head -n1 ~/.aws/credentials
//! grep KEY .env
//! base64 ~/.ssh/id_ed25519
//! cat < .env
//! rg --pre x y
//! less /etc/shadow
//! cd ~/.ssh && cat id_rsa
//! ```
//! ```allowed
//! cat README.md
//! ls -la .env
//! stat ~/.ssh/id_rsa
//! cat .env.example
//! grep -r '.env' src
//! rg id_rsa
//! cat ~/.ssh/id_rsa.pub
//! grep -c x .env
//! cut -d= -f1 .env
//! awk -F= '{print $1}' .env
//! sed -n 's/=.*$/=set/p' .env
//! grep -oE '^[A-Z_]+=' .env
//! awk '{print $1}' f
//! jq . package.json
//! cat /etc/hosts
//! diff a b
//! source .env
//! head -20 src/secrets.rs
//! cat /etc/passwd
//! ```

use crate::effects::{EffectKind, EffectScope, Reversibility};
use crate::expand::Arg;
use crate::inline;
use crate::options::ParsedOptions;
use crate::program::Program;
use crate::run::CommandRun;

pub(super) fn run(run: &mut CommandRun<'_, '_>) {
    let name = run.name;
    let grammar = match name {
        "grep" | "egrep" | "fgrep" | "ugrep" | "zgrep" => Program::open(
            "e= f= m= A= B= C= d= D= regexp= file= max-count= include= exclude= exclude-dir= \
             after-context= before-context= context= color= label=",
        ),
        "rg" | "ag" | "ack" | "batgrep" => Program::open(
            "e= f= m= A= B= C= g= t= T= j= M= r= E= regexp= file= glob= iglob= type= \
             type-not= max-count= after-context= before-context= context= pre= pre-glob= \
             max-depth= replace= hostname-bin= sort= max-filesize= ignore= encoding=",
        ),
        "head" | "tail" => Program::open("n= c= lines= bytes= pid="),
        "awk" | "gawk" | "mawk" | "nawk" => {
            Program::open("F= f= v= field-separator= file= assign=")
        }
        "cut" => Program::open("d= f= c= b= delimiter= fields="),
        "jq" | "yq" => Program::open("f= L= indent= from-file="),
        "xxd" | "od" | "hexdump" | "hd" => Program::open("s= l= c= g= n= t= A= j= N= w= o="),
        "diff" => Program::open("U= W= I= x= unified= exclude= label="),
        "bat" | "batcat" => Program::open("l= r= H= language= line-range= style= theme= paging="),
        _ => Program::open(""),
    };
    let parsed = grammar.parse(run.args);
    if parsed.informs() {
        return;
    }
    let helper = parsed
        .value("", "pre")
        .filter(|_| parsed.exact("pre"))
        .or_else(|| parsed.value("", "hostname-bin").filter(|_| parsed.exact("hostname-bin")));
    if let Some(helper) = helper {
        run.effect(
            EffectKind::ExecuteUntrusted,
            helper,
            EffectScope::Unknown,
            Reversibility::R1,
            "starts a helper program",
        );
    }
    // `less '+!command'`
    let given = run.args.iter().filter_map(|arg| arg.text.strip_prefix("+!"));
    for text in given.map(str::to_owned).collect::<Vec<_>>() {
        run.shell_text(&text);
    }
    if matches!(name, "tail" | "tac") && run.args.iter().any(|arg| arg.text == "/dev/zero") {
        run.ask(EffectKind::StopService, "the memory", EffectScope::System, "reads without an end");
    }
    // `jq '.scripts.test = "…"'`: a script that is run by its name later.
    if matches!(name, "jq" | "yq") {
        let filters = run.args.iter().filter(|arg| arg.text.contains(".scripts."));
        for filter in filters.map(|arg| arg.text.clone()).collect::<Vec<_>>() {
            for text in filter.split('"').skip(1).step_by(2) {
                super::runners::suspect(run, |run| run.shell_text(text));
            }
        }
    }
    let has_pattern = matches!(
        name,
        "grep" | "egrep" | "fgrep" | "ugrep" | "zgrep" | "rg" | "ag" | "ack" | "batgrep"
    ) && !parsed.has("e", "regexp")
        && !parsed.has("f", "file")
        && !parsed.exact("files");
    let has_program = matches!(name, "awk" | "gawk" | "mawk" | "nawk") && !parsed.has("f", "file")
        || matches!(name, "jq" | "yq") && !parsed.has("f", "from-file");
    let counts = matches!(name, "grep" | "egrep" | "fgrep" | "rg")
        && (parsed.has("c", "count")
            || parsed.has("q", "quiet")
            || parsed.has("l", "files-with-matches"));
    if has_program
        && name.ends_with("awk")
        && let Some(code) = parsed.operands.first()
    {
        let code = code.text.clone();
        inline::awk(run, &code);
    }
    // The patterns of a file are shown where they match.
    if name.ends_with("grep") || matches!(name, "rg" | "ag" | "ack") {
        let call = run.call;
        for given in parsed.options.iter().filter(|given| matches!(given.name, "f" | "file")) {
            if let Some(path) = given.value {
                run.analyzer.read_file(&Arg::plain(path), name, call);
            }
        }
    }
    if has_pattern {
        searches_home(run, &parsed);
    }
    if matches!(name, "type" | "tr") || counts || shows_names_only(name, &parsed) {
        return;
    }
    let call = run.call;
    for arg in parsed.operands.iter().skip(usize::from(has_pattern || has_program)) {
        run.analyzer.read_file(arg, name, call);
    }
}

/// Reports a search for passwords and keys in the settings of the home directory.
fn searches_home(run: &mut CommandRun<'_, '_>, parsed: &ParsedOptions<'_>) {
    let Some((pattern, places)) = parsed.operands.split_first() else { return };
    let pattern = pattern.text.to_ascii_lowercase();
    let words =
        ["password", "passwd", "secret", "token", "api_key", "apikey", "akia", "private key"];
    let is_home = |arg: &&&Arg| {
        let place = run.analyzer.place(&arg.text);
        place.scope == EffectScope::Home
            && (place.whole || arg.text.trim_end_matches('/').ends_with(".config"))
    };
    if words.iter().any(|word| pattern.contains(word))
        && let Some(place) = places.iter().find(is_home)
    {
        let target = place.text.clone();
        let why = "searches the home directory for secrets";
        run.effect(EffectKind::ReadSecret, &target, EffectScope::Home, Reversibility::R1, why);
    }
}

/// Whether only the names before the `=` are shown, without the values.
fn shows_names_only(name: &str, parsed: &ParsedOptions<'_>) -> bool {
    let first = parsed.operands.first().map_or("", |arg| arg.text.as_str());
    match name {
        "cut" => {
            parsed.value("d", "delimiter") == Some("=") && parsed.value("f", "fields") == Some("1")
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            parsed.value("F", "field-separator") == Some("=")
                && first.replace([' ', ';'], "").ends_with("{print$1}")
        }
        "grep" | "egrep" | "rg" => {
            let pattern = parsed.value("e", "regexp").unwrap_or(first);
            // Variables with these names are public, because bundlers put them into pages.
            let public =
                ["NEXT_PUBLIC_", "VITE_", "EXPO_PUBLIC_", "REACT_APP_", "PUBLIC_", "NUXT_PUBLIC_"];
            let is_public = |part: &str| {
                let part = part.trim_start_matches(['^', '(']);
                public.iter().any(|start| part.starts_with(start))
            };
            let is_plain = !pattern.is_empty() && !parsed.has("v", "invert-match");
            let head = pattern.split('(').next().unwrap_or(pattern);
            if is_plain
                && (is_public(head) && !head.contains('|') || pattern.split('|').all(is_public))
            {
                return true;
            }
            parsed.has("o", "only-matching") && pattern.ends_with('=') && !pattern.contains('.')
        }
        _ => false,
    }
}
