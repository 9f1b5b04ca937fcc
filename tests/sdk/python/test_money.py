"""What a key may do with money, by the Python package and through a proxy that loses answers; counted by money.test.ts."""

import json
import os
import urllib.request

import pytest

from crypto_payment_service import CryptoPayments

given = json.loads(os.environ["STACK"])


def proxy(path):
    with urllib.request.urlopen(given["proxy"] + path, timeout=30) as response:
        return json.load(response)


@pytest.fixture
def client():
    with CryptoPayments(given["proxy"], given["apiKey"]) as one:
        yield one


def test_refund(client):
    proxy("/lose/3")
    made = client.refunds.create(given["paymentId"], given["refund"])
    assert proxy("/asked") == 4
    print(f"made {made['_id']}")


def test_conversion(client):
    proxy("/lose/3")
    made = client.conversions.execute(given["conversion"])
    assert proxy("/asked") == 4
    print(f"made {made['_id']}")
