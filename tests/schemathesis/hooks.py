"""What every request gets: an address of its own, a credential, now and then a value that exists, and now and then a nasty one."""

import base64
import collections
import hmac
import itertools
import json
import os
import random
import re
import struct
import time

import schemathesis
from schemathesis.core.failures import ServerError

given = json.loads(os.environ["SCHEMATHESIS_GIVEN"])
requests = itertools.count()
calls = collections.defaultdict(itertools.count)

texts = ["\0", "a\0b", "\u202e", "%00", "١٢٣", "1e999", "", " ", "x" * 70_000]
numbers = [0, -1, 0.1, 1e-300, 1e308, 2**31, 2**63, 2**64, 10**40]


def code(secret):
    """The authenticator's code now: RFC 6238."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.digest(key, struct.pack(">Q", int(time.time()) // 30), "sha1")
    at = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[at : at + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


def resolved(case, node):
    """What a reference of the document stands for."""
    while "$ref" in node:
        place = case.operation.schema.raw_schema
        for part in node["$ref"].removeprefix("#/").split("/"):
            place = place[part]
        node = place
    return node


def properties_of(case, schema):
    """The properties of a schema, those of its parts included."""
    own = resolved(case, schema)
    found = dict(own.get("properties", {}))
    for part in own.get("allOf", []):
        found.update(properties_of(case, part))
    return found


def take_factor(who, case, chance):
    """A fresh second factor for the operations that need one."""
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    properties = properties_of(case, content.get("application/json", {}).get("schema", {}))
    if "totpCode" in properties and "totp" in who and chance.random() < 0.7:
        for other in ("emailCode", "passkeyResponse"):
            case.body.pop(other, None)
        case.body["totpCode"] = code(who["totp"])


def mix(values, chance, is_body):
    for name, value in list(values.items()):
        # Of members only those: the answers name the caller too, whom a change would sign out.
        if name in given["known"] and (name == "memberId" or chance.random() < 0.5):
            values[name] = chance.choice(given["known"][name])
        elif chance.random() < 0.05:
            if isinstance(value, str):
                values[name] = chance.choice(texts if is_body else texts[:2])
            elif is_body and isinstance(value, (int, float)):
                values[name] = chance.choice(numbers)


def caller(case):
    return given["for"].get(case.operation.definition.raw["operationId"], given["who"])


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Temporal is away: the commands of payments may say so, where they declare it."""
    if not isinstance(failure, ServerError) or response.status_code != 503:
        return True
    code = response.json()["error"]["code"]
    # What any operation may answer is one response for all its statuses.
    declared = resolved(case, case.operation.definition.raw["responses"]["default"])["content"]["application/json"]
    return not ("OUTCOME_UNKNOWN" in json.dumps(declared) and code == "OUTCOME_UNKNOWN")


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = case.operation.definition.raw["operationId"]
    chance = random.Random(f"{operation} {next(calls[operation])}")
    number = next(requests)
    case.headers["X-Forwarded-For"] = f"10.{os.getpid() & 255}.{number >> 8 & 255}.{number & 255}"
    who = caller(case)
    if who:
        case.headers["Authorization"] = f"Bearer {who['token']}"
    for values in (case.path_parameters, case.query, case.body):
        if isinstance(values, dict):
            mix(values, chance, is_body=values is case.body)
    if who and isinstance(case.body, dict):
        take_factor(who, case, chance)


@schemathesis.hook
def after_call(context, case, response):
    """Who was given a new session goes on with it."""
    new = re.search(r"svc_access=([^;]+)", ",".join(response.headers.get("set-cookie", [])))
    if new and caller(case):
        caller(case)["token"] = new[1]
