use super::*;
use serde_json::{Value, json};
use toolmark_session::notation;

fn gold(rows: &[Value]) -> Gold {
    let rows = rows.iter().zip(1..).map(|(row, line)| GoldRow::parse(row, line).unwrap());
    Gold::new(rows.collect()).unwrap()
}

fn run(id: &str, trace: &str) -> Trajectory {
    let mut run = notation::parse(trace).unwrap();
    run.id = Some(id.into());
    run
}

fn pairs(gold: &Gold, runs: &[Trajectory]) -> Vec<GoldPair> {
    let toolsets = Toolsets::default();
    runs.iter().flat_map(|run| gold.pair(run, &toolsets)).collect()
}

#[test]
fn rows_and_what_is_wrong_with_them() {
    for (row, tools) in [
        (json!({"id": "a", "tool": "Read"}), vec!["Read"]),
        (json!({"id": 7, "tool": null}), vec![]),
        (json!({"prompt": "x", "tool": "none"}), vec![]),
        (json!({"prompt": "x", "tools": []}), vec![]),
        (json!({"prompt": "x", "tool": ""}), vec![]),
        (json!({"id": "a", "tools": ["Grep", "Glob", "Grep"]}), vec!["Grep", "Glob"]),
        (json!({"id": "a", "tool": "Grep | Glob"}), vec!["Grep", "Glob"]),
        (json!({"id": "a", "gold": "mcp__shop__buy"}), vec!["shop/buy"]),
    ] {
        assert_eq!(GoldRow::parse(&row, 1).unwrap().tools, tools, "{row}");
    }
    for (row, why) in [
        (json!({"tool": "Read"}), "neither an id nor a prompt"),
        (json!({"id": "a"}), "has no tool"),
        (json!({"id": "a", "tool": 3}), "neither text nor a list"),
        (json!({"id": "a", "tool": ["Read", "none"]}), "both a tool and `none`"),
        (json!({"id": ["a"], "tool": "Read"}), "is not text"),
    ] {
        let error = GoldRow::parse(&row, 4).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let row = GoldRow::parse(&json!({"id": "a", "tool": "Read"}), 1).unwrap();
    assert!(Gold::new(vec![row.clone(), row]).is_err());
}

#[test]
fn rows_find_their_traces() {
    let gold = gold(&[
        json!({"id": "one", "tool": "Read"}),
        json!({"id": "two", "prompt": "second  thing", "tool": "Grep"}),
        json!({"prompt": "what is a monad?", "tool": "none"}),
        json!({"id": "nobody", "prompt": "find it", "tool": "Glob"}),
        json!({"id": "example", "tool": "Edit"}),
        json!({"id": "cut", "tool": "none"}),
    ]);
    let found = pairs(
        &gold,
        &[
            run("one", "user: x\nTodoWrite {}\nRead {}\nEdit {}"),
            run("two", "user: first\nRead {}\nuser: second thing\nGlob {}"),
            run("three", "user: what is\\n a monad?\nassistant: a monoid"),
            run("four", "user: find it\nBash {}"),
            run("cut", "user: x"),
        ],
    );
    let tool = |name: &str| GoldChoice::Tool(name.into());
    let choices: Vec<_> = found.iter().map(|p| (p.row, p.choice.clone(), p.is_by_name)).collect();
    // All traces are in a file named `example`.
    let of_file = |choice| (4, choice, true);
    assert_eq!(
        choices,
        [
            (0, tool("Read"), true),
            of_file(tool("Read")),
            (1, tool("Glob"), true),
            of_file(tool("Read")),
            (2, GoldChoice::NoTool, false),
            of_file(GoldChoice::NoTool),
            (3, tool("Bash"), false),
            of_file(tool("Bash")),
            of_file(GoldChoice::Unknown),
            (5, GoldChoice::Unknown, true),
        ]
    );
}

#[test]
fn names_of_one_tool_are_one() {
    let gold = gold(&[json!({"id": "a", "tool": "Task"}), json!({"id": "b", "tool": "TodoWrite"})]);
    let found = pairs(&gold, &[run("a", "Agent {}"), run("b", "TodoWrite {}\nRead {}")]);
    let choices: Vec<_> = found.into_iter().map(|pair| pair.choice).collect();
    assert_eq!(choices, [GoldChoice::Tool("Task".into()), GoldChoice::Tool("TodoWrite".into())]);
}

#[test]
fn numbers() {
    let gold = gold(&[
        json!({"id": "a", "tool": "Grep"}),
        json!({"id": "b", "tool": "Grep"}),
        json!({"id": "c", "tool": "Glob"}),
        json!({"id": "d", "tools": ["Edit", "Write"]}),
        json!({"id": "e", "tool": "none"}),
        json!({"id": "f", "tool": "none"}),
        json!({"id": "g", "tool": "Read"}),
    ]);
    let runs = [
        run("a", "Grep {}"),
        run("b", "Glob {}"),
        run("c", "Glob {}"),
        run("d", "Write {}"),
        run("e", "user: x\nassistant: y"),
        run("f", "Grep {}"),
    ];
    let selection = gold.score(&pairs(&gold, &runs)).unwrap();
    assert_eq!((selection.rows, selection.pairs, selection.accuracy.right), (7, 6, 4));
    let grep = selection.tools["Grep"];
    assert_eq!((grep.precision.rate, grep.recall.rate), (Some(0.5), Some(0.5)));
    assert_eq!((grep.f1.of, grep.f1.value), (3, Some(0.5)));
    let [low, high] = grep.f1.interval.unwrap();
    assert!(low < 0.5 && 0.5 < high && low > 0.0 && high < 1.0);
    let glob = selection.tools["Glob"];
    assert_eq!((glob.precision.rate, glob.recall.rate), (Some(0.5), Some(1.0)));
    assert!((glob.f1.value.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    // Either of the two was right.
    assert_eq!(selection.tools["Write"].f1.value, Some(1.0));
    assert!(!selection.tools.contains_key("Edit"));
    let pair = selection.confusable.iter().find(|p| p.tools == ["Grep", "Glob"]).unwrap();
    assert_eq!((pair.first_as_second, pair.second_as_first, pair.told_apart.of), (1, 0, 3));
    assert_eq!((selection.no_tool.rows, selection.no_tool.left_alone.rate), (2, Some(0.5)));
    let chosen = |gold: &str, chosen: &str| {
        selection.confusion.iter().find(|c| c.gold == gold && c.chosen == chosen).map(|c| c.count)
    };
    assert_eq!((chosen("Grep", "Glob"), chosen("none", "Grep")), (Some(1), Some(1)));
    assert_eq!(selection.unpaired.len(), 1);
    assert_eq!(selection.unpaired[0].name, "g");
    assert_eq!(selection.warnings, ["1 of 7 gold rows were not scored"]);
    let mut card = crate::Scorecard::default();
    selection.measure(&mut card);
    let f1 = card.measures.iter().find(|(m, _)| m.name == "f1" && m.tool == "Grep").unwrap();
    assert_eq!((f1.1.of, crate::Scale::F1.rate(*f1.1)), (3, Some(0.5)));
    // The gate has the same interval as the table.
    let gate: crate::gate::Gate = "selection.f1[Grep] >= 0.4".parse().unwrap();
    let row = gate.rows(&crate::gate::Cells::from(&card), None).remove(0);
    assert_eq!((row.n, row.value), (3, Some(0.5)));
    assert_eq!(row.interval.map(|(low, high)| [low, high]), grep.f1.interval);
}

#[test]
fn too_few_rows_without_a_tool_are_told() {
    let rows: Vec<Value> =
        (0..11).map(|n| json!({"id": n, "tool": if n == 0 { "none" } else { "Read" }})).collect();
    let gold = gold(&rows);
    let selection = gold.score(&pairs(&gold, &[run("1", "Read {}")])).unwrap();
    assert!(selection.warnings[0].raw().starts_with("1 of 11 gold rows are for no tool"));
}

#[test]
fn a_name_counts_before_a_prompt_and_nothing_is_an_error() {
    let gold = gold(&[json!({"id": "a", "prompt": "go", "tool": "Read"})]);
    let both = [run("a", "user: go\nRead {}"), run("b", "user: go\nBash {}")];
    let selection = gold.score(&pairs(&gold, &both)).unwrap();
    assert_eq!((selection.pairs, selection.accuracy.right), (1, 1));
    assert!(gold.score(&[]).is_err());
    let cut = gold.score(&pairs(&gold, &[run("a", "user: go")]));
    assert!(cut.unwrap_err().to_string().contains("no trace shows"));
}
