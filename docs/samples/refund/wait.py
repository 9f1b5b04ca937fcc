import json
import os
import time

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])
refund_id = os.environ["REFUND_ID"]

refund = client.refunds.get(refund_id)
# Payers and approvers take their time: a shop waits for the webhook, and does not ask every few seconds.
while refund["status"] not in ("completed", "failed", "cancelled"):
    time.sleep(2)
    refund = client.refunds.get(refund_id)
print(json.dumps(refund))
