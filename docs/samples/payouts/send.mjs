// Signs in as a user and queues a mass payout. Standard input has two codes of the user's authenticator, one a line:
// one to sign in, and a later one for the payout. A code serves once.
import { createInterface } from 'node:readline';

const { API_URL, EMAIL, PASSWORD, ROWS, PAYOUT_REFERENCE } = process.env;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const nextCode = async () => (await lines.next()).value;

async function post(path, body, accessToken) {
  const headers = { 'Content-Type': 'application/json' };
  if (accessToken) headers.Authorization = `Bearer ${accessToken}`;
  const response = await fetch(API_URL + path, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return { answer: JSON.parse(text), cookies: response.headers.getSetCookie() };
}

const login = await post('/api/v1/auth/login', { email: EMAIL, password: PASSWORD });
const factor = { totpToken: login.answer.totpToken, code: await nextCode() };
const { cookies } = await post('/api/v1/auth/2fa/validate', factor);
const accessToken = cookies.map((cookie) => /^svc_access=([^;]+)/.exec(cookie)?.[1]).find(Boolean);

const rows = JSON.parse(ROWS); // each: currency, address of the whitelist, amount
const checked = (await post('/api/v1/mass-payouts/validate', { rows }, accessToken)).answer.data;
if (!checked.canSubmit) throw new Error(`Not all rows can be paid: ${JSON.stringify(checked.rows)}`);
const body = { rows, idempotencyKey: PAYOUT_REFERENCE, totpCode: await nextCode() };
const queued = await post('/api/v1/mass-payouts', body, accessToken);
console.log(JSON.stringify(queued.answer.data));
