# Takes webhooks at /webhooks. A shop keeps what is in `seen`, `newest` and `delivered` in its database.
# pip install standardwebhooks
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
seen = set()
newest = {}
delivered = set()
paid = ("CONFIRMED", "SWEEP_QUEUED", "SETTLED")


def take(event):
    if event["id"] in seen:
        return  # a repeat
    seen.add(event["id"])
    if not event["type"].startswith("payment."):
        return
    payment = event["data"]
    if payment["stateVersion"] < newest.get(payment["_id"], 0):
        return  # overtaken by a later change
    newest[payment["_id"]] = payment["stateVersion"]
    if "parentPaymentId" in payment:
        return  # a late or second deposit, of any amount: it pays no order by itself
    order = payment.get("merchantOrderId")
    print(f"{order} is {payment['status']}", flush=True)
    if payment["status"] in paid and order not in delivered:
        delivered.add(order)
        print(f"paid {order}", flush=True)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            take(webhook.verify(body, {name.lower(): value for name, value in self.headers.items()}))
            self.send_response(204)
        except (WebhookVerificationError, ValueError) as error:  # no signature of ours, or none at all
            print(error, flush=True)
            self.send_response(400)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("", int(os.environ.get("PORT", "4000"))), Handler)
print(f"listening on {server.server_port}", flush=True)
server.serve_forever()
