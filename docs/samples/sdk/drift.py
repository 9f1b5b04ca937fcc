import os

from crypto_payment_service import CryptoPayments

client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])
pair = {"fromCurrency": "ETH", "toCurrency": "USDT_ERC20"}
quote = client.conversions.quote(from_currency="ETH", to_currency="USDT_ERC20", from_amount="0.5")
order = {**pair, "fromAmount": quote["fromAmountStr"], "quotedRate": quote["exchangeRate"]}

# part: catch
from crypto_payment_service import RateDriftError

try:
    client.conversions.execute(order)
except RateDriftError as error:
    print(error.data["newQuote"]["toAmountStr"])
# end
