curl --silent --show-error --fail-with-body "$API_URL/api/v1/test/payments/$PAYMENT_ID/simulate" \
  -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" \
  -d '{"scenario": "paid"}'
