"""Context management for LLM agents: truncate, prune and summarize, with the policies of many agents and frameworks.

`Manager` manages one conversation. The modules `langchain`, `openai_agents`, `pydantic_ai`, `strands`, `openai` and
`anthropic` connect it to these libraries.
"""

from ._conversations import Conversations
from ._manager import Manager
from ._messages import Messages
from ._native import __version__
from ._steps import Ready, SummaryRequest

__all__ = ["Conversations", "Manager", "Messages", "Ready", "SummaryRequest", "__version__"]
