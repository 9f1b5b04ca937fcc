"""The Python package against a server that answers as it is told."""

import json
import threading
import time
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from crypto_payment_service import (
    ApiConnectionError,
    ApiError,
    AuthenticationError,
    ConflictError,
    CryptoPayments,
    InsufficientScopeError,
    InvalidRequestError,
    NotFoundError,
    RateDriftError,
    RateLimitError,
)

CREATED = (201, {}, {"paymentId": "a" * 24, "status": "WAITING"})
AWAY = (503, {}, {"ok": False, "error": {"code": "UPSTREAM_UNAVAILABLE", "message": "Temporarily unavailable"}})


def busy(seconds):
    error = {"code": "RATE_LIMITED", "message": "Too many requests"}
    return (429, {"Retry-After": seconds, "X-Request-Id": "req_busy"}, {"ok": False, "error": error})


class Fake:
    """Gives one answer after the other, the last for ever: a tuple, 'hang up', 'half', 'silence' or 'drip'."""

    def __init__(self):
        self.answers = []
        self.received = []
        self.over = threading.Event()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                fake.received.append({"method": self.command, "path": self.path, "headers": headers, "body": body})
                given = fake.answers.pop(0) if len(fake.answers) > 1 else fake.answers[0]
                self.close_connection = isinstance(given, str)
                if given == "hang up":
                    return
                if given == "silence":
                    fake.over.wait(20)
                    return
                if isinstance(given, str):
                    self.send_response(201)
                    self.send_header("Content-Length", "500")
                    self.send_header("X-Request-Id", "req_half")
                    self.end_headers()
                    self.wfile.write(b'{"paymentId":"a')
                    while given == "drip" and not fake.over.wait(0.05):
                        self.wfile.write(b"a")
                    return
                status, extra, content = given
                text = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**extra, "Content-Length": str(len(text))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.handle_error = lambda *_: None  # a client that went away
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def fake():
    one = Fake()
    yield one
    one.over.set()
    one.server.shutdown()
    one.server.server_close()


@pytest.fixture
def client(fake):
    with CryptoPayments(fake.url, "svc_live_test") as one:
        yield one


def test_a_payment_is_sent_again_with_its_key_after_503_hang_ups_and_half_an_answer(fake, client):
    fake.answers = [AWAY, "hang up", "half", CREATED]
    assert client.payments.create({"amount": 10})["status"] == "WAITING"
    assert len(fake.received) == 4
    keys = {one["headers"]["idempotency-key"] for one in fake.received}
    assert len(keys) == 1 and len(keys.pop()) == 36
    assert {one["body"] for one in fake.received} == {b'{"amount":10}'}
    assert len({one["headers"]["x-request-id"] for one in fake.received}) == 4
    assert fake.received[0]["headers"]["user-agent"].startswith("crypto-payment-service-python/")


def test_the_key_goes_where_the_call_has_it(fake, client):
    fake.answers = [(201, {}, {"_id": "c"})]
    order = {"fromCurrency": "BTC", "toCurrency": "ETH", "fromAmount": "1"}
    client.conversions.execute({**order, "idempotencyKey": "mine"})
    client.conversions.execute(order, idempotency_key="k")
    client.payments.create({"amount": 1}, idempotency_key="order-1")
    assert [json.loads(one["body"]).get("idempotencyKey") for one in fake.received] == ["mine", "k", None]
    assert [one["headers"].get("idempotency-key") for one in fake.received] == [None, None, "order-1"]


def test_it_waits_as_retry_after_asks_and_no_longer_than_it_may(fake, client):
    fake.answers = [busy("1"), CREATED]
    began = time.monotonic()
    client.payments.create({"amount": 1})
    assert time.monotonic() - began >= 0.99
    fake.answers = [busy("120")]
    fake.received.clear()
    with pytest.raises(RateLimitError) as caught:
        client.payments.create({"amount": 1})
    error = caught.value
    assert (error.retry_after, error.request_id, error.code) == (120, "req_busy", "RATE_LIMITED")
    assert len(fake.received) == 1


def test_it_gives_up_after_max_retries_and_says_the_key_and_the_request(fake, client):
    fake.answers = ["hang up"]
    with pytest.raises(ApiConnectionError) as caught:
        client.payments.create({"amount": 1}, idempotency_key="order-1", max_retries=1)
    assert caught.value.idempotency_key == "order-1"
    assert caught.value.request_id == fake.received[1]["headers"]["x-request-id"]
    assert caught.value.request_id in str(caught.value)
    assert len(fake.received) == 2


def test_half_an_answer_has_the_request_id_that_came(fake, client):
    fake.answers = [(200, {"X-Request-Id": "req_html"}, b"<html>")]
    with pytest.raises(ApiConnectionError) as caught:
        client.payments.get("a", max_retries=0)
    assert caught.value.request_id == "req_html"


def test_an_act_without_a_key_is_repeated_only_if_it_was_refused_unheard(fake, client):
    fake.answers = ["hang up", CREATED]
    with pytest.raises(ApiConnectionError):
        client.payments.cancel("a" * 24)
    assert len(fake.received) == 1
    fake.answers = [busy("0"), (200, {}, {"success": True, "status": "CANCELLED"})]
    assert client.payments.cancel("a" * 24)["status"] == "CANCELLED"
    assert len(fake.received) == 3


def test_a_refusal_is_not_repeated(fake, client):
    fake.answers = [(400, {}, {"error": "Payment creation failed"})]
    with pytest.raises(InvalidRequestError):
        client.payments.create({"amount": 1})
    assert len(fake.received) == 1


@pytest.mark.parametrize("way", ["silence", "drip"])
def test_an_attempt_has_its_time(fake, client, way):
    fake.answers = [way, (200, {}, {"_id": "p"})]
    assert client.payments.get("p", timeout=1)["_id"] == "p"
    assert len(fake.received) >= 2


def test_errors_have_a_code_whatever_the_envelope(fake, client):
    def refusal(status, body):
        fake.answers = [(status, {"X-Request-Id": "req_7"}, body)]
        with pytest.raises(ApiError) as caught:
            client.payments.get("p", max_retries=0)
        assert (caught.value.status, caught.value.request_id) == (status, "req_7")
        assert "req_7" in str(caught.value)
        return caught.value

    in_a = refusal(401, {"ok": False, "error": {"code": "INVALID_API_KEY", "message": "Invalid API key"}})
    assert (type(in_a), in_a.code) == (AuthenticationError, "INVALID_API_KEY")
    in_b = refusal(404, {"error": "Payment not found"})
    assert (type(in_b), in_b.code) == (NotFoundError, "PAYMENT_NOT_FOUND")
    scope = refusal(403, {"error": "Insufficient scope", "requiredScope": "payments:read"})
    assert (type(scope), scope.data) == (InsufficientScopeError, {"requiredScope": "payments:read"})
    drift = {"error": "RATE_DRIFT", "message": "The market moved", "driftPct": 1.5, "newQuote": {"exchangeRate": 20}}
    moved = refusal(409, drift)
    assert isinstance(moved, RateDriftError) and isinstance(moved, ConflictError)
    assert (moved.data["driftPct"], moved.data["newQuote"]["exchangeRate"]) == (Decimal("1.5"), 20)
    unknown = refusal(400, {"error": "Words of next year"})
    assert unknown.code == "HTTP_400" and "Words of next year" in str(unknown)
    assert refusal(500, b"<html>").code == "HTTP_500"


def test_numbers_lose_nothing_on_either_way(fake, client):
    fake.answers = [(201, {}, b'{"amount": 0.123456789012345678, "count": 3}')]
    payment = client.payments.create({"amount": Decimal("0.10"), "metadata": {"n": [1.5, None, True, "ž"]}})
    assert (payment["amount"], payment["count"]) == (Decimal("0.123456789012345678"), 3)
    assert fake.received[0]["body"] == b'{"amount":0.10,"metadata":{"n":[1.5,null,true,"\\u017e"]}}'


def test_lists_give_every_row_once(fake, client):
    def page(*names, total):
        return (200, {}, {"items": [{"_id": name} for name in names], "total": total})

    fake.answers = [page("c", "b", total=3)]
    assert client.payments.list(limit=2).first()["total"] == 3
    # A new payment comes between the pages and moves every row by one.
    fake.answers = [page("c", "b", total=3), page("b", "a", total=4)]
    fake.received.clear()
    rows = client.payments.list(limit=2, status="WAITING", merchant_order_id="o 1")
    assert [row["_id"] for row in rows] == ["c", "b", "a"]
    start = "/api/v1/payments?status=WAITING&merchantOrderId=o+1"
    assert [one["path"] for one in fake.received] == [f"{start}&limit=2", f"{start}&page=2&limit=2"]


def test_lists_go_on_by_cursor_and_stop_with_the_caller(fake, client):
    def events(*seqs, more):
        items = [{"id": f"e{seq}", "seq": seq} for seq in seqs]
        return (200, {}, {"ok": True, "data": {"items": items, "hasMore": more, "nextCursor": str(seqs[-1])}})

    fake.answers = [events(1, 2, more=True), events(3, more=False)]
    assert [event["seq"] for event in client.events.list()] == [1, 2, 3]
    assert [one["path"] for one in fake.received] == ["/api/v1/events", "/api/v1/events?after=2"]
    fake.received.clear()
    fake.answers = [events(1, 2, more=True)]
    assert next(iter(client.events.list()))["seq"] == 1
    assert len(fake.received) == 1


def test_ids_are_one_segment_of_the_path_and_none_is_empty(fake, client):
    fake.answers = [(404, {}, {"error": "Payment not found"})]
    with pytest.raises(NotFoundError):
        client.payments.get("../wallets?x=1")
    assert fake.received[0]["path"] == "/api/v1/payments/..%2Fwallets%3Fx%3D1"
    for wrong in ("", ".", ".."):
        with pytest.raises(ValueError):
            client.payments.get(wrong)
    with pytest.raises(ValueError):
        CryptoPayments("https://pay.example/api/v1", "svc_live_test")


def test_a_redirect_is_refused(fake, client):
    fake.answers = [(302, {"Location": "http://127.0.0.1:9/"}, {})]
    with pytest.raises(ApiError) as caught:
        client.payments.get("p")
    assert caught.value.code == "HTTP_302"
