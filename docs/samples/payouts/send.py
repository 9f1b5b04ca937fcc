# Signs in as a user and queues a mass payout. Standard input has two codes of the user's authenticator, one a line:
# one to sign in, and a later one for the payout. A code serves once.
import json
import os
import sys
import urllib.request
from http.cookies import SimpleCookie


def post(path, body, access_token=None):
    headers = {"Content-Type": "application/json"}
    if access_token:
        headers["Authorization"] = "Bearer " + access_token
    request = urllib.request.Request(os.environ["API_URL"] + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        cookies = SimpleCookie()
        for line in response.headers.get_all("Set-Cookie") or []:
            cookies.load(line)
        return json.load(response), cookies


def next_code():
    return sys.stdin.readline().strip()


login, _ = post("/api/v1/auth/login", {"email": os.environ["EMAIL"], "password": os.environ["PASSWORD"]})
_, cookies = post("/api/v1/auth/2fa/validate", {"totpToken": login["totpToken"], "code": next_code()})
access_token = cookies["svc_access"].value

rows = json.loads(os.environ["ROWS"])  # each: currency, address of the whitelist, amount
checked, _ = post("/api/v1/mass-payouts/validate", {"rows": rows}, access_token)
if not checked["data"]["canSubmit"]:
    sys.exit(f"Not all rows can be paid: {checked['data']['rows']}")
body = {"rows": rows, "idempotencyKey": os.environ["PAYOUT_REFERENCE"], "totpCode": next_code()}
queued, _ = post("/api/v1/mass-payouts", body, access_token)
print(json.dumps(queued["data"]))
