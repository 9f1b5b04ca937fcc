"""What every request gets: an address of its own, a credential, and now and then a value that exists."""

import base64
import hmac
import itertools
import json
import os
import random
import struct
import time

import schemathesis

given = json.loads(os.environ["SCHEMATHESIS_GIVEN"])
numbers = itertools.count()


def code(secret):
    """The authenticator's code now: RFC 6238."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, struct.pack(">Q", int(time.time()) // 30), "sha1")
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at:at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def knows(schema, name):
    return isinstance(schema, dict) and name in schema.get("properties", {})


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(numbers)
    chance = random.Random(number)
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    operation = case.operation.definition.raw["operationId"]
    who = given["for"].get(operation, given["who"])
    if who:
        case.headers["Authorization"] = f"Bearer {who['token']}"

    def fill(values, names):
        for name in names:
            if name in given["known"] and chance.random() < 0.5:
                values[name] = chance.choice(given["known"][name])

    if isinstance(case.path_parameters, dict):
        fill(case.path_parameters, list(case.path_parameters))
    if isinstance(case.query, dict):
        fill(case.query, list(case.query))
    if isinstance(case.body, dict):
        fill(case.body, list(case.body))
        raw = case.operation.definition.raw.get("requestBody", {}).get("content", {})
        schema = raw.get("application/json", {}).get("schema")
        if who and who.get("totp") and knows(schema, "totpCode") and chance.random() < 0.7:
            case.body.pop("emailCode", None)
            case.body.pop("passkeyResponse", None)
            case.body["totpCode"] = code(who["totp"])
