import os

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])

for one in client.withdrawals.list():
    print("withdrawal", one["_id"], one["status"], one["amount"], one["currency"], one["txId"] or "")
for batch in client.mass_payouts.list():
    print("mass payout", batch["_id"], batch["status"], batch["label"] or "")
    for leg in client.mass_payouts.list_legs(batch["_id"]):
        print("  row", leg["rowIndex"], leg["status"], leg["amount"], leg["currency"], leg["address"])
