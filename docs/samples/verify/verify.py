import base64
import hashlib
import hmac
import json
import os
import sys
import time


def verify(body, headers, secret):
    """The event, or ValueError. `body` is the body as it came, as bytes; of the headers three are read."""
    webhook_id = headers["webhook-id"]
    timestamp = headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("Too old, or from ahead")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if len(key) < 24:
        raise ValueError("WEBHOOK_SECRET is missing, or no secret")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    signatures = headers["webhook-signature"].split(" ")
    if not any(hmac.compare_digest(one.encode(), expected.encode()) for one in signatures):
        raise ValueError("No signature fits")
    return json.loads(body)


names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
given = {name: os.environ[name.upper().replace("-", "_")] for name in names}
print(json.dumps(verify(sys.stdin.buffer.read(), given, os.environ["WEBHOOK_SECRET"])))
