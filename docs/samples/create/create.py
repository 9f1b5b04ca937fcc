import json
import os
import urllib.request

order = os.environ["ORDER_ID"]
request = urllib.request.Request(
    os.environ["API_URL"] + "/api/v1/payments",
    data=json.dumps({"amount": 25, "currency": "BTC", "merchantOrderId": order}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["API_KEY"],
        "Content-Type": "application/json",
        "Idempotency-Key": order,
    },
)
with urllib.request.urlopen(request, timeout=30) as response:
    payment = json.load(response)
print(json.dumps(payment))
