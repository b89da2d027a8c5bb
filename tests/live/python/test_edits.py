"""Messages that a policy edits: made once, and again if the host has other objects."""

import copy

import pytest
from common import PRUNE, RESULT
from plimsoll import Manager, Messages
from test_manager import calls_of, conversation, manager


@pytest.mark.parametrize("host", ["keeps", "replaces", "changes its system prompt"])
def test_an_unchanged_edit_is_the_same_object_in_all_calls(host):
    m, own, seen, made, again = manager(PRUNE), [], 0, {}, 0
    for n, prefix in enumerate(calls_of(conversation(40))):
        own = own + prefix[seen:]
        seen = len(prefix)
        if host == "changes its system prompt":
            own[0] = {"role": "system", "content": f"It is {n} o'clock."}
        ready = m.manage(own)
        assert len(ready.messages) == len(prefix) and ready.messages[0] is own[0]
        for i, (message, original) in enumerate(zip(ready.messages[1:], prefix[1:])):
            if message is original:
                assert i not in made
            else:
                assert message == {**original, "content": "[cleared]"}
                again += i in made
                assert made.setdefault(i, message) is message
        if host == "replaces":
            own = list(ready.messages)
    assert len(made) > 30 and again > 20 * len(made)


class Looks(Messages):
    """A host whose messages are texts, or calls with their results. Edited ones have the message that they were made from."""

    fails = False

    def to_wire(self, own):
        if isinstance(own, str):
            return [{"role": "user", "content": own}]
        function = {"name": "look", "arguments": "{}"}
        call = {"role": "assistant", "content": None, "tool_calls": [{"id": own[0], "type": "function", "function": function}]}
        return [call, {"role": "tool", "tool_call_id": own[0], "content": own[1]}]

    def edited(self, own, parts):
        if self.fails:
            raise OSError("no conversion")
        return (own[0], next(wire["content"] for i, wire in parts if i == 1), own)


def looks(n):
    """Returns the prefixes of a history at which an agent calls the model."""
    history = [x for i in range(n) for x in (f"question {i}", (f"c{i}", f"{i} {RESULT}"))]
    return [history[: i + 1] for i in range(len(history))]


def test_edits_of_a_message_that_is_several_messages_of_the_provider():
    m, made = manager(PRUNE, messages=Looks()), {}
    for prefix in looks(30):
        ready = m.manage(prefix)
        assert ready.messages == Manager.restore(m.state(), messages=Looks(), clock=None).step(prefix).messages
        for i, (message, original) in enumerate(zip(ready.messages, prefix)):
            if message is not original:
                assert message == (*original[:1], "[cleared]", original) and message[2] is original
                assert made.setdefault(i, message) is message
    assert len(made) > 20


def test_an_edit_is_made_again_from_a_new_object_of_the_host():
    m = manager(PRUNE, messages=Looks())
    prefixes = looks(20)
    for prefix in prefixes[:-1]:
        before = m.manage(prefix)
    copies = copy.deepcopy(prefixes[-1])
    again = m.manage(copies)
    assert again.messages[: len(before.messages) - 3] == before.messages[:-3]
    edited = [(new, old) for new, old in zip(again.messages, copies) if new is not old]
    assert len(edited) > 10 and all(new[2] is old for new, old in edited)


def test_a_conversion_that_failed_is_repeated():
    m, expected = manager(PRUNE, messages=Looks()), manager(PRUNE, messages=Looks())
    for n, prefix in enumerate(looks(20)):
        wanted = expected.manage(prefix)
        m._messages.fails = n % 5 > 2
        try:
            assert m.manage(prefix).messages == wanted.messages
        except OSError:
            m._messages.fails = False
            assert m.manage(prefix).messages == wanted.messages
            assert m.step().messages == wanted.messages
    assert wanted.changed
