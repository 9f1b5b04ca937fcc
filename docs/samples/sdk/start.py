import os

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])

payment = client.payments.create(
    {"amount": 25, "currency": "BTC", "merchantOrderId": "order-1"},
    idempotency_key="order-1",
)
print(payment["paymentId"], payment["depositAddress"])
