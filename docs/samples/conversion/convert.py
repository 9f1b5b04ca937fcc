import json
import os
import sys
import time

from crypto_payment_service import CryptoPayments, RateDriftError

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])
source, target = os.environ["FROM"], os.environ["TO"]
reference = os.environ["CONVERSION_REFERENCE"]


def execute(quote):
    """Executes a quote that the user has accepted; None where the market has moved too far for that."""
    try:
        return client.conversions.execute(
            {
                "fromCurrency": source,
                "toCurrency": target,
                "fromAmount": quote["fromAmountStr"],
                "quotedRate": quote["exchangeRate"],
                "quotedToAmount": quote["toAmountStr"],
                "idempotencyKey": reference,
            }
        )
    except RateDriftError as error:
        # Was it executed by an earlier request, whose answer was lost?
        executed = client.conversions.list(idempotency_key=reference).first()["items"]
        if executed:
            return executed[0]
        to_amount = error.data["newQuote"]["toAmountStr"]
        print(f"RATE_DRIFT: you would now get {to_amount} {target}. Ask the user again.", file=sys.stderr)
        return None


quote = client.conversions.quote(from_currency=source, to_currency=target, from_amount=os.environ["AMOUNT"])
conversion = execute(quote)
if conversion is None:
    sys.exit(1)
while conversion["status"] in ("initializing", "pending", "processing"):
    time.sleep(2)
    conversion = client.conversions.get(conversion["_id"])
print(json.dumps(conversion, default=float))
