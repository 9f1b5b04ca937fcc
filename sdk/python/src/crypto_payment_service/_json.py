"""JSON whose numbers lose nothing: whole numbers are int, others Decimal."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, Mapping, Union


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def decode(text: Union[str, bytes]) -> Any:
    """Raises ValueError where it is no JSON in UTF-8."""
    whole = text if isinstance(text, str) else text.decode("utf-8")
    return json.loads(whole, parse_float=Decimal, parse_constant=_no_constant)


def encode(value: Any) -> str:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is no JSON")
        return format(value, "f")
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(str(key))}:{encode(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(encode(one) for one in value) + "]"
    return json.dumps(value, allow_nan=False)
