#!/bin/sh
# Refunds all of a payment. PAYMENT_ID is the payment, REFUND_REFERENCE your own id of the refund.
refunds="$API_URL/api/v1/payments/$PAYMENT_ID/refunds"
call() {
  curl --silent --show-error --fail-with-body --retry 3 \
    -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" "$@"
}

# What would it take and cost? Nothing happens yet.
call "$refunds/preview" -d '{"type": "full"}' || exit 1
echo
# Without an address the answer has `claimUrl`: send this link to the payer, who names the address there.
call "$refunds" -H "Idempotency-Key: $REFUND_REFERENCE" \
  -d "{\"type\": \"full\", \"reference\": \"$REFUND_REFERENCE\"}" || exit 1
echo
