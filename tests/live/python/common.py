"""Policies and conversations of the tests."""

#: Window of the fake models in tokens.
WINDOW = 16_000
SETTINGS = {"output_reserve": 4_000, "keep_recent": 4}
#: Summarizes at 75 % of the usable window, and more if the provider rejects the context.
POLICY = """
name = "test"
label = "Test"
help = "Summarizes old messages."
kind = "strategy"

[settings.keep_recent]
value = 6
range = [1, 500]
step = 1
unit = "messages"
help = "Messages to keep."

[settings.output_reserve]
value = 4000
range = [0, 200000]
step = 500
unit = "tokens"
help = "Tokens for the answer."

[let]
usable = "window - output_reserve"

[[stage]]
id = "summarize"
at = "before_call"
when = "used >= 0.75 * usable"
take = { what = "messages", keep = ["system", "last_messages(keep_recent)"], boundary = "pair" }
do = { summarize = { max_tokens = "1000", prefix = "[Summary]\\n", prompt = "summarize" } }
guard = { must_shrink = true }

[[stage]]
id = "rejected"
at = "overflow_error"
when = "used >= 1"
take = { what = "messages", keep = ["system", "last_messages(2)"], boundary = "pair" }
do = { summarize = { max_tokens = "1000", prefix = "[Summary]\\n", prompt = "summarize" } }
"""
#: Shortens old tool results.
PRUNE = """
name = "prune-test"
label = "Prune"
help = "Clears old results."
kind = "strategy"

[[stage]]
id = "prune"
at = "before_call"
when = "used >= 2000"
take = { what = "tool_results", keep = ["last_messages(3)"] }
do = { clear = { marker = "[cleared]" } }
"""
TOO_LONG = "Your input exceeds the context window of this model. Please adjust your input and try again."
RESULT = "crane berth ledger " * 400


class Rejection(Exception):
    """An error of a provider with the text of OpenAI's."""

    def __init__(self) -> None:
        super().__init__(f"Error code: 400 - {{'error': {{'message': \"{TOO_LONG}\", 'code': 'context_length_exceeded'}}}}")
