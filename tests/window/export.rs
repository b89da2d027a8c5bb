//! Exports in the window: equal to the command line byte for byte, with consent before data is sent or a store is changed,
//! and with advice after errors.

use crate::screen::{
    COMPACTED, MANY_RESULTS, Window, click, copy_of, menu, open, options, plimsoll, texts,
    type_into, with_lanes,
};
use crate::server::{STREAM_HEAD, Server, answer};
use egui::Vec2;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use plimsoll::app::state::run_logs::list::{Deletion, RunLogs, RunLogsCommand};
use plimsoll::app::ui::run_logs;
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

const KEY: &str = "sk-never-shown-0123456789";

/// Opens a window with these presets as lanes. Gemini CLI masks results before it summarizes, and writes them to files.
fn window(source: &Path, policies: &[&str]) -> Window {
    let masks = [("prune_protect", 2_000.0), ("prune_minimum", 1_000.0)];
    let is_gemini = policies.contains(&"gemini-cli");
    let settings = if is_gemini { &masks[..] } else { &[] };
    open(with_lanes(options(source.to_owned()), policies, settings))
}

/// Chooses an item of the menu next to the export button.
fn choose(window: &mut Window, item: &str) {
    click(window, "More exports");
    click(window, item);
}

/// Returns the names of the files in a folder.
fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there").flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Starts a model that gives this answer to every request.
fn model_that_says(words: &'static str) -> Server {
    Server::new(move |seen, client| {
        if seen.line.starts_with("GET") {
            let windows = "{\"data\":[{\"id\":\"m\",\"max_model_len\":200000}]}";
            return client.send(&answer("200 OK", "content-type: application/json\r\n", windows));
        }
        let event = format!(
            "{STREAM_HEAD}data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{words}\"}},\"finish_reason\":\"stop\"}}]}}\n\ndata: [DONE]\n\n"
        );
        client.send(event.as_bytes());
    })
}

/// Fills in the export of a summary by a model.
fn name_model(window: &mut Window, address: &str, model: &str) {
    click(window, "Export…");
    click(window, "Compact now, regardless of the trigger");
    click(window, "A model");
    type_into(window, (Role::TextInput, "address"), address);
    type_into(window, (Role::TextInput, "model"), model);
    type_into(window, (Role::PasswordInput, "key"), KEY);
}

/// Switches the log of requests on. Returns its path in this folder.
fn log_into(window: &mut Window, folder: &Path) -> PathBuf {
    click(window, "Keep requests and answers");
    let log = folder.join("run.jsonl");
    let field = (Role::TextInput, "log file");
    type_into(window, field, &log.to_string_lossy());
    log
}

#[test]
fn reports_equal_those_of_the_command_line_and_can_be_redacted() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &[]);
    choose(&mut window, "Report…");
    click(&mut window, "Write");
    choose(&mut window, "Report…");
    click(&mut window, "Markdown");
    click(&mut window, "Redact texts, paths, names and ids");
    click(&mut window, "Write");
    assert!(window.query_by_label("Write").is_none(), "the dialog is gone");
    let here = folder.path();
    plimsoll(here, &["report", MANY_RESULTS, "-o", "cli.html"]);
    plimsoll(here, &["report", MANY_RESULTS, "--redact", "-o", "cli.md"]);
    assert!(read(here, "many-tool-results-report.html") == read(here, "cli.html"));
    let redacted = read(here, "many-tool-results-report.md");
    assert!(redacted == read(here, "cli.md"));
    assert!(!String::from_utf8_lossy(&redacted).contains("many-tool-results"));
}

#[test]
fn the_curve_is_written_as_png_svg_and_csv() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &["truncate", "truncate", "none"]);
    let here = folder.path();
    for form in ["an image (PNG)", "a vector image (SVG)", "a table (CSV)"] {
        choose(&mut window, "Curve…");
        click(&mut window, form);
        if form.contains("PNG") {
            click(&mut window, "light");
        }
        click(&mut window, "Write");
    }
    for extension in ["png", "svg", "csv"] {
        let cli = format!("cli.{extension}");
        let policies = ["--policy", "truncate", "--policy", "truncate@truncate-2"];
        let base = ["replay", MANY_RESULTS, "--curve", &cli];
        plimsoll(here, &[&base[..], &policies[..]].concat());
        let ours = read(here, &format!("many-tool-results-curve.{extension}"));
        assert!(ours == read(here, &cli), "{extension}");
    }
}

#[test]
fn existing_files_are_not_overwritten_and_named_in_the_error() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &[]);
    let diary = folder.path().join("diary.html");
    fs::write(&diary, "dear diary").expect("a new file");
    choose(&mut window, "Report…");
    let field = (Role::TextInput, "write to");
    type_into(&mut window, field, &diary.to_string_lossy());
    click(&mut window, "Write");
    window.get_by_label("Nothing was written");
    let shown = texts(&window).concat();
    assert!(shown.contains("diary.html already exists"), "{shown}");
    assert_eq!(read(folder.path(), "diary.html"), b"dear diary");
    let free = folder.path().join("free.html");
    type_into(&mut window, field, &free.to_string_lossy());
    click(&mut window, "Write");
    assert!(free.exists(), "a free path is accepted");
    assert!(window.query_by_label("Nothing was written").is_none());
}

#[test]
fn the_context_of_a_call_is_written_for_a_lane_and_as_recorded() {
    let (folder, source) = copy_of(COMPACTED);
    let mut window = window(&source, &["truncate", "summarize"]);
    window.key_press(egui::Key::Home);
    window.run_ok();
    for _ in 0..39 {
        window.key_press(egui::Key::ArrowRight);
        window.run_steps(1);
    }
    window.run_ok();
    choose(&mut window, "Context at call 40…");
    window.get_by_label("Context of this lane at call 40, file only");
    click(&mut window, "Export");
    window.get_by_label("Written to");
    click(&mut window, "Another export");
    click(&mut window, "Recorded");
    assert!(window.query_by_label("A model").is_none(), "there is nothing to summarize");
    click(&mut window, "Export");
    window.get_by_label("Written to");
    let here = folder.path();
    let cli = |policy: &str, out: &str| {
        let args = ["context", COMPACTED, "--at-call", "40", "--policy", policy, "-o", out];
        plimsoll(here, &args);
        read(here, out)
    };
    let names = files(here);
    let written: Vec<_> = names
        .iter()
        .filter(|name| name.contains("-call-40") && !name.ends_with(".manifest.json"))
        .collect();
    assert_eq!(written.len(), 2, "{names:?}");
    let extension = written[0].rsplit('.').next().expect("an extension");
    let first = format!("compacted-call-40.{extension}");
    let second = format!("compacted-call-40-2.{extension}");
    assert!(read(here, &first) == cli("truncate", "lane.jsonl"));
    assert!(read(here, &second) == cli("recorded", "recorded.jsonl"));
}

#[test]
fn files_of_a_policy_are_written_to_the_chosen_folder() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &["gemini-cli"]);
    click(&mut window, "Export…");
    let chosen = folder.path().join("cut out");
    type_into(&mut window, (Role::TextInput, "files to"), &chosen.to_string_lossy());
    click(&mut window, "Export");
    window.get_by_label("Written to");
    assert!(!files(&chosen).is_empty());
    assert!(!files(folder.path()).iter().any(|name| name.contains(".files")));
    let written = read(folder.path(), "many-tool-results-managed-1.jsonl");
    let pointer = chosen.to_string_lossy().into_owned();
    assert!(
        String::from_utf8_lossy(&written).contains(&pointer),
        "pointers contain the chosen folder"
    );
}

#[test]
fn the_price_is_shown_before_consent_without_requests() {
    let (_folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &["summarize"]);
    name_model(&mut window, "https://api.openai.com", "gpt-4o-2024-08-06");
    click(&mut window, "Continue…");
    window.get_by_label("Send to api.openai.com?");
    let shown = texts(&window);
    let price = shown.iter().find(|text| text.starts_with("≈ $"));
    let price = price.expect("a price");
    assert!(price.contains(", at most $") && price.contains("(price of gpt-4o of 20"), "{price}");
    assert!(!shown.concat().contains(KEY));
    click(&mut window, "Back");
    type_into(&mut window, (Role::TextInput, "model"), "nobody-knows-it");
    click(&mut window, "Continue…");
    window.get_by_label("unknown, no price of nobody-knows-it is listed");
}

#[test]
fn requests_need_consent_and_summaries_can_be_edited() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let server = model_that_says("The work is half done.");
    let mut window = window(&source, &["summarize"]);
    name_model(&mut window, &server.url(), "m");
    click(&mut window, "Continue…");
    assert!(server.received().is_empty(), "nothing is sent before consent");
    window.get_by_label(&format!("Send to {}?", server.address));
    // With --no-state, no log is kept by default.
    window.get_by_label("nothing is logged");
    window.get_by_label("none, the server is this machine");
    click(&mut window, &format!("Send to {}", server.address));
    let mut requests = server.received();
    requests.retain(|request| request.line.starts_with("POST"));
    let [request] = &requests[..] else {
        panic!("one request is sent: {requests:?}");
    };
    let request = String::from_utf8_lossy(&request.body);
    assert!(request.contains("You compact the conversation") && !request.contains("null"));
    // The text is typed in front of the model's text.
    let field = window.get_by_role_and_label(Role::MultilineTextInput, "Summary 1");
    field.focus();
    field.type_text("Read this first. ");
    window.run_ok();
    click(&mut window, "Write the export");
    window.get_by_label("Written to");
    let written = read(folder.path(), "many-tool-results-managed-1.jsonl");
    let written = String::from_utf8_lossy(&written);
    assert!(written.contains("The work is half done."));
    assert!(written.contains("Read this first."));
}

#[test]
fn an_export_without_summaries_needs_no_consent() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let server = model_that_says("An unused answer.");
    let mut window = window(&source, &["prune"]);
    name_model(&mut window, &server.url(), "m");
    click(&mut window, "Continue…");
    window.get_by_label("This policy writes no summary here.");
    click(&mut window, "Write the export");
    window.get_by_label("Written to");
    assert!(server.received().is_empty());
    assert_eq!(files(folder.path()).len(), 4);
}

#[test]
fn a_rejected_key_is_reported_but_never_shown_or_logged() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let server = Server::new(|seen, client| {
        let key = seen.header("authorization").unwrap_or_default();
        let body = format!("{{\"error\":{{\"message\":\"Incorrect API key provided: {key}\"}}}}");
        client.send(&answer("401 Unauthorized", "content-type: application/json\r\n", &body));
    });
    let mut window = window(&source, &["summarize"]);
    name_model(&mut window, &server.url(), "m");
    let log = log_into(&mut window, folder.path());
    click(&mut window, "Continue…");
    assert!(server.received().is_empty(), "nothing is sent before consent");
    click(&mut window, &format!("Send to {}", server.address));
    window.get_by_label("Nothing was written");
    let shown = texts(&window).concat();
    assert!(
        shown.contains("does not accept the key") && shown.contains("check that it is set"),
        "{shown}"
    );
    assert!(!shown.contains(KEY), "{shown}");
    let logged = fs::read_to_string(&log).expect("the question was logged");
    assert!(logged.contains("does not accept the key") && !logged.contains(KEY), "{logged}");
    assert_eq!(files(folder.path()).len(), 2, "no export");
    let sent = server.received();
    assert!(
        sent.iter().any(|seen| { seen.header("authorization").is_some_and(|h| h.contains(KEY)) })
    );
    // The form is unchanged; the log of that name exists now.
    click(&mut window, "Continue…");
    let shown = texts(&window).concat();
    assert!(shown.contains("the log: ") && shown.contains("never overwritten"), "{shown}");
}

#[test]
fn an_unreachable_server_is_reported_at_once() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    drop(listener);
    let mut window = window(&source, &["summarize"]);
    name_model(&mut window, &format!("http://{address}"), "m");
    click(&mut window, "Continue…");
    click(&mut window, &format!("Send to {address}"));
    let shown = texts(&window).concat();
    assert!(
        shown.contains("cannot reach") && shown.contains("check that the server runs"),
        "{shown}"
    );
    assert_eq!(files(folder.path()).len(), 1, "nothing was written");
}

#[test]
fn invalid_limits_block_the_export() {
    let (_folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &["summarize"]);
    name_model(&mut window, "http://127.0.0.1:1", "m");
    click(&mut window, "Connection");
    let field = (Role::TextInput, "Total time limit");
    type_into(&mut window, field, "soon");
    let shown = texts(&window).concat();
    assert!(shown.contains("enter seconds or a time such as 5 min"), "{shown}");
    let button = window.get_by_label("Continue…");
    assert!(button.accesskit_node().is_disabled());
    type_into(&mut window, field, "5 min");
    assert!(!window.get_by_label("Continue…").accesskit_node().is_disabled());
}

#[test]
fn replaying_a_log_gives_the_same_bytes() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let server = model_that_says("Half of the work is done.");
    let mut window = window(&source, &["summarize"]);
    name_model(&mut window, &server.url(), "m");
    let log = log_into(&mut window, folder.path());
    click(&mut window, "Continue…");
    click(&mut window, &format!("Send to {}", server.address));
    click(&mut window, "Write the export");
    window.get_by_label("Written to");
    let asked = server.received().len();
    click(&mut window, "Another export");
    click(&mut window, "A log");
    type_into(&mut window, (Role::TextInput, "log"), &log.to_string_lossy());
    click(&mut window, "Export");
    window.get_by_label("Written to");
    assert_eq!(server.received().len(), asked, "no request is sent again");
    let here = folder.path();
    let args = ["compact", MANY_RESULTS, "--policy", "summarize", "--force"];
    let more = ["--replay-log", "run.jsonl", "-o", "cli.jsonl"];
    plimsoll(here, &[&args[..], &more[..]].concat());
    let first = read(here, "many-tool-results-managed-1.jsonl");
    assert!(String::from_utf8_lossy(&first).contains("Half of the work is done."));
    assert!(first == read(here, "many-tool-results-managed-2.jsonl"));
    assert!(first == read(here, "cli.jsonl"));
}

#[test]
fn an_invalid_log_is_reported_by_name() {
    let (folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &["summarize"]);
    click(&mut window, "Export…");
    click(&mut window, "A log");
    click(&mut window, "Export");
    let shown = texts(&window).concat();
    assert!(shown.contains("choose the log of an earlier run"), "{shown}");
    let none = folder.path().join(MANY_RESULTS).to_string_lossy().into_owned();
    type_into(&mut window, (Role::TextInput, "log"), &none);
    click(&mut window, "Review summaries");
    let shown = texts(&window).concat();
    assert!(shown.contains("is not the log of a run"), "{shown}");
}

/// The environment variable with the home folder of a test in a process of its own.
const HOME: &str = "PLIMSOLL_TEST_HOME";

/// Runs a test again in a process whose agents' stores are in a temporary folder. Returns true in that process.
fn is_in_own_process(test: &str) -> bool {
    if std::env::var_os(HOME).is_some() {
        return true;
    }
    let home = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture"])
        .env(HOME, home.path())
        .env("HOME", home.path())
        .env("CODEX_HOME", home.path().join("codex"))
        .output()
        .expect("it starts again");
    let shown = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}{errors}");
    false
}

#[test]
fn a_session_is_added_to_a_store_only_after_confirmation() {
    if !is_in_own_process("export::a_session_is_added_to_a_store_only_after_confirmation") {
        return;
    }
    let home = PathBuf::from(std::env::var_os(HOME).expect("it is set"));
    let store = home.join("codex");
    let (folder, source) = copy_of(MANY_RESULTS);
    let before = read(folder.path(), MANY_RESULTS);
    let mut window = window(&source, &["truncate"]);
    click(&mut window, "Export…");
    click(&mut window, "a new session in Codex");
    window.get_by_label("the session folder of Codex");
    click(&mut window, "Continue…");
    // Codex has no folder here.
    let shown = texts(&window).concat();
    assert!(shown.contains("run Codex once"), "{shown}");
    assert!(window.get_by_label("Write into Codex").accesskit_node().is_disabled());
    click(&mut window, "Back");
    fs::create_dir(&store).expect("a new folder");
    click(&mut window, "Continue…");
    window.get_by_label("Add a new session to Codex?");
    let shown = texts(&window).concat();
    let sessions = store.join("sessions").to_string_lossy().into_owned();
    assert!(shown.contains(&sessions), "{shown}");
    assert_eq!(files(&store).len(), 0, "nothing is written before the consent");
    click(&mut window, "Write into Codex");
    window.get_by_label("Resume with");
    let shown = texts(&window).concat();
    assert!(shown.contains("codex resume "), "{shown}");
    assert_eq!(files(&store), ["sessions"]);
    assert_eq!(read(folder.path(), MANY_RESULTS), before);
    assert_eq!(files(folder.path()), [MANY_RESULTS], "nothing beside the source");
}

#[test]
fn logs_are_not_listed_with_no_state() {
    let (_folder, source) = copy_of(MANY_RESULTS);
    let mut window = window(&source, &[]);
    menu(&mut window, &["Theme, shortcuts, logs", "Run logs…"]);
    window.get_by_label("No logs are saved because Plimsoll was started with --no-state.");
    click(&mut window, "Close");
    assert!(window.query_by_label_contains("--no-state").is_none());
}

#[test]
fn a_log_is_deleted_only_after_confirmation() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let first_line = "{\"plimsoll\":\"0.1.0\",\"model\":\"m at localhost:8089\"}\n";
    for name in ["a.jsonl", "b.jsonl"] {
        fs::write(folder.path().join(name), first_line).expect("a new file");
    }
    let logs = Rc::new(RefCell::new(RunLogs::new(Some(folder.path().to_owned()))));
    let sent: Rc<RefCell<Vec<RunLogsCommand>>> = Rc::default();
    let (listed, received) = (Rc::clone(&logs), Rc::clone(&sent));
    let builder = Harness::builder().with_size(Vec2::new(900.0, 600.0));
    let mut window = builder.allow_missing_glyphs().build_ui(move |ui| {
        plimsoll::app::ui::theme::apply(ui.ctx());
        let mut commands = plimsoll::app::state::command::Commands::default();
        run_logs::dialog::show(ui, &listed.borrow(), true, &mut commands);
        received.borrow_mut().extend(commands.into_iter().filter_map(|command| match command {
            plimsoll::app::state::command::Command::RunLogs(command) => Some(command),
            _ => None,
        }));
    });
    window.run_ok();
    let press = |window: &mut Harness<'_, ()>, label: &str| {
        window.get_by_label(label).click();
        window.run_ok();
        let command = sent.borrow_mut().pop();
        command.expect("a command was sent")
    };
    let command = press(&mut window, "Delete the log of a");
    assert_eq!(command, RunLogsCommand::ConfirmDeletion(Some(Deletion::One(1))));
    logs.borrow_mut().deletion = Some(Deletion::One(1));
    window.run_steps(2);
    assert_eq!(press(&mut window, "Keep"), RunLogsCommand::ConfirmDeletion(None));
    assert_eq!(press(&mut window, "Delete"), RunLogsCommand::Delete);
    logs.borrow_mut().deletion = None;
    window.run_steps(2);
    let command = press(&mut window, "Use the log of b");
    assert_eq!(command, RunLogsCommand::Replay(folder.path().join("b.jsonl")));
    assert_eq!(
        press(&mut window, "Delete all…"),
        RunLogsCommand::ConfirmDeletion(Some(Deletion::All))
    );
    logs.borrow_mut().deletion = Some(Deletion::All);
    window.run_steps(2);
    window.get_by_label_contains("Permanently delete 2 logs");
    assert_eq!(press(&mut window, "Delete all"), RunLogsCommand::Delete);
    assert_eq!(files(folder.path()).len(), 2, "the dialog only sends commands");
}

#[test]
fn enter_exports_when_the_dialog_opens_and_in_its_text_field() {
    for is_typing in [false, true] {
        let (folder, source) = copy_of(COMPACTED);
        let mut window = window(&source, &[]);
        window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::E);
        window.run_ok();
        assert!(window.get_by_label("Export").is_focused());
        let before = files(folder.path()).len();
        if is_typing {
            let field = window.get_by_role_and_label(Role::TextInput, "write to");
            field.focus();
            window.run_ok();
        }
        window.key_press(egui::Key::Enter);
        window.run_ok();
        assert!(files(folder.path()).len() > before, "in the field: {is_typing}");
    }
}
