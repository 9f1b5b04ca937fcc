# part: env
export API_URL=$(node -p "require('./.data/sandbox.json').apiUrl")
export CHECKOUT_URL=$(node -p "require('./.data/sandbox.json').checkoutUrl")
export API_KEY=$(node -p "require('./.data/sandbox.json').merchant.secretKey")
export WEBHOOK_SECRET=$(node -p "require('./.data/sandbox.json').merchant.ipnSecret")
export PORT="${PORT:-4000}"
export SHOP_URL="http://127.0.0.1:$PORT"
# end
# part: order
CHECKOUT=$(curl --silent --output /dev/null --write-out '%{redirect_url}' --request POST \
  "http://127.0.0.1:${PORT:-4000}/orders")
npm run pay -- "$CHECKOUT" --asset ETH
# end
