# A small shop: an order, the hosted checkout, and a verified webhook that marks the order paid, once.
import json
import os
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from crypto_payment_service import CryptoPayments, WebhookVerificationError, webhooks

shop_url = os.environ["SHOP_URL"]
client = CryptoPayments(os.environ["API_URL"], os.environ["API_KEY"])
paid = ("CONFIRMED", "SWEEP_QUEUED", "SETTLED")
orders = {}  # a shop keeps both in its database,
seen = set()  # and changes them in one transaction
lock = Lock()


def buy():
    order = {"id": str(uuid.uuid4()), "price": 25, "status": "open", "stateVersion": 0, "deliveries": 0}
    orders[order["id"]] = order
    payment = client.payments.create(
        {
            "amount": order["price"],
            "merchantOrderId": order["id"],
            "ipnCallbackUrl": f"{shop_url}/webhooks",
            "invoiceCallbackUrl": f"{shop_url}/orders/{order['id']}",
        },
        idempotency_key=order["id"],
    )
    order["paymentId"] = payment["paymentId"]
    return os.environ["CHECKOUT_URL"] + payment["invoiceUrl"]


def take(event):
    with lock:
        if event["id"] in seen:
            return  # a repeat
        seen.add(event["id"])
        if not event["type"].startswith("payment."):
            return
        payment = event["data"]
        order = orders.get(payment.get("merchantOrderId"))
        if order is None or order.get("paymentId") != payment["_id"]:
            return  # a late or second deposit is a payment of its own
        if payment["stateVersion"] < order["stateVersion"]:
            return  # overtaken by a later change
        order["stateVersion"] = payment["stateVersion"]
        if order["status"] != "paid" and payment["status"] in paid:
            order["status"] = "paid"
            order["deliveries"] += 1  # what must happen once for an order


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/orders":
            return self.answer(303, location=buy())
        try:
            take(webhooks.unwrap(body, self.headers, os.environ["WEBHOOK_SECRET"]))
            self.answer(204)
        except WebhookVerificationError as error:
            print(error, flush=True)
            self.answer(400)

    def do_GET(self):
        order = orders.get(self.path[len("/orders/") :])
        self.answer(200 if order else 404, json.dumps(order) if order else "No such order")

    def answer(self, status, text="", location=None):
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", "4000"))), Handler)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
