import json
import os

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])
order = os.environ["ORDER_ID"]

payment = client.payments.create(
    {"amount": 25, "currency": "BTC", "merchantOrderId": order},
    idempotency_key=order,
)
print(json.dumps(payment, default=float))
