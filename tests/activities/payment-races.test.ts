import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { startHarness, type Harness, type Shop } from '../api/harness';
import { paymentsAt } from './run-payment';

/** Cancel, deposit, expiry and another choice of currency at one payment at once, again and again: whoever comes first,
 *  only legal rows are taken, and the money has one allocation. `RACE_ROUNDS`: how often, a hundred times by default.
 *  Invariants: 3. */

const rounds = parseInt(process.env.RACE_ROUNDS ?? '100', 10);
const abreast = 4;

let h: Harness;
let db: DataSource;
let shop: Shop;
beforeAll(async () => {
  h = await startHarness();
  db = h.db;
  shop = await h.shop();
});
afterAll(() => h?.stop());

/** From, to and cause of every move that four such triggers may make. */
const legal = new Set([
  ' WAITING created',
  'WAITING WAITING currency-selected-by-payer',
  'WAITING CANCELLED cancelled-by-payer',
  'WAITING EXPIRED expired',
  'WAITING CONFIRMING deposit-seen',
  'CONFIRMING CONFIRMED confirmed',
  'WAITING WAITING repeat-deposit',
  'CANCELLED CANCELLED repeat-deposit',
  'EXPIRED EXPIRED repeat-deposit',
  ' CONFIRMING repeat-deposit',
]);

/** As whoever calls it does: what is too busy now is asked again. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await act();
    } catch (error) {
      if (tries === 10) throw error;
    }
  }
}

const order = ['cancel', 'deposit', 'expiry', 'select'] as const;

async function round(n: number): Promise<string> {
  const { config } = h.api.deps;
  const act = paymentsAt({ db, config, codecs: createCodecs(config.chain) });
  const made = await patiently(async () => {
    const answer = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 40, currency: 'ETH' } });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer;
  });
  const { paymentId: id, depositAddress, amount } = made.body;
  const triggers: Record<(typeof order)[number], () => Promise<unknown>> = {
    cancel: () => act.cancelPayment(id, 'payer'),
    select: () => act.selectCurrency(id, 'BTC', 'payer'),
    async deposit() {
      await db.query(
        `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
           is_dust, status, block_hash, height,
           first_seen_at, confirmed_at) VALUES ('ethereum', $1, 0, $2, 'deposit', $3, 'ETH', $4, $4, false, 'confirmed',
             '0xb', 90, clock_timestamp(), now()) ON CONFLICT DO NOTHING`,
        [String(n).padStart(64, '0'), depositAddress, id, amount],
      );
      await act.runPayment(id);
    },
    async expiry() {
      await timeIsUp();
      await act.runPayment(id);
    },
  };
  const timeIsUp = async (): Promise<void> => {
    await db.query('UPDATE payment SET expires_at = clock_timestamp() WHERE id = $1', [id]);
    await db.query('UPDATE chain_cursor SET scanned_through = clock_timestamp()');
  };
  // Each of them is the first to be called in its turn.
  const turn = [...order.slice(n % 4), ...order.slice(0, n % 4)];
  // Its time is up before the others begin, or while they are at it.
  if (turn[0] === 'expiry') await timeIsUp();
  await Promise.all(turn.map((one) => patiently(triggers[one])));
  await db.query('UPDATE chain_cursor SET scanned_through = clock_timestamp()');
  const { status } = await act.runPayment(id);
  const [child] = await db.query('SELECT id FROM payment WHERE parent_payment_id = $1', [id]);
  if (child) expect((await act.runPayment(child.id)).status).toBe('CONFIRMED');

  expect(['CANCELLED', 'EXPIRED', 'CONFIRMED']).toContain(status);
  expect(child !== undefined).toBe(status !== 'CONFIRMED');
  const deposits = await db.query('SELECT allocation, child_payment_id AS child FROM deposit WHERE payment_id = $1', [
    id,
  ]);
  expect(deposits).toEqual([{ allocation: 'unsettled', child: child?.id ?? null }]);
  const events = await db.query(
    `SELECT payment_id, state_version, coalesce(from_status, '') AS "from", to_status AS "to", cause FROM payment_event
       WHERE payment_id = ANY($1) ORDER BY payment_id, id`,
    [[id, child?.id ?? id]],
  );
  for (const [at, event] of events.entries()) {
    expect([...legal]).toContain(`${event.from} ${event.to} ${event.cause}`);
    const before = events[at - 1];
    if (before?.payment_id !== event.payment_id) continue;
    expect(event.from).toBe(before.to);
    expect(event.state_version).toBe(before.state_version + 1);
  }
  return status;
}

it(`takes only legal rows in ${rounds} rounds`, async () => {
  const ends: string[] = [];
  for (let n = 0; n < rounds; n += abreast)
    ends.push(...(await Promise.all(Array.from({ length: Math.min(abreast, rounds - n) }, (_, k) => round(n + k)))));
  expect(ends).toHaveLength(rounds);
  // More than one of them has won, or nothing was raced.
  expect(new Set(ends).size).toBeGreaterThan(1);
  const [{ journals }] = await db.query(`SELECT count(*)::int AS journals FROM journal WHERE key LIKE 'deposit/%'`);
  expect(journals).toBe(rounds);
  const wrong = (await audit(db, { settleMs: 1 })).filter(({ invariant }) => invariant !== 'I13');
  expect(wrong).toEqual([]);
});
