#!/bin/sh
# What a secret key may do with payouts: read them. Its scopes are `withdrawals:read` and `payouts:read`.
for list in withdrawals mass-payouts; do
  curl --silent --show-error --fail-with-body --retry 3 "$API_URL/api/v1/$list?limit=100" \
    -H "Authorization: Bearer $API_KEY" || exit 1
  echo
done
