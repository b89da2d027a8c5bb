"""The managers of a host's conversations."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Callable, Generic, TypeVar

from ._manager import Manager

M = TypeVar("M")


class Conversations(Generic[M]):
    """The managers of a host's conversations by name. Forgets the one that was unused for the longest time.

    limit: number of conversations.
    """

    def __init__(self, limit: int = 1000) -> None:
        self._limit = limit
        self._managers: "OrderedDict[Any, Manager[M]]" = OrderedDict()
        self._lock = threading.Lock()

    def take(self, name: Any, create: Callable[[], Manager[M]]) -> Manager[M]:
        """Returns the manager of a conversation, or a new one while another run has it. Give it back with `put`."""
        with self._lock:
            manager = self._managers.pop(name, None)
        return create() if manager is None else manager

    def put(self, name: Any, manager: Manager[M]) -> None:
        """Remembers the manager of a conversation, unless it has no name (None)."""
        if name is not None:
            with self._lock:
                self._managers.pop(name, None)
                self._managers[name] = manager
                self._forget()

    def _forget(self) -> None:
        while len(self._managers) > self._limit:
            self._managers.popitem(last=False)

    def get(self, name: Any, create: Callable[[], Manager[M]]) -> Manager[M]:
        """Returns the manager of a conversation, which is not remembered without a name (None).

        A fork of a conversation that waits for a summary gets a manager of its own.
        """
        if name is None:
            return create()
        with self._lock:
            if name not in self._managers:
                self._managers[name] = create()
            self._managers.move_to_end(name)
            self._forget()
            manager = self._managers[name]
        return create() if manager.busy else manager
