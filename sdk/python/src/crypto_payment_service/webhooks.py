"""Webhooks by the Standard Webhooks scheme: verified first, parsed afterwards."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from typing import Any, List, Mapping, Optional, Sequence, Union, cast

from ._generated.types import Event
from ._json import decode
from .errors import WebhookVerificationError


def unwrap(
    raw_body: Union[bytes, str],
    headers: Mapping[str, Any],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> Event:
    """The event of a webhook.

    `raw_body` is the body as it came, before any parser. `secret` is the endpoint's `whsec_…`; of several, any may
    fit. `tolerance`: how many seconds the timestamp may be from this clock. Raises WebhookVerificationError: answer
    400, and do nothing else.
    """
    body = raw_body.encode() if isinstance(raw_body, str) else bytes(raw_body)
    event_id = _header(headers, "webhook-id")
    timestamp = _header(headers, "webhook-timestamp")
    signatures = _header(headers, "webhook-signature")
    _check_timestamp(timestamp, tolerance, time.time() if now is None else now)
    signed = f"{event_id}.{timestamp}.".encode() + body
    given = [entry[3:].encode() for entry in signatures.split(" ") if entry.startswith("v1,")]
    fits = False
    for key in _keys(secret):
        made = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for one in given:
            fits = hmac.compare_digest(made, one) or fits
    if not fits:
        raise WebhookVerificationError("bad_signature", "No signature of this webhook fits its secret")
    return _event(body, event_id)


def _keys(secret: Union[str, Sequence[str]]) -> List[bytes]:
    keys: List[bytes] = []
    for one in [secret] if isinstance(secret, str) else secret:
        encoded = one[6:] if one.startswith("whsec_") else one
        try:
            key = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if not key:
            raise ValueError("The secret of a webhook is whsec_ and base64")
        keys.append(key)
    if not keys:
        raise ValueError("The secret of the webhook is missing")
    return keys


def _check_timestamp(text: str, tolerance: float, now: float) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise WebhookVerificationError("bad_timestamp", "webhook-timestamp is no time")
    age = int(now) - int(text)
    if age > tolerance:
        raise WebhookVerificationError("too_old", f"The webhook is {age} seconds old")
    if age < -tolerance:
        raise WebhookVerificationError("too_new", f"The webhook is from {-age} seconds ahead: check this clock")


def _header(headers: Mapping[str, Any], name: str) -> str:
    for key, value in headers.items():
        if str(key).lower() == name and value:
            return str(value[0] if isinstance(value, (list, tuple)) else value)
    raise WebhookVerificationError("missing_header", f"The request has no {name}")


def _event(body: bytes, event_id: str) -> Event:
    try:
        event = decode(body)
    except ValueError:
        raise WebhookVerificationError("bad_body", "The body of the webhook is no JSON") from None
    if not isinstance(event, dict) or event.get("id") != event_id:
        raise WebhookVerificationError("bad_body", "The body of the webhook is no event of this id")
    return cast(Event, event)
