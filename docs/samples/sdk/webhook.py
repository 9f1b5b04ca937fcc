import sys

# part: take
import os

from crypto_payment_service import webhooks

paid = ("CONFIRMED", "SWEEP_QUEUED", "SETTLED")


def take(raw_body, headers):
    """What your server does with a webhook: its body as it came, as bytes, and its headers."""
    event = webhooks.unwrap(raw_body, headers, os.environ["WEBHOOK_SECRET"])
    if not event["type"].startswith("payment."):
        return
    payment = event["data"]
    if payment["status"] in paid and "parentPaymentId" not in payment:
        print("paid", payment["merchantOrderId"])
# end


names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
take(sys.stdin.buffer.read(), {name: os.environ[name.upper().replace("-", "_")] for name in names})
