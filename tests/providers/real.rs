//! Test with a real model: set `PLIMSOLL_TEST_MODEL_URL` (and `PLIMSOLL_TEST_MODEL`) and run with `--ignored`.

use super::*;

/// Returns the client of the real model, if one is configured.
fn real_client() -> Option<ModelClient> {
    let url = std::env::var("PLIMSOLL_TEST_MODEL_URL").ok()?;
    let model = std::env::var("PLIMSOLL_TEST_MODEL").unwrap_or("smollm2-135m-instruct".to_owned());
    let endpoint = Endpoint::new(api_by_name("openai").unwrap(), &url, &model).unwrap();
    Some(ModelClient::new(endpoint, None))
}

#[test]
#[ignore = "needs a real model behind PLIMSOLL_TEST_MODEL_URL"]
fn a_real_model_answers_has_a_window_and_rejects_longer_prompts() {
    let client = real_client().expect("PLIMSOLL_TEST_MODEL_URL names a server");
    let window = context_length(&client, &Progress::default());
    let window = window.unwrap().expect("the server tells the window");
    let mut prompt = prompt();
    prompt.messages = vec![ChatMessage::new(
        "user",
        "Summarize in one sentence: the tests fail because the cache is never cleared between two runs.",
    )];
    prompt.max_tokens = 48;
    let mut n_told = 0;
    let answer = ask(&client, &prompt, &Progress::default(), &mut |news| {
        n_told += usize::from(matches!(news, AskEvent::Text(_)));
    });
    let answer = answer.unwrap();
    assert!(!answer.text.trim().is_empty() && n_told > 1, "{answer:?}");
    let usage = answer.usage.expect("the server counts");
    assert!(usage.input.0 > 10 && usage.output.unwrap().0 <= 48, "{usage:?}");
    prompt.messages = vec![ChatMessage::new("user", "word ".repeat(window as usize))];
    assert_fails_with(&client, &prompt, AskErrorKind::ContextTooLong);
}

fn assert_fails_with(client: &ModelClient, prompt: &Prompt, kind: AskErrorKind) {
    let error = ask(client, prompt, &Progress::default(), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, kind, "{error}");
}
