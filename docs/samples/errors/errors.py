import os

from crypto_payment_service import ApiError, CryptoPayments, NotFoundError

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])

try:
    client.payments.get("ffffffffffffffffffffffff")
except NotFoundError as error:
    print(error.code, "true" if error.request_id else "false")
try:
    client.conversions.quote(from_currency="BTC", to_currency="BTC", from_amount="1")
except ApiError as error:
    if error.code != "SAME_CURRENCY":
        raise
    print(error.code, error.status)
