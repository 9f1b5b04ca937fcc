# part: env
export API_URL=$(node -p "require('./.data/sandbox.json').apiUrl")
export API_KEY=$(node -p "require('./.data/sandbox.json').merchant.secretKey")
# end
# part: create
PAYMENT=$(ORDER_ID="order-$(date +%s)" sh docs/samples/create/create.sh)
node -p "require('./.data/sandbox.json').checkoutUrl + JSON.parse(process.argv[1]).invoiceUrl" "$PAYMENT"
# end
# part: pay
npm run pay -- "$(node -p 'JSON.parse(process.argv[1]).paymentId' "$PAYMENT")"
# end
