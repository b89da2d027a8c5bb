"""The manager without a framework: histories, decisions, messages, state."""

import asyncio
import copy
import json
import threading

import pytest
from common import POLICY, PRUNE, RESULT, SETTINGS, TOO_LONG, WINDOW, Rejection
from plimsoll import Manager, Messages, Ready, SummaryRequest


def manager(policy=POLICY, **options):
    settings = {"settings": SETTINGS} if policy == POLICY else {}
    return Manager(policy, window=WINDOW, clock=None, **{**settings, **options})


def turn(n, text=RESULT):
    return [
        {"role": "user", "content": f"question {n}"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": f"c{n}", "type": "function", "function": {"name": "look", "arguments": json.dumps({"n": n})}}
            ],
        },
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"{n} {text}", "cache_control": {"type": "ephemeral"}},
        {"role": "assistant", "content": f"answer {n}", "x_id": f"a{n}"},
    ]


def conversation(turns, text=RESULT):
    return [{"role": "system", "content": "You are a harbour agent."}] + [m for n in range(turns) for m in turn(n, text)]


class Summaries:
    """Answers summary requests and records them."""

    def __init__(self):
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        return f"summary {len(self.requests)}"


def calls_of(history):
    """Returns the prefixes of a history at which an agent calls the model."""
    return [history[:i] for i, m in enumerate(history) if m["role"] == "assistant"]


def play(m, history, summarize=None):
    ready = None
    for prefix in calls_of(history):
        ready = m.manage(prefix, summarize or Summaries())
    return ready


def test_untouched_messages_are_the_hosts_own_objects():
    history, summaries = conversation(20), Summaries()
    m = manager()
    for prefix in calls_of(history):
        ready = m.manage(prefix, summaries)
        ours = {id(message) for message in prefix}
        foreign = [message for message in ready.messages if id(message) not in ours]
        assert all("summary" in json.dumps(message) for message in foreign)
        assert ready.messages[0] is history[0] and ready.messages[-1] is prefix[-1]
        assert ready.tokens < WINDOW - SETTINGS["output_reserve"]
        assert ready.changed == bool(foreign)
    assert len(summaries.requests) >= 2
    assert summaries.requests[1].previous and "summary 1" in summaries.requests[1].previous[0]
    assert 100 < summaries.requests[0].max_tokens <= 1000
    assert summaries.requests[0].prompt and summaries.requests[0].covers[0][0] == 1


def test_events_are_those_since_the_last_context():
    m, events, summaries = manager(), [], Summaries()
    for prefix in calls_of(conversation(20)):
        events += m.manage(prefix, summaries).events
    assert [event["stage"] for event in events] == ["summarize"] * len(summaries.requests)
    assert all(event["before"] > event["after"] and event["why"] for event in events)


def test_a_step_without_new_messages_returns_the_same():
    m = manager()
    history = conversation(20)[:-1]
    first = m.manage(history, Summaries())
    for again in (m.step(), m.step(history), m.step(copy.deepcopy(history))):
        assert isinstance(again, Ready) and again.messages == first.messages and again.tokens == first.tokens


def test_a_host_that_replaces_its_history_gets_the_same_contexts():
    history = conversation(20)
    keeps, replaces, own, seen = manager(), manager(), [], 0
    for prefix in calls_of(history):
        own += prefix[seen:]
        seen = len(prefix)
        expected = keeps.manage(prefix, lambda request: "text")
        ready = replaces.manage(own, lambda request: "text")
        assert ready.messages == expected.messages and ready.tokens == expected.tokens
        own[:] = ready.messages
    assert expected.changed


@pytest.mark.parametrize(
    "rewritten", [copy.deepcopy, lambda m: json.loads(json.dumps(m)), lambda m: dict(reversed(m.items()))]
)
def test_equal_messages_of_another_identity_are_the_same_conversation(rewritten):
    m, summaries = manager(), Summaries()
    for prefix in calls_of(conversation(20)):
        copies = [rewritten(message) for message in prefix]
        ready = m.manage(copies, summaries)
        assert ready.messages[0] is copies[0] and ready.messages[-1] is copies[-1]
    assert len(summaries.requests) <= 6


def test_a_changing_system_prompt_keeps_the_decisions():
    m, summaries = manager(), Summaries()
    for n, prefix in enumerate(calls_of(conversation(20))):
        dated = [{"role": "system", "content": f"It is {n} o'clock."}, *prefix[1:]]
        assert m.manage(dated, summaries).messages[0] is dated[0]
    assert len(summaries.requests) <= 6


def test_a_rewind_forgets_what_was_decided_later():
    history = conversation(20)
    m = manager()
    play(m, history)
    short = history[:6]
    assert m.manage(short, Summaries()).messages == short
    fork = short + turn(40, "x") + turn(41, "y")
    ready = m.manage(fork, Summaries())
    assert ready.messages == fork and not ready.changed


def test_a_rewind_of_a_replaced_history():
    m, own = manager(), []
    history, seen = conversation(20), 0
    for prefix in calls_of(history):
        own += prefix[seen:]
        seen = len(prefix)
        own[:] = m.manage(own, lambda request: "text").messages
    own[-1:] = [{"role": "user", "content": "something else"}]
    ready = m.manage(own, lambda request: "text")
    assert ready.messages[-1] is own[-1] and ready.messages[0] is own[0]
    assert ready.tokens < WINDOW


def test_edited_messages_keep_all_fields_and_are_made_once():
    m = Manager(PRUNE, window=WINDOW, clock=None)
    history = conversation(6)[:-1]
    ready = m.manage(history, Summaries())
    changed = [(a, b) for a, b in zip(ready.messages, history) if a is not b]
    assert len(ready.messages) == len(history) and changed
    for new, old in changed:
        assert old["content"] != "[cleared]"
        assert {**old, "content": "[cleared]"} == new
    again = m.step(history + [{"role": "assistant", "content": "done"}, {"role": "user", "content": "go on"}])
    made = {id(new) for new, _ in changed}
    assert made <= {id(message) for message in again.messages}


@pytest.mark.parametrize("policy", [POLICY, PRUNE])
@pytest.mark.parametrize("replaces", [False, True])
def test_restore_continues_identically(policy, replaces):
    history = conversation(20)
    kept, own, seen, restored = manager(policy), [], 0, manager(policy)
    for n, prefix in enumerate(calls_of(history)):
        expected = kept.manage(prefix, lambda request: "text")
        own = own + prefix[seen:]
        seen = len(prefix)
        state = json.loads(json.dumps(restored.state()))
        restored = Manager.restore(state, clock=None)
        ready = restored.manage(json.loads(json.dumps(own if replaces else prefix)), lambda request: "text")
        assert ready.messages == expected.messages, n
        assert ready.tokens == expected.tokens
        if replaces:
            own = ready.messages
    assert expected.changed


def test_restore_without_the_history_is_an_error():
    m = manager()
    m.manage(conversation(2)[:-1], Summaries())
    with pytest.raises(ValueError, match="pass the whole history"):
        Manager.restore(m.state()).step()
    with pytest.raises(ValueError, match="version 99"):
        Manager.restore(json.dumps({"version": 99}))


def test_a_failed_summary_is_reported_to_the_policy(caplog):
    def fails(request):
        raise OSError("no route to the model")

    ready = play(manager(), conversation(12), fails)
    assert isinstance(ready, Ready) and ready.messages
    assert "no route to the model" in caplog.text


def test_async():
    async def summarize(request):
        await asyncio.sleep(0)
        return "text"

    async def run():
        m = manager()
        for prefix in calls_of(conversation(20)):
            ready = await m.amanage(prefix, summarize)
        return ready

    ready = asyncio.run(run())
    sync = play(manager(), conversation(20), lambda request: "text")
    assert ready.messages == sync.messages and ready.changed


def test_overlapping_calls_are_an_error():
    m, errors = manager(), []

    def summarize(request):
        with pytest.raises(RuntimeError, match="overlap"):
            m.manage(conversation(1), Summaries())
        errors.append(1)
        return "text"

    play(m, conversation(12), summarize)
    assert errors


def test_a_rejected_context_is_sent_again_in_a_smaller_form():
    m, sent = manager(), []

    def send(ready):
        sent.append(ready)
        if len(sent) == 1:
            raise Rejection()
        return "answer"

    history = conversation(4)[:-1]
    assert m.call(history, Summaries(), send) == "answer"
    assert len(sent) == 2 and len(sent[1].messages) < len(sent[0].messages)
    assert sent[1].messages[-1] is history[-1]
    # The smaller context stays: nothing is decided twice.
    assert m.step(history).messages == sent[1].messages


def test_a_rejection_that_the_policy_cannot_help_is_raised():
    m, sent = Manager("truncate", window=WINDOW, clock=None), []

    def send(ready):
        sent.append(ready)
        raise Rejection()

    with pytest.raises(Rejection):
        m.call(conversation(2)[:-1], Summaries(), send)
    assert len(sent) == 1
    with pytest.raises(Rejection):
        manager().call(conversation(4)[:-1], Summaries(), send)
    assert len(sent) <= 6


def test_other_errors_are_not_retried():
    m, sent = manager(), []

    def send(ready):
        sent.append(ready)
        raise OSError("rate limit")

    with pytest.raises(OSError, match="rate limit"):
        m.call(conversation(2), Summaries(), send)
    assert len(sent) == 1 and not m.rejected("rate limit") and m.rejected(TOO_LONG)


def test_reported_usage_changes_no_earlier_decision():
    plain, reporting, accuracies = [], [], set()
    for contexts, factor in ((plain, None), (reporting, 1.02)):
        m = manager()
        for prefix in calls_of(conversation(20)):
            ready = m.manage(prefix, lambda request: "text")
            contexts.append(ready)
            if factor:
                m.report(int(ready.tokens * factor) + 150, 20)
                accuracies.add(m.step().accuracy)
    assert plain[-1].changed and reporting[-1].changed
    summaries = [[x for x in ready.messages if "text" in str(x["content"])][:1] for ready in reporting]
    assert [s for s in summaries if s]
    # Contexts only grow until the next compaction.
    for before, after in zip(reporting, reporting[1:]):
        if not after.events:
            assert after.messages[: len(before.messages)] == before.messages
    assert {"calibrated", "reported"} & {ready.accuracy for ready in reporting}


@pytest.mark.parametrize(
    "options, words",
    [
        ({"policy": "sumarize"}, "sumarize"),
        ({"settings": {"keep_recent": 9999}}, "keep_recent"),
        ({"settings": {"nothing": 1}}, "nothing"),
        ({"format": "latin"}, "latin"),
        ({"counter": "none"}, "none"),
        ({"window": 0}, "window"),
    ],
)
def test_wrong_options_are_named(options, words):
    options = {"policy": "summarize", "window": WINDOW, **options}
    with pytest.raises(ValueError, match=words):
        Manager(options.pop("policy"), **options)


def test_a_message_that_is_none_is_an_error_and_changes_nothing():
    m = manager()
    history = conversation(2)[:-1]
    m.step(history)
    with pytest.raises(ValueError):
        m.step(history + ["text"])
    assert m.step(history).messages == history


def test_a_policy_from_a_file(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text(POLICY, encoding="utf-8")
    for policy in (path, str(path)):
        assert play(Manager(policy, window=WINDOW, settings=SETTINGS), conversation(12)).changed
    with pytest.raises(FileNotFoundError):
        Manager(str(tmp_path / "missing.toml"), window=WINDOW)


def test_a_misspelled_name_gets_a_suggestion():
    with pytest.raises(ValueError, match="did you mean summarize"):
        Manager("sumarize", window=WINDOW)
    with pytest.raises(ValueError, match="did you mean keep_recent"):
        Manager("summarize", window=WINDOW, settings={"keep_resent": 4})


def test_objects_of_client_libraries_are_messages():
    from anthropic.types import TextBlock, ToolUseBlock
    from openai.types.chat import ChatCompletionMessage

    m = manager()
    history = [
        {"role": "user", "content": "a"},
        ChatCompletionMessage(role="assistant", content="b"),
        {"role": "user", "content": "c"},
    ]
    ready = m.step(history)
    assert ready.messages[1] is history[1] and not ready.changed
    assert not m.step(
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
    ).changed
    blocks = [TextBlock(type="text", text="b"), ToolUseBlock(type="tool_use", id="t", name="look", input={})]
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]}
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": blocks}, result]
    ready = manager(format="anthropic_messages").step(history)
    assert [a is b for a, b in zip(ready.messages, history)] == [True] * 3


def test_text_that_is_not_valid_unicode():
    history = [{"role": "user", "content": "half \ud83d of a pair"}]
    assert manager().step(history).messages[0] is history[0]


class Pairs(Messages):
    """A host whose messages are pairs of a question and an answer."""

    def to_wire(self, own):
        return [{"role": "user", "content": own[0]}, {"role": "assistant", "content": own[1]}]

    def added(self, wire):
        return (wire["content"], "")

    def edited(self, own, parts):
        return tuple(own[i] if wire is None else wire["content"] for i, wire in parts)


def test_a_message_that_is_several_messages_of_the_provider():
    m = manager("truncate", messages=Pairs(), settings={"keep_recent": 5, "output_reserve": 4000})
    history = [(f"question {n} " + "berth " * 1000, f"answer {n}") for n in range(14)] + [("last", "")]
    ready = m.manage(history, Summaries())
    assert ready.changed and ready.messages[-1] is history[-1]
    assert sum(any(x is h for h in history) for x in ready.messages) >= 2


def test_threads():
    errors, barrier = [], threading.Barrier(4)

    def run():
        try:
            barrier.wait()
            m, expected = manager(), None
            for prefix in calls_of(conversation(12)):
                expected = m.manage(prefix, lambda request: "text")
            assert expected.changed
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_requests_name_their_parts():
    m = manager()
    step = None
    for prefix in calls_of(conversation(12)):
        step = m.step(prefix)
        if isinstance(step, SummaryRequest):
            break
    assert isinstance(step, SummaryRequest) and step.stage == "summarize"
    assert step.messages == m.step().messages
    assert step.prompt and all(set(message) == {"role", "content"} for message in step.messages)
    m.fail("no model")
    assert isinstance(m.step(), Ready)


@pytest.mark.parametrize("replaces", [False, True])
def test_a_summary_that_the_host_gave_up_is_requested_again(replaces):
    m, own, seen, requests = manager(), [], 0, 0
    for prefix in calls_of(conversation(20)):
        own = own + prefix[seen:] if replaces else prefix
        seen = len(prefix)
        step = m.step(own)
        if isinstance(step, SummaryRequest):
            requests += 1
            assert m.step(own) == step
            own = own + [{"role": "user", "content": "never mind"}] if replaces else own
            step = m.manage(own, lambda request: "text")
        assert step.messages[-1] is own[-1] and step.tokens < WINDOW
        assert sum(message == own[-1] for message in step.messages) == 1
        own = list(step.messages) if replaces else own
    assert requests > 1


def test_a_retry_by_a_host_that_replaces_its_history():
    m, own, seen = manager(), [], 0
    for n, prefix in enumerate(calls_of(conversation(20))):
        own += prefix[seen:]
        seen = len(prefix)
        first = []

        def send(ready):
            first.append(ready)
            if n == 15 and len(first) == 1:
                raise Rejection()
            return ready

        ready = m.call(own, lambda request: "text", send)
        assert ready.messages[-1] is own[-1] and len(set(map(id, ready.messages))) == len(ready.messages)
        own[:] = ready.messages
    assert ready.tokens < WINDOW


@pytest.mark.parametrize("policy", [POLICY, PRUNE])
def test_a_changed_system_prompt_after_a_restore_keeps_the_decisions(policy):
    def dated(prefix, n):
        return [{"role": "system", "content": f"It is {n} o'clock."}, *prefix[1:]]

    m, summaries = manager(policy), Summaries()
    for n, prefix in enumerate(calls_of(conversation(20))):
        ready = m.manage(dated(prefix, n), summaries)
        m = Manager.restore(m.state(), clock=None)
        again = m.step(dated(prefix, n + 1))
        assert again.messages[0]["content"] == f"It is {n + 1} o'clock." and again.messages[1:] == ready.messages[1:]
        m = Manager.restore(m.state(), clock=None)
    assert ready.changed and len(summaries.requests) <= 6


class Prompted(Messages):
    """A host whose messages have a system prompt and a question."""

    def to_wire(self, own):
        return [{"role": "system", "content": own[0]}, {"role": "user", "content": own[1]}]


@pytest.mark.parametrize("restores", [False, True])
def test_only_the_system_prompt_of_the_first_message_may_change(restores):
    m = manager(messages=Prompted())
    for own, call in ((("at 1", "question"), 1), (("at 2", "question"), 1), (("at 3", "another"), 1)):
        ready = m.step([own])
        assert ready.messages == [own] and ready.call == call
        assert json.loads(m.state())["native"].count("another") == (own[1] == "another")
        m = Manager.restore(m.state(), messages=Prompted(), clock=None) if restores else m


@pytest.mark.parametrize("goes_on", [False, True])
def test_a_state_that_was_saved_while_a_summary_is_awaited(goes_on):
    m, n_restored = manager(), 0
    for prefix in calls_of(conversation(20)):
        step = m.step(prefix)
        if isinstance(step, SummaryRequest):
            n_restored += 1
            m = Manager.restore(m.state(), clock=None)
            own = prefix + ([{"role": "user", "content": "never mind"}] if goes_on else [])
            assert isinstance(m.step(own), SummaryRequest)
            step = m.manage(own, lambda request: "text")
            assert step.messages[-1] is own[-1]
            assert any(message["content"] == "[Summary]\ntext" for message in step.messages)
        assert step.tokens < WINDOW
    assert n_restored > 1


def test_a_provider_error_without_a_waiting_request_is_none_of_the_managers():
    m = manager()
    assert not m.rejected(TOO_LONG) and m.rejection is None
    m.manage(conversation(4)[:-1], Summaries())
    first = Rejection()
    assert m.rejected(first) and m.rejection is first
    assert not m.rejected(Rejection()) and m.rejection is first and m._rejections == 1
    assert not m.manage(conversation(4)[:-1], Summaries()).rejected


def test_warnings_of_the_engine_are_logged_once(caplog, monkeypatch):
    class Warns:
        def __init__(self, native):
            self.native = native

        def __getattr__(self, name):
            return getattr(self.native, name)

        def step(self):
            step = json.loads(self.native.step())
            step["ready"]["warnings"] = ["The output reserve of the test is larger than the window."]
            return json.dumps(step)

    for _ in range(2):
        m = manager()
        assert m.step(conversation(1)[:-1]).warnings == []
        monkeypatch.setattr(m, "_native", Warns(m._native))
        assert m.step().warnings == ["The output reserve of the test is larger than the window."]
    assert [record.levelname for record in caplog.records] == ["WARNING"] and "output reserve" in caplog.text


@pytest.mark.parametrize(
    "options, words",
    [
        ({"window": "32k"}, r"window must be a number of tokens, such as 128_000, not '32k'"),
        ({"window": None}, "window must be a number"),
        ({"settings": {"keep_recent": "8"}}, r"settings\['keep_recent'\] must be a number, not '8'"),
        ({"settings": [8]}, "settings must be a mapping"),
        ({"calibration": {"factor": "1", "overhead": 0}}, r"calibration\['factor'\] must be a number"),
        ({"request": "system"}, "request must be a mapping"),
        ({"counter": 3}, "counter must be a text"),
        ({"format": 3}, "format must be a text"),
    ],
)
def test_options_of_a_wrong_type_are_named(options, words):
    with pytest.raises(TypeError, match=words):
        Manager("summarize", **{"window": WINDOW, **options})


def test_numbers_of_other_types_are_options():
    history = conversation(1)[:-1]
    assert Manager("summarize", window=16e3, settings={"keep_recent": 8.0}).step(history).messages == history


def test_a_manager_without_a_model_for_summaries(caplog):
    m = manager()
    for prefix in calls_of(conversation(12)):
        ready = m.manage(prefix)
    assert ready.messages and "no `summarize` was passed" in caplog.text

    async def run():
        return await manager().amanage(conversation(2)[:-1])

    assert asyncio.run(run()).messages
