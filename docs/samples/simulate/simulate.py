import os

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])
payment_id = os.environ["PAYMENT_ID"]

# part: simulate
simulated = client.test_mode.simulate(payment_id, {"scenario": "paid"})
# end
print(simulated["txId"])
