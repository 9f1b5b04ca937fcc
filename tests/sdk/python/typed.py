"""Read by mypy alone: what a shop writes has types."""

from decimal import Decimal
from typing import Union

from crypto_payment_service import CryptoPayments, RateDriftError, webhooks
from crypto_payment_service.types import CreatedPayment, Payment

client = CryptoPayments("https://pay.example", "svc_live_x")
made: CreatedPayment = client.payments.create({"amount": Decimal("25.50"), "currency": "BTC"})
for row in client.payments.list(status="SETTLED"):
    identity: str = row["_id"]
client.test_mode.simulate(made["paymentId"], {"scenario": "paid"})
total: int = client.payments.list().first()["total"]


def take(body: bytes, headers: "dict[str, str]") -> str:
    event = webhooks.unwrap(body, headers, "whsec_x")
    if event["type"] == "payment.settled":
        payment: Payment = event["data"]
        return payment["_id"]
    return event["id"]


try:
    client.conversions.quote(from_currency="BTC", to_currency="ETH", from_amount="1")
except RateDriftError as error:
    drift: Union[int, Decimal] = error.data["driftPct"]

client.payments.create({"price": 1})  # type: ignore[typeddict-item]
client.payments.list(status="PAID")  # type: ignore[arg-type]
made["address"]  # type: ignore[typeddict-item]
