# pip install standardwebhooks
import json
import os
import sys

from standardwebhooks import Webhook

names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
headers = {name: os.environ[name.upper().replace("-", "_")] for name in names}
event = Webhook(os.environ["WEBHOOK_SECRET"]).verify(sys.stdin.buffer.read(), headers)
print(json.dumps(event))
