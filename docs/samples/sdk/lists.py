import os

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])

# part: read
page = client.payments.list(status="WAITING").first()
print(f"{len(page['items'])} of {page['total']}")
for payment in client.payments.list(status="WAITING"):
    print(payment["_id"])
# end
