"""The options of a manager, as the engine reads them."""

from __future__ import annotations

from numbers import Real
from typing import Any, Mapping, Optional

from ._messages import text_of


def options_text(
    *,
    window: Any,
    settings: Optional[Mapping[str, Any]],
    calibration: Optional[Mapping[str, Any]],
    counter: Optional[str],
    request: Optional[Mapping[str, Any]],
    **texts: Optional[str],
) -> str:
    """Returns options as JSON. An argument of the wrong type is an error that names it."""
    calibration = None if calibration is None else dict(_mapping("calibration", calibration))
    counter = (calibration or {}).pop("counter", counter)
    options: dict[str, Any] = {
        "window": _number("window", window, "tokens, such as 128_000"),
        "settings": settings and _numbers("settings", settings),
        "calibration": calibration and _numbers("calibration", calibration),
        "counter": counter,
        "request": None if request is None else text_of(_mapping("request", request)),
        **texts,
    }
    for name in ("counter", *texts):
        if not isinstance(options[name], (str, type(None))):
            raise TypeError(f"{name} must be a text, not {options[name]!r}")
    return text_of({name: value for name, value in options.items() if value is not None})


def _number(name: str, value: Any, unit: str = "") -> Any:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number{unit and ' of ' + unit}, not {value!r}")
    value = float(value)
    return int(value) if value.is_integer() else value


def _numbers(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _number(f"{name}[{key!r}]", value) for key, value in _mapping(name, values).items()}


def _mapping(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a mapping of names, not {value!r}")
    return value
