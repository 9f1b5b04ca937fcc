import json
import os

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])
payment_id = os.environ["PAYMENT_ID"]
reference = os.environ["REFUND_REFERENCE"]

# What would it take and cost? Nothing happens yet.
preview = client.refunds.preview(payment_id, {"type": "full"})
print(json.dumps(preview))

# Without an address the refund has `claimUrl`: send this link to the payer, who names the address there.
refund = client.refunds.create(
    payment_id,
    {"type": "full", "reference": reference},
    idempotency_key=reference,
)
print(json.dumps(refund))
