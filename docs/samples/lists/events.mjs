const { API_URL, API_KEY } = process.env;
const headers = { Authorization: `Bearer ${API_KEY}` };
let after = '0'; // keep it: the next time, go on from here

for (let hasMore = true; hasMore;) {
  const response = await fetch(`${API_URL}/api/v1/events?after=${after}&limit=100`, { headers });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { data } = await response.json();
  for (const event of data.items) console.log(event.seq, event.type);
  after = data.nextCursor;
  hasMore = data.hasMore;
}
