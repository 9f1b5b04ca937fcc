import base64
import hashlib
import hmac
import json
import os
import sys
import time

names = ["webhook-id", "webhook-timestamp", "webhook-signature"]


def verify(body, headers, secret):
    """The event, or ValueError. `body` is the body as it came, as bytes; of the headers three are read."""
    webhook_id, timestamp, signatures = (headers.get(name, "") for name in names)
    if abs(time.time() - int(timestamp)) > 300:
        raise ValueError("Too old, or from ahead")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if len(key) < 24:
        raise ValueError("WEBHOOK_SECRET is missing, or no secret")
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(one.encode(), expected.encode()) for one in signatures.split(" ")):
        raise ValueError("No signature fits")
    return json.loads(body)


given = {name: os.environ[name.upper().replace("-", "_")] for name in names}
print(json.dumps(verify(sys.stdin.buffer.read(), given, os.environ["WEBHOOK_SECRET"])))
