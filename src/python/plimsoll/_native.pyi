"""The engine. JSON in, JSON out; `plimsoll.Manager` wraps it."""

from typing import Optional

__version__: str

def says_too_long(error: str) -> bool:
    """Returns true if an error of a provider says that the context is too long."""

class Native:
    """The policy and the decisions of one conversation. Errors are `ValueError`."""

    def __init__(self, policy: str, options: str) -> None: ...
    def push(self, message: str) -> int:
        """Appends a message. Returns the number of messages."""
    def truncate(self, n: int) -> None:
        """Forgets the messages from `n` on, and all that was decided after them."""
    def __len__(self) -> int: ...
    def step(self) -> str:
        """Returns `{"ready": …, "same": n, "parts": […]}` or `{"summarize": …}`.

        A context has the first `n` parts of the last one, and then `parts`. After `truncate`, `n` is 0. A part is
        `{"keep": [from, to]}`, `{"edit": i, "message": …}` or `{"add": …}`.
        """
    def answer(self, text: str) -> Optional[str]:
        """Passes a summary. Returns the reason if the policy rejects it."""
    def fail(self, why: str) -> None: ...
    def report(self, usage: str) -> None: ...
    def rejected(self, error: str) -> None: ...
    def time(self, seconds: float) -> None: ...
    def state(self) -> str: ...
    @staticmethod
    def restore(state: str) -> Native: ...
