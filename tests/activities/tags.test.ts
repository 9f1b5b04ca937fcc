/** @jest-environment node */
import { randomBytes } from 'node:crypto';
import { getAddress } from 'viem';
import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { sweepActivities } from '../../activities/payments/payments';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { createCodecs } from '../../chains/codecs';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { openWithdrawal } from '../../commands/withdrawals/create';
import type * as Audits from '../../db/audit/audit';
import { applyBlock } from '../../db/chains/blocks';
import { readCursor } from '../../db/chains/cursor';
import { confirmDeposit, maturingDeposits } from '../../db/chains/arrivals';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist, removeFromWhitelist } from '../../db/wallets/whitelist';
import type { ChainCodec } from '../../domain/chains/chain';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { startHarness, type Harness } from '../api/harness';
import { settledPayment } from '../api/refundable';
import { anApprover } from '../approver';
import { register, tagChain, withTags } from '../chain/registering';
import { unguarded } from '../unguarded';
import { bookEnd } from '../book-end';
import type { GasNode } from '../../txmanager/gas-node';
import { paymentsAt } from './run-payment';

/** What is signed with destination tags: what the rows name, and nothing else. */

const network = tagChain.network.id;
const seed = Buffer.alloc(64, 7);
const ann = anApprover('ann@shop.example');
const nodes: readonly GasNode[] = [{ network, estimateGas: () => Promise.resolve({ state: 'done', gas: 21_000n }) }];

let unregister: () => void;
let h: Harness;
let shop: Awaited<ReturnType<Harness['shop']>>;
let other: Awaited<ReturnType<Harness['shop']>>;
let codecs: Record<string, ChainCodec>;
let signer: ReturnType<typeof signingActivities>;
let audit: typeof Audits.audit;

beforeAll(async () => {
  unregister = register(tagChain.assets, tagChain.network);
  // Its checks have the registry in them, as it is when they are loaded.
  ({ audit } = jest.requireActual<typeof Audits>('../../db/audit/audit'));
  h = await startHarness({ NETWORKS: `bitcoin,ethereum,${network}` });
  const made = createCodecs(h.api.deps.config.chain);
  codecs = { ...made, [network]: withTags(made[network]) };
  signer = signingActivities({ db: h.db, codecs: codecs as never, seed });
  [shop, other] = [await h.shop({}, ['TAG']), await h.shop({}, ['TAG'])];
  const own = (role: 'treasury' | 'gas'): string =>
    codecs[network]!.derive(codecs[network]!.extendedKey(seed, role), 0);
  await h.db.query(`INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'gas', 0)`, [
    network,
    own('gas'),
  ]);
  await h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
                          first_seen_at, allocation)
     VALUES ($1, '0x01', -1, $2, 'treasury', 'TAG', 1000, 1000, false, 'confirmed', now(), 'own')`,
    [network, own('treasury')],
  );
  await h.db.transaction((tx) =>
    post(tx, {
      key: 'test/tags',
      entry: adjustment,
      postings: [{ debit: 'A:treasury', credit: `L:available:${shop.id}`, asset: 'TAG', amount: '1000' }],
    }),
  );
});
afterAll(async () => {
  await h?.stop();
  unregister?.();
});
afterEach(async () => expect((await audit(h.db, { settleMs: 1 })).filter(isOfMoney)).toEqual([]));
const isOfMoney = ({ invariant }: { invariant: string }): boolean =>
  ['I1', 'I2', 'I3', 'I7', 'I8', 'I9', 'I11', 'I15'].includes(invariant);

const stranger = (): string => getAddress(`0x${randomBytes(20).toString('hex')}`);
const list = (address: string, destinationTag: string) =>
  addToWhitelist(h.db.manager, shop.id, ann, { type: 'wallet', currency: 'TAG', address, destinationTag });
const deps = () => ({ codecs: codecs as never, rateMaxAgeSeconds: 3600 });
type Attempt = { outputs: Array<{ address: string; tag?: string; units: string }>; raw: string };
const attemptsOf = (owner: string): Promise<Attempt[]> =>
  h.db.query(
    `SELECT a.outputs, a.raw FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.owner_id = $1 ORDER BY a.id`,
    [owner],
  );
const receivers = (attempts: readonly Attempt[]): unknown[] =>
  attempts.map(({ outputs: [output], raw }) => [output!.address, output!.tag, raw.split(':')[1]]);

async function withdrawal(to: string, tag: string): Promise<{ id: string; intentId: string }> {
  const ask = { currency: 'TAG', amount: '1', feeMode: 'add' as const, address: to, destinationTag: tag };
  const { row } = await h.db.transaction((tx) => openWithdrawal(tx, deps(), shop.id, ask, ann, newId()));
  const next = await withdrawalActivities({ db: h.db, nodes }).nextWithdrawalIntent(row.id);
  if (!next || !('id' in next)) throw new Error(JSON.stringify(next));
  return { id: row.id, intentId: next.id };
}
/** As the chain would leave it. */
async function mined(intentId: string): Promise<void> {
  await h.db.query(
    `UPDATE attempt SET status = 'final', success = true, fee_units = 21000000000000, final_at = now(), height = 1,
            block_hash = 'b1' WHERE intent_id = $1`,
    [intentId],
  );
  await h.db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [intentId]);
}
async function ended(intentId: string): Promise<void> {
  await mined(intentId);
  await bookEnd(h.db, intentId);
}

it('signs a withdrawal with its tag, and the books find it there', async () => {
  const to = stranger();
  await list(to, '7');
  const { id, intentId } = await withdrawal(to, '7');
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  expect(receivers(await attemptsOf(id))).toEqual([[to, '7', '7']]);
  await ended(intentId);
  expect(await h.db.query('SELECT status FROM withdrawal WHERE id = $1', [id])).toEqual([{ status: 'completed' }]);
});

it('finds what was sent to another tag than its row says', async () => {
  const to = stranger();
  await list(to, '7');
  const { id, intentId } = await withdrawal(to, '7');
  expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
  await ended(intentId);
  const wrong = async (): Promise<unknown[]> =>
    (await audit(h.db, { settleMs: 1 })).filter(({ invariant }) => invariant === 'I7');
  expect(await wrong()).toEqual([]);
  const set = (tag: string): Promise<unknown> =>
    h.db.query(`UPDATE attempt SET outputs = jsonb_set(outputs, '{0,tag}', to_jsonb($2::text)) WHERE intent_id = $1`, [
      intentId,
      tag,
    ]);
  await set('8');
  expect(await wrong()).toEqual([expect.objectContaining({ invariant: 'I7' })]);
  await set('7');
  expect(id).toMatch(/^[0-9a-f]{24}$/);
});

it('signs for no tag but that of the row, and for none that was taken off the whitelist', async () => {
  const to = stranger();
  const entry = await list(to, '7');
  const stolen = await withdrawal(to, '7');
  // What a thief of a process writes.
  for (const outputs of [
    [{ address: to, tag: '8', units: '1000000000000000000' }],
    [{ address: to, units: '1000000000000000000' }],
  ]) {
    const sql = 'UPDATE intent SET outputs = $2 WHERE id = $1 RETURNING outputs';
    const [before] = await h.db.query('SELECT outputs FROM intent WHERE id = $1', [stolen.intentId]);
    await h.db.query(sql, [stolen.intentId, JSON.stringify(outputs)]);
    await expect(signer.signOnce(stolen.intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
    await h.db.query(sql, [stolen.intentId, JSON.stringify(before.outputs)]);
  }
  await unguarded(h.db, (tx) => tx.query(`UPDATE withdrawal SET destination_tag = '8' WHERE id = $1`, [stolen.id]));
  await expect(signer.signOnce(stolen.intentId)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  await unguarded(h.db, (tx) => tx.query(`UPDATE withdrawal SET destination_tag = '7' WHERE id = $1`, [stolen.id]));
  await list(to, '9');
  await removeFromWhitelist(h.db.manager, shop.id, entry.id, ann.id);
  expect(await signer.signOnce(stolen.intentId)).toMatchObject({ state: 'dropped' });
  expect(await attemptsOf(stolen.id)).toEqual([]);
});

it('counts another tag behind a known address as a new destination', async () => {
  const to = stranger();
  for (const tag of ['1', '2']) {
    await list(to, tag);
    expect(await signer.signOnce((await withdrawal(to, tag)).intentId)).toEqual({ state: 'stored' });
  }
  const known = await h.db.query(`SELECT address FROM signer.destination WHERE address LIKE $1 ORDER BY 1`, [`${to}%`]);
  expect(known).toEqual([{ address: `${to}:1` }, { address: `${to}:2` }]);
});

it('signs the lines of a mass payout together, each with its tag', async () => {
  const to = stranger();
  const tags = ['21', '22', '23'];
  for (const tag of tags) await list(to, tag);
  const rows = tags.map((destinationTag) => ({ currency: 'TAG', address: to, amount: '1', destinationTag }));
  const { row } = await h.db.transaction((tx) => queueBatch(tx, deps(), shop.id, ann, { rows }));
  await payoutActivities({ db: h.db, nodes }).payoutStep(row.id);
  expect(await signer.signPayouts(row.id)).toEqual({ stored: 3 });
  expect(receivers(await attemptsOf(row.id))).toEqual(tags.map((tag) => [to, tag, tag]));
  for (const { id } of await h.db.query('SELECT id FROM intent WHERE owner_id = $1', [row.id])) await mined(id);
  await payoutActivities({ db: h.db, nodes }).payoutStep(row.id);
  const lines = await h.db.query('SELECT status FROM payout_leg WHERE batch_id = $1', [row.id]);
  expect(lines).toEqual(tags.map(() => ({ status: 'completed' })));
});

it('signs a refund out of the balance with the tag of its payer', async () => {
  const { id } = await settledPayment(h, shop, { currency: 'TAG' });
  const to = stranger();
  const ask = { type: 'partial', amount: '0.1', address: to, destinationTag: '31' } as const;
  const { row } = await h.db.transaction((tx) =>
    openRefund(tx, deps(), { merchantId: shop.id, paymentId: id, ask, by: { userId: newId() }, idempotencyKey: null }),
  );
  const next = await refundActivities({ db: h.db, nodes }).nextRefundIntent(row.id);
  expect(await signer.signOnce((next as { id: string }).id)).toEqual({ state: 'stored' });
  expect(receivers(await attemptsOf(row.id))).toEqual([[to, '31', '31']]);
});

describe('an address that many share', () => {
  type Made = { paymentId: string; depositAddress: string; destinationTag: string };
  let sent = 0;
  /** A payment that has its money, confirmed. */
  async function paid(of: typeof shop, units = 10n ** 18n): Promise<Made> {
    const { body } = await h.call('POST', '/api/v1/payments', { key: of.key, body: { amount: 40, currency: 'TAG' } });
    const made = body as Made;
    const from = (await readCursor(h.db.manager, network))!;
    const transfer = {
      ...{ txId: `0xs${(sent += 1)}`, index: -1, to: made.depositAddress, tag: made.destinationTag },
      ...{ currency: 'TAG', units, inputs: [] },
    };
    const next = { height: from.height + 1, hash: `s${sent}`, parentHash: from.hash, time: Date.now() / 1000 };
    await h.db.transaction(async (tx) => {
      await applyBlock(tx, network, from, { ...next, transfers: [transfer], txIds: [], spent: new Map() }, 100);
      for (const deposit of await maturingDeposits(tx, network, next.height))
        await confirmDeposit(tx, deposit, deposit.amount);
    });
    return made;
  }
  const runner = () => paymentsAt({ db: h.db, config: h.api.deps.config, codecs: codecs as never });

  it('settles payment by payment, each with its own money alone, and sweeps nothing', async () => {
    const [one, two] = [await paid(shop), await paid(other, 2n * 10n ** 18n)];
    expect(one.depositAddress).toBe(two.depositAddress);
    const sweeps = sweepActivities({ db: h.db, config: h.api.deps.config, nodes });
    for (const { paymentId } of [one, two]) {
      expect((await runner().runPayment(paymentId)).status).toBe('CONFIRMED');
      expect(await sweeps.queueSweep(paymentId)).toEqual({ queued: true });
      // Again, as after an answer that was lost.
      expect(await sweeps.queueSweep(paymentId)).toMatchObject({ queued: false, reason: 'SETTLED' });
      expect((await runner().runPayment(paymentId)).status).toBe('SETTLED');
    }
    expect(await h.db.query(`SELECT FROM intent WHERE kind = 'sweep'`)).toEqual([]);
    const settled = await h.db.query(
      `SELECT trim_scale(settled_net_amount)::text AS net, trim_scale(settled_fee_amount)::text AS fee
         FROM payment WHERE id = ANY($1) ORDER BY amount_paid`,
      [[one.paymentId, two.paymentId]],
    );
    expect(settled).toEqual([
      { net: '0.996', fee: '0.004' },
      { net: '1.992', fee: '0.008' },
    ]);
  });

  it('returns what is held of one merchant, and nothing of another', async () => {
    const [mine, theirs] = [await paid(shop), await paid(other)];
    const hold = async ({ paymentId }: Made, of: typeof shop): Promise<void> => {
      expect((await runner().runPayment(paymentId)).status).toBe('CONFIRMED');
      await unguarded(h.db, (tx) =>
        tx.query(`UPDATE payment SET status = 'FAILED', state_version = state_version + 1 WHERE id = $1`, [paymentId]),
      );
      await h.db.query('UPDATE merchant_counter SET open_payments = open_payments - 1 WHERE merchant_id = $1', [of.id]);
      await h.db.query(`UPDATE deposit SET allocation = 'unallocated' WHERE payment_id = $1`, [paymentId]);
      const asset = 'TAG';
      await h.db.transaction((tx) =>
        post(tx, {
          key: `test/held/${paymentId}`,
          entry: adjustment,
          postings: [{ debit: `L:unsettled:${of.id}`, credit: `L:unallocated:${of.id}`, asset, amount: '1' }],
        }),
      );
    };
    await hold(mine, shop);
    await hold(theirs, other);
    const to = stranger();
    const ask = { type: 'full', address: to, destinationTag: '41' } as const;
    const { row } = await h.db.transaction((tx) =>
      openRefund(tx, deps(), {
        merchantId: shop.id,
        paymentId: mine.paymentId,
        ask,
        by: { userId: newId() },
        idempotencyKey: null,
      }),
    );
    const next = await refundActivities({ db: h.db, nodes }).nextRefundIntent(row.id);
    const { id: intentId } = next as { id: string };
    const [foreign] = await h.db.query('SELECT id::text FROM deposit WHERE payment_id = $1', [theirs.paymentId]);
    const [own] = await h.db.query('SELECT id::text FROM deposit WHERE payment_id = $1', [mine.paymentId]);
    const repoint = async (depositId: string): Promise<void> => {
      await h.db.query('UPDATE intent SET deposit_ids = ARRAY[$2::bigint] WHERE id = $1', [intentId, depositId]);
      await unguarded(h.db, (tx) =>
        tx.query('UPDATE refund SET deposit_ids = ARRAY[$2::bigint] WHERE id = $1', [row.id, depositId]),
      );
    };
    await h.db.query(`UPDATE deposit SET allocation = 'refunded' WHERE id = $1`, [foreign.id]);
    await repoint(foreign.id);
    await expect(signer.signOnce(intentId)).rejects.toThrow('does not hold this money');
    await h.db.query(`UPDATE deposit SET allocation = 'unallocated' WHERE id = $1`, [foreign.id]);
    await repoint(own.id);
    expect(await signer.signOnce(intentId)).toEqual({ state: 'stored' });
    expect(receivers(await attemptsOf(row.id))).toEqual([[to, '41', '41']]);
  });
});
