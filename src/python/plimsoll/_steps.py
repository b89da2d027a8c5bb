"""What a step returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Optional, Sequence, TypeVar

from ._messages import plain_text

M = TypeVar("M")


@dataclass(frozen=True)
class SummaryRequest:
    """A summary that the policy needs before it can build the context."""

    #: Number of the model call, from 1.
    call: int
    stage: str
    #: The request to the model, in the format of Chat Completions. It may contain calls and their results.
    messages: list[dict[str, Any]]
    max_tokens: int
    #: True if the system that the policy reproduces sends exactly these messages, and if it sends its tools with them.
    verbatim: bool = False
    with_tools: bool = False
    #: Ranges of the messages that the summary replaces.
    covers: list[list[int]] = field(default_factory=list)
    #: Texts of earlier summaries.
    previous: list[str] = field(default_factory=list)

    @property
    def system(self) -> str:
        """The instructions among `messages`, as one text."""
        return "\n\n".join(plain_text(m) for m in self.messages if m["role"] in ("system", "developer"))

    @property
    def prompt(self) -> list[dict[str, str]]:
        """The other messages as texts of user and assistant in turn, for models that do not know the conversation's tools."""
        turns: list[dict[str, str]] = []
        for message in self.messages:
            if message["role"] not in ("system", "developer"):
                role, text = "assistant" if message["role"] == "assistant" else "user", plain_text(message)
                if turns and turns[-1]["role"] == role:
                    turns[-1]["content"] += "\n\n" + text
                else:
                    turns.append({"role": role, "content": text})
        return turns

    @property
    def plain(self) -> list[dict[str, str]]:
        """`prompt` after a system message with `system`."""
        return ([{"role": "system", "content": self.system}] if self.system else []) + self.prompt


@dataclass(frozen=True)
class Ready(Generic[M]):
    """The context of the next request."""

    #: The messages to send. An untouched message is the object that the host passed.
    messages: list[M]
    #: Number of the model call, from 1.
    call: int
    #: Tokens of the request, as far as it is known.
    tokens: int
    #: How exactly `tokens` are known: exact, calibrated, estimated or reported. `error` is their mean relative error, if known.
    accuracy: str
    error: Optional[float]
    #: What the policy did since the last context.
    events: list[dict[str, Any]]
    #: True if `messages` differ from the history that the host passed.
    changed: bool
    #: True if the provider rejected these same messages before: the policy has nothing more to remove.
    rejected: bool = False
    #: Sentences about the options, with the first context. They are also logged.
    warnings: list[str] = field(default_factory=list)

    def without(self, head: Sequence[M]) -> list[M]:
        """Returns `messages` without those of `head`, which the host sends in a field of its own."""
        return [m for m in self.messages if not any(m is h for h in head)]
