import { newId } from '../../domain/ids';
import { startHarness, type Harness, type Shop } from './harness';

let harness: Harness;
let shop: Shop;
let paymentId: string;
beforeAll(async () => {
  harness = await startHarness();
  shop = await harness.shop();
  paymentId = await create();
});
afterAll(() => harness?.stop());

async function create(): Promise<string> {
  const made = await harness.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'BTC' } });
  return made.body.paymentId as string;
}
const screen = (id: string, key = shop.key) => harness.call('POST', `/api/v1/payments/${id}/aml-screen`, { key });

it.each(['unknown', 'foreign', 'malformed'])('knows no %s payment', async (kind) => {
  const stranger = await harness.shop();
  const id = kind === 'foreign' ? paymentId : kind === 'unknown' ? newId() : 'xyz';
  const answer = await screen(id, stranger.key);
  expect([answer.status, answer.body]).toEqual(
    kind === 'malformed'
      ? [400, { ok: false, error: { code: 'INVALID_ID', message: 'Invalid ID format' } }]
      : [404, { ok: false, error: { code: 'PAYMENT_NOT_FOUND', message: 'Payment not found' } }],
  );
});

it('answers the stored result where no workflow does, and 503 where nothing is stored', async () => {
  const began = Date.now();
  expect(await screen(paymentId)).toMatchObject({ status: 503, body: { error: { code: 'OUTCOME_UNKNOWN' } } });
  expect(Date.now() - began).toBeLessThan(20_000);
  await harness.db.query(
    `INSERT INTO aml_screen (payment_id, cause, status, risk_score, risk_band, severity, categories, reason)
     VALUES ($1, 'credit', 'unavailable', NULL, NULL, NULL, NULL, 'away'),
       ($1, 'credit', 'flagged', 80, 'severe', 'severe', '{scam}', NULL)`,
    [paymentId],
  );
  const { status, body } = await screen(paymentId);
  expect([status, body]).toEqual([
    200,
    {
      ok: true,
      data: {
        status: 'flagged',
        riskScore: 80,
        riskBand: 'severe',
        severity: 'severe',
        categories: ['scam'],
        checkedAt: expect.any(String),
      },
    },
  ]);
  const aml = { status: 'flagged', riskScore: 80, checkedAt: body.data.checkedAt };
  expect((await harness.call('GET', `/api/v1/payments/${paymentId}`, { key: shop.key })).body.aml).toEqual(aml);
  expect((await harness.call('GET', '/api/v1/payments', { key: shop.key })).body.items[0].aml).toEqual(aml);
  expect((await harness.call('GET', `/api/v1/payments/${await create()}`, { key: shop.key })).body.aml).toBeUndefined();
});

it('may be asked ten times a minute', async () => {
  const busy = await harness.shop();
  const statuses = [];
  for (let n = 0; n < 11; n += 1) statuses.push((await screen(newId(), busy.key)).status);
  expect(statuses).toEqual([...Array<number>(10).fill(404), 429]);
});
