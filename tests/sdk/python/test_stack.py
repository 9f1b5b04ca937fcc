"""The Python package on the running API, through a proxy that loses answers; and a webhook as it was delivered."""

import base64
import json
import os
import urllib.request
from datetime import datetime

import pytest

from crypto_payment_service import CryptoPayments, NotFoundError, WebhookVerificationError
from crypto_payment_service.webhooks import unwrap

given = json.loads(os.environ["STACK"])
secret = given["ipnSecret"]
body = base64.b64decode(given["webhook"]["body"])
headers = given["webhook"]["headers"]
sent = int(headers["webhook-timestamp"])


def proxy(path):
    with urllib.request.urlopen(given["proxy"] + path, timeout=30) as response:
        return json.load(response)


@pytest.fixture
def client():
    with CryptoPayments(given["proxy"], given["apiKey"]) as one:
        yield one


def test_one_payment_however_many_answers_are_lost(client):
    proxy("/lose/3")
    made = client.payments.create({"amount": 25, "currency": "BTC", "merchantOrderId": "from-python"})
    assert proxy("/asked") == 4
    page = client.payments.list(merchant_order_id="from-python").first()
    assert (page["total"], page["items"][0]["_id"]) == (1, made["paymentId"])
    payment = client.payments.get(made["paymentId"])
    assert (payment["status"], payment["publicKey"]) == ("WAITING", made["depositAddress"])
    assert datetime.fromisoformat(payment["createdAt"].replace("Z", "+00:00"))


def test_every_event_once_over_several_pages(client):
    seqs = [event["seq"] for event in client.events.list(limit=2)]
    assert len(seqs) > 2 and seqs == list(range(1, len(seqs) + 1))


def test_a_refusal_has_the_request_id_of_the_logs(client):
    with pytest.raises(NotFoundError) as caught:
        client.payments.get("f" * 24)
    assert caught.value.code == "PAYMENT_NOT_FOUND"
    print(f"refused as {caught.value.request_id}")


def test_a_webhook_is_verified_from_bytes_and_text_with_any_of_several_secrets():
    event = unwrap(body, headers, secret, now=sent)
    assert event["type"] == "payment.created" and event["data"]["status"] == "WAITING"
    assert unwrap(body.decode(), headers, secret, now=sent) == event
    other = "whsec_" + base64.b64encode(bytes([1] * 24)).decode()
    capitals = {name.title(): value for name, value in headers.items()}
    assert unwrap(body, capitals, [other, secret], now=sent) == event
    rotated = {**headers, "webhook-signature": "v1," + "A" * 43 + "= " + headers["webhook-signature"]}
    assert unwrap(body, rotated, secret, now=sent) == event
    for wrong in ("whsec_", "whsec_%%%", []):
        with pytest.raises(ValueError):
            unwrap(body, headers, wrong, now=sent)


@pytest.mark.parametrize("skew", [-300, 300])
def test_a_clock_may_be_five_minutes_off(skew):
    assert unwrap(body, headers, secret, now=sent + skew)


def test_a_webhook_is_fresh_by_the_clock_of_this_machine():
    # Delivered moments ago, so that this clock serves; the tolerance of a second is over by then.
    assert unwrap(body, headers, secret, tolerance=3600)
    with pytest.raises(WebhookVerificationError):
        unwrap(body, headers, secret, tolerance=-1)


signature = headers["webhook-signature"]
changes = [
    ("too_old", {"now": sent + 301}),
    ("too_new", {"now": sent - 301}),
    ("bad_signature", {"body": body + b" "}),
    ("bad_signature", {"secret": "whsec_" + base64.b64encode(bytes(24)).decode()}),
    ("bad_signature", {"headers": {**headers, "webhook-id": "f" * 24}}),
    ("bad_signature", {"headers": {**headers, "webhook-timestamp": str(sent + 1)}}),
    ("bad_signature", {"headers": {**headers, "webhook-signature": signature.replace("v1,", "v2,")}}),
    ("bad_signature", {"headers": {**headers, "webhook-signature": "v1,ž"}}),
    ("bad_timestamp", {"headers": {**headers, "webhook-timestamp": "1e9"}}),
    ("missing_header", {"headers": {name: headers[name] for name in headers if name != "webhook-signature"}}),
]


@pytest.mark.parametrize(("reason", "change"), changes)
def test_what_is_not_genuine_or_fresh_is_refused(reason, change):
    used = {"body": body, "headers": headers, "secret": secret, "now": sent, **change}
    with pytest.raises(WebhookVerificationError) as caught:
        unwrap(used["body"], used["headers"], used["secret"], now=used["now"])
    assert caught.value.reason == reason
