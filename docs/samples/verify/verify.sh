#!/bin/sh
# The body on standard input, byte for byte; the headers as WEBHOOK_ID, WEBHOOK_TIMESTAMP and WEBHOOK_SIGNATURE.
body=$(mktemp)
trap 'rm -f "$body"' EXIT
cat > "$body"

case "$WEBHOOK_TIMESTAMP" in '' | *[!0-9]*) echo "No timestamp" >&2; exit 1 ;; esac
age=$(($(date +%s) - WEBHOOK_TIMESTAMP))
if [ "$age" -gt 300 ] || [ "$age" -lt -300 ]; then echo "Too old, or from ahead" >&2; exit 1; fi

key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
expected=$({ printf '%s.%s.' "$WEBHOOK_ID" "$WEBHOOK_TIMESTAMP"; cat "$body"; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
for signature in $WEBHOOK_SIGNATURE; do
  if [ "$signature" = "v1,$expected" ]; then cat "$body"; exit 0; fi
done
echo "No signature fits" >&2
exit 1
