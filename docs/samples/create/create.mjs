const { API_URL, API_KEY, ORDER_ID } = process.env;

const response = await fetch(`${API_URL}/api/v1/payments`, {
  method: 'POST',
  headers: {
    Authorization: `Bearer ${API_KEY}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': ORDER_ID,
  },
  body: JSON.stringify({ amount: 25, currency: 'BTC', merchantOrderId: ORDER_ID }),
});
const payment = await response.json();
if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(payment)}`);
console.log(JSON.stringify(payment));
