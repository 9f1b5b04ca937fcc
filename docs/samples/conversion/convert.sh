#!/bin/sh
# Converts AMOUNT of FROM to TO. CONVERSION_REFERENCE is your own id of the conversion.
call() {
  curl --silent --show-error -H "Authorization: Bearer $API_KEY" -H "Content-Type: application/json" "$@"
}
# A field of one of our answers, where it is text or a number.
field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"; }

quote=$(call --fail-with-body \
  "$API_URL/api/v1/conversions/quote?fromCurrency=$FROM&toCurrency=$TO&fromAmount=$AMOUNT") || { echo "$quote" >&2; exit 1; }
of_quote() { printf %s "$quote" | field "$1"; }

# The figures that the user has accepted, as they came: with worse ones nothing is executed.
answer=$(call --write-out '\n%{http_code}' "$API_URL/api/v1/conversions" -d "{
  \"fromCurrency\": \"$FROM\", \"toCurrency\": \"$TO\", \"idempotencyKey\": \"$CONVERSION_REFERENCE\",
  \"fromAmount\": \"$(of_quote fromAmountStr)\", \"quotedRate\": $(of_quote exchangeRate),
  \"quotedToAmount\": \"$(of_quote toAmountStr)\"}")
conversion=$(printf %s "$answer" | sed '$d')
case "$answer" in
  *201) printf '%s\n' "$conversion" ;;
  *) printf '%s\n' "$conversion" >&2; exit 1 ;; # RATE_DRIFT has `newQuote`: show it to the user, and ask again
esac
