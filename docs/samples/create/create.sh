#!/bin/sh
# Creates a payment of 25 in your display currency. The key of the order makes a repeat harmless.
curl --silent --show-error --fail-with-body --retry 3 "$API_URL/api/v1/payments" \
  -H "Authorization: Bearer $API_KEY" \
  -H "Content-Type: application/json" \
  -H "Idempotency-Key: $ORDER_ID" \
  -d "{\"amount\": 25, \"currency\": \"BTC\", \"merchantOrderId\": \"$ORDER_ID\"}"
