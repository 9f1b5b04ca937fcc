import json
import os
import sys

from crypto_payment_service import webhooks

names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
headers = {name: os.environ[name.upper().replace("-", "_")] for name in names}
event = webhooks.unwrap(sys.stdin.buffer.read(), headers, os.environ["WEBHOOK_SECRET"])
print(json.dumps(event, default=float))
