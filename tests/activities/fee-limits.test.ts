import type { DataSource } from 'typeorm';
import { sendPayouts } from '../../txmanager/send/payouts';
import { sendIntent } from '../../txmanager/send/send';
import { noLog } from '../shared/no-log';
import type { Sender } from '../../txmanager/send/sender';
import { payoutActivities } from '../../activities/payouts/payouts';
import { signingActivities } from '../../activities/txmanager/signing';
import { treasuryMaintenanceActivities } from '../../activities/treasury/maintenance';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { audit } from '../../db/audit/audit';
import { post } from '../../db/ledger/ledger';
import { queueBatch } from '../../commands/payouts/queue';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { adjustment } from '../../domain/ledger/entry';
import type { ChainAdapter } from '../../domain/chains/chain';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';
import { estimating, nodes } from './nodes';

/** What a transaction that no block takes may cost: only the first in line is bumped, up to its cap, and then operators
 *  are told. The node is played, and takes everything; blocks come and go, and have none of ours. */

const gwei = 10n ** 9n;
const by = { id: newId(), email: 'ann@shop.example' };
const keys = (network: 'bitcoin' | 'ethereum', role: 'treasury' | 'gas'): string =>
  codecs[network].derive(codecs[network].extendedKey(seed, role), 0);
const bitcoiners = codecs.bitcoin.extendedKey(Buffer.alloc(64, 9), 'deposit');

let shop: RichShop;
let db: DataSource;
let signer: ReturnType<typeof signingActivities>;
beforeEach(async () => {
  shop = await richShop('1000');
  ({ db } = shop);
  signer = estimating(db, signingActivities({ db, codecs, seed }));
  await db.query(
    `INSERT INTO address (network, address, role, key_index)
     VALUES ('ethereum', $1, 'gas', 0), ('bitcoin', $2, 'treasury', 0), ('bitcoin', $3, 'gas', 0)`,
    [keys('ethereum', 'gas'), keys('bitcoin', 'treasury'), keys('bitcoin', 'gas')],
  );
  await db.query(`INSERT INTO network_fee (network, unit_price, tip_price, taken_at) VALUES ('bitcoin', 5, 0, now())`);
  for (const [currency, price, address, amount] of [
    ['BTC', '64000', keys('bitcoin', 'treasury'), '10'],
    ['USDT_ERC20', '1', shop.hot, '50000'],
  ] as const) {
    await db.query(
      `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at) VALUES ($1, 'USD', $2, '[]', now())
         RETURNING *)
       INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at) SELECT currency, fiat, id, value, taken_at
         FROM r`,
      [currency, price],
    );
    await db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
                            first_seen_at, allocation)
       SELECT $1, $2, n, $3, 'treasury', $4, $5::numeric / 2, $5::numeric / 2, false, 'confirmed', now(), 'own'
         FROM generate_series(0, 1) n`,
      [currency === 'BTC' ? 'bitcoin' : 'ethereum', 'ab'.repeat(32), address, currency, amount],
    );
    const posting = {
      debit: 'A:treasury' as const,
      credit: `L:available:${shop.merchantId}` as const,
      asset: currency,
      amount,
    };
    await db.transaction((tx) => post(tx, { key: `test/${currency}`, entry: adjustment, postings: [posting] }));
  }
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
     VALUES ('bitcoin', 100, 'b', 100, 'infinity'), ('ethereum', 100, 'e', 100, 'infinity')`,
  );
  for (const network of ['bitcoin', 'ethereum'])
    await db.query(
      `INSERT INTO chain_block (network, height, hash, block_time)
       SELECT $1, n, 'h' || n, now() + make_interval(mins => n) FROM generate_series(1, 20) n`,
      [network],
    );
});
afterEach(async () => {
  const found = (await audit(db, { settleMs: 1 })).filter(({ invariant }) => ['I7', 'I8'].includes(invariant));
  await shop.stop();
  expect(found).toEqual([]);
});

const sender = (network: 'bitcoin' | 'ethereum'): Sender => ({
  db,
  log: noLog,
  adapter: {
    network,
    broadcast: () => Promise.resolve({ outcome: 'accepted' }),
    lookUp: () => Promise.resolve({ state: 'unknown' }),
    nextNonce: () => Promise.resolve(0),
  } as Partial<ChainAdapter> as ChainAdapter,
});
let count = 0;
async function listed(currency: string): Promise<string> {
  const address =
    currency === 'BTC'
      ? codecs.bitcoin.derive(bitcoiners, (count += 1))
      : codecs.ethereum.derive(strangers, (count += 1));
  await addToWhitelist(db, shop.merchantId, by, { type: 'wallet', currency, address, destinationTag: null });
  return address;
}
/** A withdrawal that is planned: its intents in their order. */
async function withdrawal(currency: string, amount: string): Promise<{ id: string; intents: string[] }> {
  const ask = { currency, amount, feeMode: 'add' as const, address: await listed(currency) };
  const { row } = await db.transaction((tx) =>
    openWithdrawal(tx, { codecs, rateMaxAgeSeconds: 3600 }, shop.merchantId, ask, by, newId()),
  );
  await withdrawalActivities({ db, nodes }).nextWithdrawalIntent(row.id);
  const rows: Array<{ id: string }> = await db.query('SELECT id FROM intent WHERE owner_id = $1 ORDER BY id', [row.id]);
  return { id: row.id, intents: rows.map((one) => one.id) };
}
async function ended(intentId: string): Promise<void> {
  await db.query(
    `UPDATE attempt SET status = CASE WHEN n = (SELECT max(n) FROM attempt WHERE intent_id = $1) THEN 'final'
       ELSE 'replaced' END,
            success = true, fee_units = 1000, height = 2, block_hash = 'h2', final_at = now() WHERE intent_id = $1`,
    [intentId],
  );
  await db.query(`UPDATE intent SET status = 'final', booked = true WHERE id = $1`, [intentId]);
}
/** An hour and ten blocks without it: as its workflow would, looks, and asks for another attempt where it is stuck. */
async function runIntent(network: 'bitcoin' | 'ethereum', intentId: string): Promise<string> {
  const { state } = await sendIntent(sender(network), intentId);
  await later();
  if (state === 'stuck') await signer.signBump(intentId, (await attempts(intentId)).length);
  return state;
}
const later = (): Promise<unknown> => db.query(`UPDATE attempt SET sent_at = sent_at - interval '6 hours'`);
type Attempt = { nonce: number | null; unit_price: string; max_fee_units: string; tx_id: string };
const attempts = (intentId: string): Promise<Attempt[]> =>
  db.query(
    `SELECT nonce, trim_scale(unit_price)::text AS unit_price, max_fee_units::text, tx_id FROM attempt
      WHERE intent_id = $1 ORDER BY n`,
    [intentId],
  );
const highest = async (intentId: string): Promise<bigint> => BigInt((await attempts(intentId)).at(-1)!.unit_price);
const caps = (): Promise<Array<{ subject_id: string; details: Record<string, unknown>; open: boolean }>> =>
  db.query(`SELECT subject_id, details, resolved_at IS NULL AS open FROM incident WHERE kind = 'fee-cap' ORDER BY id`);
const limits = async (intentId: string): Promise<{ cap: bigint; budget: bigint }> => {
  const [row] = await db.query(
    'SELECT trim_scale(max_unit_price)::text AS cap, fee_budget::text AS budget FROM intent WHERE id = $1',
    [intentId],
  );
  return { cap: BigInt(row.cap), budget: BigInt(row.budget) };
};
const rise = (network: string, unitPrice: bigint): Promise<unknown> =>
  db.query('UPDATE network_fee SET unit_price = $2 WHERE network = $1', [network, unitPrice.toString()]);

/** A token transfer at its cap, sent, and a withdrawal of 0.1 ETH behind it. */
async function blocked(): Promise<{ token: string; ether: string }> {
  const { intents } = await withdrawal('USDT_ERC20', '100');
  const [gas, token] = intents;
  await signer.signOnce(gas!);
  await ended(gas!);
  await rise('ethereum', 40n * gwei);
  expect(await signer.signOnce(token!)).toEqual({ state: 'stored' });
  const [ether] = (await withdrawal('ETH', '0.1')).intents;
  expect(await signer.signOnce(ether!)).toEqual({ state: 'stored' });
  for (const id of [token!, ether!]) await sendIntent(sender('ethereum'), id);
  await later();
  expect([(await attempts(token!))[0]!.nonce, (await attempts(ether!))[0]!.nonce]).toEqual([0, 1]);
  return { token: token!, ether: ether! };
}

it('A1: a withdrawal behind a capped transfer is bumped in its turn, up to its cap; operators are told', async () => {
  const { token, ether } = await blocked();
  const first = await highest(ether);
  for (let n = 0; n < 40; n += 1) {
    expect(await runIntent('ethereum', ether)).toBe('waiting');
    expect(await runIntent('ethereum', token)).toBe('stuck');
  }
  expect(await highest(ether)).toBe(first);
  expect(await attempts(ether)).toHaveLength(1);
  // The signer refuses by itself what a sender asks for.
  expect(await signer.signBump(ether, 1)).toEqual({
    state: 'waiting',
    reason: 'nonce 0 of its wallet is in no block yet',
  });
  const [capped] = await attempts(token);
  expect(await attempts(token)).toHaveLength(1);
  expect(await caps()).toEqual([
    {
      subject_id: token,
      open: true,
      details: expect.objectContaining({
        amount: '100',
        currency: 'USDT_ERC20',
        wallet: shop.hot,
        nonce: 0,
        txId: capped!.tx_id,
        nextStep: expect.stringContaining('docs/operations/stuck-transactions.md') as string,
      }) as Record<string, unknown>,
    },
  ]);

  await ended(token);
  for (let n = 0; n < 40; n += 1) await runIntent('ethereum', ether);
  const { cap, budget } = await limits(ether);
  expect(await highest(ether)).toBeGreaterThan(first);
  expect((await highest(ether)) * 9n).toBeGreaterThan(cap * 8n);
  expect(await highest(ether)).toBeLessThanOrEqual(cap);
  expect(budget).toBeLessThan(10n ** 16n);
  for (const one of await attempts(ether)) expect(BigInt(one.max_fee_units)).toBeLessThanOrEqual(budget);
  await treasuryMaintenanceActivities({ db, config: parseConfig({}) }).maintainTreasury();
  expect((await caps()).map((one) => [one.subject_id, one.open])).toEqual([
    [token, false],
    [ether, true],
  ]);
  // An operator raises the cap: it goes on, and the incident is over.
  await db.query('UPDATE intent SET max_unit_price = max_unit_price * 2, fee_budget = fee_budget * 2 WHERE id = $1', [
    ether,
  ]);
  await runIntent('ethereum', ether);
  expect(await highest(ether)).toBeGreaterThan(cap);
  await treasuryMaintenanceActivities({ db, config: parseConfig({}) }).maintainTreasury();
  expect((await caps()).map(({ open }) => open)).toEqual([false, false]);
});

it('A1: waits at its cap where prices are far above it before anything is signed, and fails nothing', async () => {
  const { intents } = await withdrawal('ETH', '0.1');
  await rise('ethereum', 100_000n * gwei);
  expect(await signer.signOnce(intents[0]!)).toEqual({ state: 'stored' });
  expect(await highest(intents[0]!)).toBe((await limits(intents[0]!)).cap);
  for (let n = 0; n < 5; n += 1) await runIntent('ethereum', intents[0]!);
  expect(await attempts(intents[0]!)).toHaveLength(1);
  expect(await caps()).toHaveLength(1);
  expect(await db.query('SELECT status FROM withdrawal')).toEqual([{ status: 'broadcast' }]);
});

it.each([
  ['a gas top-up', 'USDT_ERC20', '100', 'ethereum'],
  ['a Bitcoin transaction', 'BTC', '0.1', 'bitcoin'],
] as const)('A1: %s stops at its cap', async (_what, currency, amount, network) => {
  const [id] = (await withdrawal(currency, amount)).intents;
  expect(await signer.signOnce(id!)).toEqual({ state: 'stored' });
  const { cap, budget } = await limits(id!);
  for (let n = 0; n < 60; n += 1) await runIntent(network, id!);
  expect(await highest(id!)).toBeLessThanOrEqual(cap);
  expect((await highest(id!)) * 9n).toBeGreaterThan(cap * 8n);
  for (const one of await attempts(id!)) expect(BigInt(one.max_fee_units)).toBeLessThanOrEqual(budget);
  expect(await caps()).toMatchObject([{ subject_id: id, open: true }]);
});

it.each(['ETH', 'BTC'])('A1: nothing is signed above a budget: %s', async (currency) => {
  const network = currency === 'BTC' ? 'bitcoin' : 'ethereum';
  const [id] = (await withdrawal(currency, '0.1')).intents;
  await db.query('UPDATE intent SET fee_budget = 1 WHERE id = $1', [id]);
  expect(await signer.signOnce(id!)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('budget') });
  expect(await attempts(id!)).toEqual([]);
  expect(await db.query('SELECT next_nonce FROM wallet_sequence WHERE next_nonce > 0')).toEqual([]);
  expect(await caps()).toMatchObject([{ subject_id: id, details: { nonce: null, txId: null } }]);
  await db.query('UPDATE intent SET fee_budget = 1e18 WHERE id = $1', [id]);
  expect(await signer.signOnce(id!)).toEqual({ state: 'stored' });
  const [{ max_fee_units: paid }] = (await attempts(id!)) as [Attempt];
  await db.query('UPDATE intent SET fee_budget = $2 WHERE id = $1', [id, paid]);
  for (let n = 0; n < 3; n += 1) await runIntent(network, id!);
  expect(await attempts(id!)).toHaveLength(1);
});

it.each(['ETH', 'BTC'])('A1: a frozen wallet gets no better price: %s', async (currency) => {
  const network = currency === 'BTC' ? 'bitcoin' : 'ethereum';
  const [id] = (await withdrawal(currency, '0.1')).intents;
  const [next] = (await withdrawal(currency, '0.1')).intents;
  await signer.signOnce(id!);
  await db.query(
    `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at)
     SELECT network, from_address, 'drill', now() FROM intent WHERE id = $1
     ON CONFLICT (network, address) DO UPDATE SET frozen_reason = 'drill'`,
    [id],
  );
  expect(await signer.signBump(id!, 1)).toMatchObject({ state: 'waiting', reason: expect.stringContaining('drill') });
  expect(await attempts(id!)).toHaveLength(1);
  await expect(signer.signOnce(next!)).rejects.toMatchObject({ code: 'WALLET_FROZEN' });
  await db.query('UPDATE wallet_sequence SET frozen_reason = NULL WHERE network = $1', [network]);
  expect(await signer.signBump(id!, 1)).toEqual({ state: 'stored' });
});

it('A1: of mass payouts only the first nonce of a wallet is bumped, whatever batch it is of', async () => {
  const batch = async (amounts: readonly string[]): Promise<{ id: string; intents: string[] }> => {
    const rows: Array<{ currency: string; amount: string; address: string }> = [];
    for (const amount of amounts) rows.push({ currency: 'ETH', amount, address: await listed('ETH') });
    const { row } = await db.transaction((tx) =>
      queueBatch(tx, { codecs, rateMaxAgeSeconds: 3600 }, shop.merchantId, by, { rows }),
    );
    await payoutActivities({ db, nodes }).payoutStep(row.id);
    expect((await signer.signPayouts(row.id)).stored).toBe(amounts.length);
    await sendPayouts(sender('ethereum'), row.id);
    const found: Array<{ intent_id: string }> = await db.query(
      'SELECT intent_id FROM payout_leg WHERE batch_id = $1 ORDER BY row_index',
      [row.id],
    );
    return { id: row.id, intents: found.map((one) => one.intent_id) };
  };
  const first = await batch(['0.01', '0.02']);
  const second = await batch(['0.03', '0.04']);
  await later();
  expect(await sendPayouts(sender('ethereum'), second.id)).toMatchObject({ stuck: [] });
  const { stuck } = await sendPayouts(sender('ethereum'), first.id);
  expect(stuck).toEqual([{ id: first.intents[0], attempts: 1 }]);
  const all = [...first.intents, ...second.intents].map((id) => ({ id, attempts: 1 }));
  expect(await signer.bumpPayouts(all)).toBe(1);
  expect(await attempts(first.intents[0]!)).toHaveLength(2);
  for (const id of first.intents) await ended(id);
  const next = await sendPayouts(sender('ethereum'), second.id);
  expect(next.stuck).toEqual([{ id: second.intents[0], attempts: 1 }]);
  expect(await signer.bumpPayouts(all.slice(2))).toBe(1);
});

it('A1: waits for a batch too, whose delegations use the nonces of other wallets', async () => {
  const [batch] = (await withdrawal('USDT_ERC20', '100')).intents;
  await signer.signOnce(batch!);
  await db.query(
    `INSERT INTO attempt_account (attempt_id, network, address, nonce, units, deposit_ids)
     SELECT id, network, $2, 0, 0, '{}' FROM attempt WHERE intent_id = $1`,
    [batch, shop.hot],
  );
  await db.query(`INSERT INTO wallet_sequence (network, address, next_nonce) VALUES ('ethereum', $1, 1)`, [shop.hot]);
  const [ether] = (await withdrawal('ETH', '0.1')).intents;
  await signer.signOnce(ether!);
  await sendIntent(sender('ethereum'), ether!);
  await later();
  expect(await runIntent('ethereum', ether!)).toBe('waiting');
  expect(await signer.signBump(ether!, 1)).toMatchObject({ reason: 'nonce 0 of its wallet is in no block yet' });
  await ended(batch!);
  await later();
  expect(await runIntent('ethereum', ether!)).toBe('stuck');
  expect(await attempts(ether!)).toHaveLength(2);
});
