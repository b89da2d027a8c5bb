"""The manager of one conversation: passes the host's messages to the engine, and its plans back."""

from __future__ import annotations

import json
import logging
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from operator import is_
from typing import Any, Awaitable, Callable, Generic, Iterator, Mapping, Optional, Sequence, TypeVar, Union

from ._messages import Messages, digest_of, is_system, text_of
from ._native import Native, says_too_long
from ._options import options_text
from ._steps import Ready, SummaryRequest

M = TypeVar("M")
R = TypeVar("R")
Clock = Optional[Callable[[], float]]

#: Version of the text that `Manager.state` returns.
STATE_VERSION = 1
#: Number of times that one request is built again after the provider rejected it.
MAX_RETRIES = 3

_log = logging.getLogger("plimsoll")
#: Warnings that were logged. Each is logged once, not for each conversation.
_logged: set[str] = set()


class _Restored:
    """A message of which a restored manager has only the digest, until the host passes the message."""

    def __init__(self, digest: str) -> None:
        self.digest = digest


def _no_model(request: SummaryRequest) -> Any:
    raise ValueError("the policy needs a summary, but no `summarize` was passed")


def _missing(message: int) -> str:
    return f"message {message} is missing: pass the whole history after a restore"


@dataclass
class _View:
    """A list of messages that the host may continue from."""

    messages: list[Any]
    #: The message of the conversation that each was made from, or -1.
    sources: list[int]
    #: Number of messages of the conversation that the list stands for.
    n_known: int


@dataclass
class _Built:
    """What the last plan became. The next one begins with most of it."""

    messages: list[Any]
    #: The messages of the conversation at that time.
    known: list[Any]
    #: Number of `messages` up to the end of each part of the plan, as far as the plan is still the same.
    ends: list[int]


class Manager(Generic[M]):
    """Manages the context of one conversation. A conversation's calls must not overlap.

    policy: name of a preset, text of a policy, or path of a policy file (`os.PathLike`, or a text that ends with .toml).
    window: context window of the model in tokens.
    format: "openai_chat", "openai_responses" or "anthropic_messages" [default: detected from the messages].
    settings: values of the policy's settings.
    counter: tokenizer [default: o200k_base].
    calibration: `factor`, `overhead`, `error` and `counter`, as recorded calls have it [default: reported usage calibrates].
    model: name of the model, for policies with rules of their own for some models.
    request: fields of the request besides its messages, which are counted: `system`, `instructions`, `tools`.
    messages: converts the host's messages [default: they have the JSON of a provider].
    clock: returns the time in seconds, for policies that act when the provider's cache has expired; None: no time.
    """

    #: Exceptions that mean that the context is too long. Others are recognized by their text.
    overflow_errors: tuple[type[BaseException], ...] = ()

    def __init__(
        self,
        policy: Union[str, "os.PathLike[str]"],
        *,
        window: int,
        format: Optional[str] = None,
        settings: Optional[Mapping[str, float]] = None,
        counter: Optional[str] = None,
        calibration: Optional[Mapping[str, Any]] = None,
        model: Optional[str] = None,
        request: Optional[Mapping[str, Any]] = None,
        messages: Optional[Messages[M]] = None,
        clock: Clock = time.time,
    ) -> None:
        if not isinstance(policy, str) or (policy.endswith(".toml") and "\n" not in policy):
            with open(policy, encoding="utf-8") as file:
                policy = file.read()
        options = options_text(
            window=window,
            format=format,
            settings=settings,
            counter=counter,
            calibration=calibration,
            model=model,
            request=request,
        )
        self._start(Native(policy, options), messages, clock)

    def _start(self, native: Native, messages: Optional[Messages[M]], clock: Clock) -> None:
        self._native, self._clock = native, clock
        self._messages: Messages[M] = messages or Messages()
        self._passed = _View([], [], 0)  # what the host passed last
        self._known: list[Any] = []  # all messages of the conversation
        self._first: list[int] = [0]  # index of the first provider's message of each, and of the next one
        self._owner: list[int] = []  # message of each provider's message
        self._last = _View([], [], 0)  # what the last plan became
        self._plan: list[Any] = []  # the last plan
        self._built = _Built([], [], [])
        self._edits: dict[int, Any] = {}  # by message: its parts (or their digest), the message, the edited message
        self._added: list[tuple[Any, Any]] = []  # provider's and host's form
        self._restored = False  # True if some of the known messages are digests
        self._awaited = False  # a summary
        self._rejections = 0
        self._rejected: Optional[list[Any]] = None  # the plan that the provider rejected
        #: The last error that meant that the context is too long.
        self.rejection: Union[str, BaseException, None] = None
        #: True if the policy did something since the last `state`.
        self.unsaved = False
        #: True while `manage` or `amanage` waits for a summary.
        self.busy = False

    # ---- The host's history ----

    def _wire(self, own: M) -> Sequence[Any]:
        wire = self._messages.to_wire(own)
        if not wire:
            raise ValueError(f"cannot convert a message of the type {type(own).__name__}: it has no content")
        return wire

    def _digest(self, own: Any, position: int) -> str:
        if isinstance(own, _Restored):
            return own.digest
        wire = self._wire(own)
        # A system prompt that changes with every call (date, open files) does not start another conversation.
        return digest_of([{"role": "system"}, *wire[1:]] if position == 0 and is_system(wire) else wire)

    def _same(self, new: M, old: Any, position: int) -> bool:
        """Returns true for equal objects, for objects with equal JSON, and for any two system prompts at the start."""
        if not isinstance(old, _Restored):
            try:
                if type(new) is type(old) and new == old:
                    return True
            except Exception:  # comparisons of foreign types
                pass
        return self._digest(new, position) == self._digest(old, position)

    def _common(self, history: Sequence[M], old: list[Any]) -> int:
        """Returns the number of equal messages at the start, and replaces them in `old` by the objects that the host has now."""
        try:
            if old and type(history) is list and history[: len(old)] == old:  # fast: looks at identity first
                old[:] = history[: len(old)]
                return len(old)
        except Exception:  # comparisons of foreign types
            pass
        for i, (new, known) in enumerate(zip(history, old)):
            if new is not known:
                if not self._same(new, known, i):
                    return i
                old[i] = new
        return min(len(history), len(old))

    def _sync(self, history: Sequence[M]) -> None:
        """Passes the new messages to the engine. Rewinds it if the host rewound or forked its history."""
        start, same, sources = self._position(history)
        again: list[Any] = []
        if self._awaited and same == len(self._known) and start < len(history):
            # The host gave up a summary. What needed it is decided again, with the new messages.
            if type(self._known[same - 1]) is _Restored:
                raise ValueError(_missing(same - 1))
            same -= 1
            again = [self._known[same]]
        rewound = same < len(self._known)
        if rewound:
            self._native.truncate(self._first[same])
            del self._owner[self._first[same] :], self._known[same:], self._first[same + 1 :]
        for own in again:
            self._push(own)
        for own in history[start:]:
            sources.append(len(self._known))
            self._push(own)
        self._passed = _View(list(history), sources, len(self._known))
        if rewound or start < len(history):
            self._awaited = False
            self._rejections, self._rejected = 0, None
            if self._clock is not None:
                self._native.time(self._clock())

    def _position(self, history: Sequence[M]) -> tuple[int, int, list[int]]:
        """Returns how many messages of `history` are known, up to which message of the conversation, and their sources."""
        same = self._common(history, self._known)
        best = (same, same, list(range(same)))
        if same == len(self._known):
            return best
        # The host may have replaced its history by the last context, or pass the same history again.
        for view in (self._last, self._passed):
            n = self._common(history, view.messages)
            if n > best[0]:
                end = view.n_known if n == len(view.messages) else view.sources[n - 1] + 1
                if end > same:
                    best = (n, end, view.sources[:n])
                    self._recover(view, n)
        return best

    def _push(self, own: M) -> None:
        try:
            for wire in self._wire(own):
                self._native.push(text_of(wire))
                self._owner.append(len(self._known))
        except Exception:
            self._native.truncate(self._first[-1])
            del self._owner[self._first[-1] :]
            raise
        self._known.append(own)
        self._first.append(len(self._owner))

    def _recover(self, view: _View, n: int) -> None:
        """Remembers the host's first `n` objects of a context, of which a restored manager had only digests."""
        before, self._added = self._added, []
        for own, source in zip(view.messages[:n], view.sources):
            if source < 0:
                self._added += [(before[len(self._added)][0], own)] if len(self._added) < len(before) else []
            elif isinstance(self._known[source], _Restored):
                if source in self._edits:
                    self._edits[source] = (self._edits[source][0], self._known[source], own)
                else:
                    self._known[source] = own
        if len(before) > len(self._added) or not all(new[1] is old[1] for new, old in zip(self._added, before)):
            self._built.ends = []

    # ---- One call ----

    def step(self, history: Optional[Sequence[M]] = None) -> Union[Ready[M], SummaryRequest]:
        """Returns the next context, or a summary request. After `answer` or `fail`, call it again without history.

        history: all messages of the conversation, or those of the last context and all that followed.
        """
        if history is not None:
            self._sync(history)
        step = json.loads(self._native.step())
        if "summarize" in step:
            self._awaited = True
            request = step["summarize"]
            request["covers"] = [[r["start"], r["end"]] if isinstance(r, dict) else r for r in request["covers"]]
            return SummaryRequest(**{key: request[key] for key in SummaryRequest.__dataclass_fields__ if key in request})
        self._awaited = False
        ready = step["ready"]
        warnings = ready.get("warnings") or []
        for warning in warnings:
            if warning not in _logged:
                _logged.add(warning)
                _log.warning("%s", warning)
        self._plan = self._plan[: step["same"]] + step["parts"]
        del self._built.ends[step["same"] :]
        messages = self._build()
        self.unsaved = self.unsaved or bool(ready["events"])
        before = self._passed.messages
        changed = len(messages) != len(before) or not all(map(is_, messages, before))
        rejected = self._rejected is not None and self._rejected == self._plan
        return Ready(
            messages,
            call=ready["call"],
            tokens=ready["tokens"],
            accuracy=ready["accuracy"],
            error=ready["error"],
            events=ready["events"],
            changed=changed,
            rejected=rejected,
            warnings=warnings,
        )

    def _build(self) -> list[M]:
        """Converts the plan to the host's messages. Messages that the policy changed or wrote are converted once."""
        known, first, owner = self._known, self._first, self._owner
        out, sources, edits, added, ends = self._begin()
        plain = len(owner) == len(known) and not self._restored
        entries: list[tuple[int, Any]] = []  # with their part's number; of one message each, except for plain ones
        for number, part in enumerate(self._plan[len(ends) :], len(ends)):
            if plain or "keep" not in part:
                entries.append((number, part))
            else:
                entries += [(number, {"keep": [n, n + 1]}) for n in range(*part["keep"])]
        i = 0
        while i < len(entries):
            number, entry = entries[i]
            wire = entry["keep"][0] if "keep" in entry else entry.get("edit")
            i += 1
            if plain and "keep" in entry:
                out += known[wire : entry["keep"][1]]
                sources += range(wire, entry["keep"][1])
            elif wire is None:
                new = entry["add"]
                own = next((own for old, own in self._added if old == new), None)
                added.append((new, self._messages.added(new) if own is None else own))
                sources.append(-1)
                out.append(added[-1][1])
            else:
                source = owner[wire]
                start, end = first[source], first[source + 1]
                parts = [(wire - start, entry.get("message"))]
                while i < len(entries) and wire + 1 < end:
                    entry = entries[i][1]
                    following = entry["keep"][0] if "keep" in entry else entry.get("edit")
                    if following is None or not wire < following < end:
                        break
                    number, wire = entries[i][0], following
                    parts.append((wire - start, entry.get("message")))
                    i += 1
                own = known[source]
                sources.append(source)
                if len(parts) < end - start or type(own) is _Restored or any(message is not None for _, message in parts):
                    edits[source] = self._edit(source, parts)
                    own = edits[source][2]
                out.append(own)
            ends += [len(out)] * (number + 1 - len(ends))
            ends[number] = len(out)
        self._edits, self._added = edits, added
        self._restored = self._restored and any(type(own) is _Restored for own in known)
        self._last = _View(list(out), sources, len(known))
        self._built = _Built(list(out), list(known), ends)
        return out

    def _begin(self) -> tuple[list[Any], list[int], dict[int, Any], list[tuple[Any, Any]], list[int]]:
        """Returns the messages of the parts that the plan shares with the last one, with their sources, edits and additions,
        and the ends of the parts."""
        built, self._built = self._built, _Built([], [], [])  # if the conversion fails, the next one begins anew
        ends = [] if self._restored else built.ends
        while ends and not self._ends_message(self._plan[len(ends) - 1]):
            ends.pop()
        out = built.messages[: ends[-1] if ends else 0]
        sources = self._last.sources[: len(out)]
        edits = {source: self._edits[source] for source in sources if source in self._edits}
        if ends and not all(map(is_, self._known, built.known)):
            # The host has other objects now.
            for i, source in enumerate(sources):
                if source >= 0 and self._known[source] is not built.known[source]:
                    if source in edits:
                        edits[source] = self._edit(source, edits[source][0])
                    out[i] = edits[source][2] if source in edits else self._known[source]
        return out, sources, edits, self._added[: sources.count(-1)], ends

    def _ends_message(self, part: Any) -> bool:
        """Returns true if the next part of a plan belongs to another message of the host."""
        last = part["keep"][1] - 1 if "keep" in part else part.get("edit")
        return last is None or self._first[self._owner[last] + 1] == last + 1

    def _edit(self, source: int, parts: list[tuple[int, Any]]) -> tuple[Any, Any, Any]:
        """Returns the parts of an edited message, the host's message, and the edited one, which is made once."""
        own, edit = self._known[source], self._edits.get(source)
        if edit is not None and edit[1] is own and edit[0] == (digest_of(parts) if type(edit[0]) is str else parts):
            return edit  # type: ignore[no-any-return]
        if type(own) is not _Restored:
            return parts, own, self._messages.edited(own, parts)
        if edit is None or edit[2] is None:
            raise ValueError(_missing(source))
        return parts, own, self._messages.edited(edit[2], parts)

    def answer(self, text: str) -> None:
        """Passes the text of the summary that was requested."""
        self._native.answer(text)

    def fail(self, why: str) -> None:
        """Reports that the summary could not be written. The policy continues as its system does."""
        self._native.fail(why)

    def report(self, input_tokens: Optional[int], output_tokens: Optional[int] = None) -> None:
        """Passes the usage of the request with the last context. Does nothing without it.

        input_tokens: the whole input, including cached tokens.
        """
        if input_tokens and self._plan and not self._awaited:
            self._native.report(json.dumps({"input_tokens": input_tokens, "output_tokens": output_tokens}))

    def rejected(self, error: Union[str, BaseException]) -> bool:
        """Passes an error of the provider. Returns true if the context was too long: then call `step` again.

        Returns false for other errors, after `MAX_RETRIES`, and if no request waits for an answer.
        """
        text = str(error)
        if not says_too_long(text):
            if not isinstance(error, self.overflow_errors):
                return False
            text = f"prompt is too long: {text}"
        if self._rejections >= MAX_RETRIES:
            return False
        try:
            self._native.rejected(text)
        except ValueError as why:  # no request waits: the host's error is more important
            _log.debug("cannot pass the provider's error: %s", why)
            return False
        self._rejections += 1
        self._rejected = self._plan
        self.rejection = error
        return True

    # ---- Whole calls ----

    def manage(self, history: Sequence[M], summarize: Optional[Callable[[SummaryRequest], str]] = None) -> Ready[M]:
        """Returns the next context. `summarize` asks a model for the summaries that the policy needs.

        Without `summarize`, and if it fails, the reason is logged and the policy continues as its system does.
        """
        with self._one_at_a_time():
            step = self.step(history)
            while isinstance(step, SummaryRequest):
                try:
                    text = (summarize or _no_model)(step)
                except Exception as error:
                    self._failed(error)
                else:
                    self.answer(text)
                step = self.step()
            return step

    async def amanage(
        self, history: Sequence[M], summarize: Optional[Callable[[SummaryRequest], Awaitable[str]]] = None
    ) -> Ready[M]:
        """Same as `manage`, with a coroutine function."""
        with self._one_at_a_time():
            step = self.step(history)
            while isinstance(step, SummaryRequest):
                try:
                    text = await (summarize or _no_model)(step)
                except Exception as error:
                    self._failed(error)
                else:
                    self.answer(text)
                step = self.step()
            return step

    @contextmanager
    def _one_at_a_time(self) -> Iterator[None]:
        if self.busy:
            raise RuntimeError("calls of one conversation overlap: use a Manager for each conversation")
        self.busy = True
        try:
            yield
        finally:
            self.busy = False

    def _failed(self, error: Exception) -> None:
        _log.warning("cannot write a summary: %s", error, exc_info=error)
        self.fail(f"{type(error).__name__}: {error}")

    def call(
        self, history: Sequence[M], summarize: Optional[Callable[[SummaryRequest], str]], send: Callable[[Ready[M]], R]
    ) -> R:
        """Passes the next context to `send`. If the provider rejects it as too long, sends a smaller one."""
        ready = self.manage(history, summarize)
        while True:
            try:
                return send(ready)
            except Exception as error:
                if not self.rejected(error):
                    raise
                ready = self.manage(history, summarize)
                if ready.rejected:
                    raise

    async def acall(
        self,
        history: Sequence[M],
        summarize: Optional[Callable[[SummaryRequest], Awaitable[str]]],
        send: Callable[[Ready[M]], Awaitable[R]],
    ) -> R:
        """Same as `call`, with coroutine functions."""
        ready = await self.amanage(history, summarize)
        while True:
            try:
                return await send(ready)
            except Exception as error:
                if not self.rejected(error):
                    raise
                ready = await self.amanage(history, summarize)
                if ready.rejected:
                    raise

    # ---- State ----

    def state(self) -> str:
        """Returns the conversation with all decisions, for `restore`."""
        self.unsaved = False
        known = [[self._digest(own, i), self._first[i + 1] - self._first[i]] for i, own in enumerate(self._known)]
        return json.dumps(
            {
                "version": STATE_VERSION,
                "native": self._native.state(),
                "known": known,
                "last": [self._digest(own, i) for i, own in enumerate(self._last.messages)],
                "sources": self._last.sources,
                "n_known": self._last.n_known,
                "added": [wire for wire, _ in self._added],
                "edits": {source: digest_of(edit[0]) for source, edit in self._edits.items()},
                "awaited": self._awaited,
            }
        )

    @classmethod
    def restore(cls, state: str, *, messages: Optional[Messages[M]] = None, clock: Clock = time.time) -> "Manager[M]":
        """Returns a manager that continues as the one that wrote `state`. Its first `step` needs the history."""
        saved = json.loads(state)
        if saved.get("version") != STATE_VERSION:
            raise ValueError(
                f"cannot restore a state of version {saved.get('version')}: this version of plimsoll reads {STATE_VERSION}"
            )
        self = cls.__new__(cls)
        self._start(Native.restore(saved["native"]), messages, clock)
        self._restored, self._awaited = True, saved.get("awaited", False)
        for digest, n in saved["known"]:
            self._owner += [len(self._known)] * n
            self._known.append(_Restored(digest))
            self._first.append(len(self._owner))
        self._last = _View([_Restored(digest) for digest in saved["last"]], saved["sources"], saved["n_known"])
        self._added = [(wire, None) for wire in saved["added"]]
        for source, digest in saved["edits"].items():
            self._edits[int(source)] = (digest, self._known[int(source)], None)
        return self
