const { API_URL, API_KEY } = process.env;
const headers = { Authorization: `Bearer ${API_KEY}` };
const seen = new Set();

for (let page = 1; ; page += 1) {
  const response = await fetch(`${API_URL}/api/v1/payments?page=${page}&limit=100`, { headers });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { items, total } = await response.json();
  for (const payment of items) seen.add(payment._id); // a new payment moves others to the next page
  if (items.length === 0 || page * 100 >= total) break;
}
console.log(`${seen.size} payments`);
