import type { DataSource } from 'typeorm';
import { payoutActivities } from '../../activities/payouts/payouts';
import { refundActivities } from '../../activities/refunds/refunds';
import { signingActivities } from '../../activities/txmanager/signing';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { queueBatch } from '../../commands/payouts/queue';
import { openRefund } from '../../commands/refunds/create';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { newId, newSlug } from '../../domain/ids';
import { unguarded } from '../unguarded';
import { nodes } from './nodes';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';

/** Each reason not to sign, for each kind of money that a merchant has sent: the same answer, whatever the kind. */

const ann = { id: newId(), email: 'ann@shop.example' };
const deps = { codecs, rateMaxAgeSeconds: 3600 };
let shop: RichShop;
let db: DataSource;
let merchantId: string;
let signer: ReturnType<typeof signingActivities>;
let count = 0;

beforeAll(async () => {
  shop = await richShop('1000');
  ({ db, merchantId } = shop);
  signer = signingActivities({ db, codecs, seed });
  // The signer does not rely on what the tables refuse.
  for (const { sql } of await db.query(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS sql FROM pg_constraint
      WHERE contype = 'c' AND conrelid::regclass::text IN ('withdrawal', 'refund', 'payout_batch', 'payout_leg')`,
  ))
    await db.query(sql);
});
afterAll(() => shop?.stop());

type Planned = Readonly<{ rowId: string; intentId: string }>;
type KindName = 'withdrawal' | 'refund' | 'payout line';

async function listed(): Promise<string> {
  const address = codecs.ethereum.derive(strangers, (count += 1));
  await addToWhitelist(db, merchantId, ann, { type: 'wallet', currency: 'ETH', address, destinationTag: null });
  return address;
}
const idOf = (next: unknown): string => {
  if (!next || !(typeof next === 'object' && 'id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  return String(next.id);
};

async function withdrawal(): Promise<Planned> {
  const ask = { currency: 'ETH', amount: '0.01', feeMode: 'add', address: await listed() } as const;
  const { row } = await db.transaction((tx) => openWithdrawal(tx, deps, merchantId, ask, ann, newId()));
  const next = await withdrawalActivities({ db, nodes }).nextWithdrawalIntent(row.id);
  return { rowId: row.id, intentId: idOf(next) };
}

async function refund(): Promise<Planned> {
  const [id, address] = [newId(), await listed()];
  await unguarded(db, (tx) =>
    tx.query(
      `INSERT INTO payment (id, merchant_id, slug, status, source, fiat_amount, fiat_currency, fee_bearer, fee_bps,
         tolerance_pct, underpaid_policy, currency, network, amount, exchange_rate, amount_paid, settlement_address,
         custody, expires_at, expires_in)
       VALUES ($1, $2, $3, 'SETTLED', 'api', 32, 'USD', 'merchant', 40, 1, 'hold', 'ETH', 'ethereum', 0.01, 3200, 0.01,
         $4, 'platform', now(), 60)`,
      [id, merchantId, newSlug(), shop.hot],
    ),
  );
  const ask = { type: 'partial', amount: '0.005', address } as const;
  const { row } = await db.transaction((tx) =>
    openRefund(tx, deps, { merchantId, paymentId: id, ask, by: { userId: newId() }, idempotencyKey: null }),
  );
  return { rowId: row.id, intentId: idOf(await refundActivities({ db, nodes }).nextRefundIntent(row.id)) };
}

async function payoutLine(): Promise<Planned> {
  const rows = [{ currency: 'ETH', amount: '0.01', address: await listed() }];
  const { row } = await db.transaction((tx) => queueBatch(tx, deps, merchantId, ann, { rows }));
  await payoutActivities({ db, nodes }).payoutStep(row.id);
  return { rowId: row.id, intentId: idOf((await db.query('SELECT id FROM intent WHERE owner_id = $1', [row.id]))[0]) };
}

const plans: Readonly<Record<KindName, () => Promise<Planned>>> = { withdrawal, refund, 'payout line': payoutLine };
const all = Object.keys(plans) as KindName[];
const tableOf: Readonly<Record<KindName, string>> = {
  withdrawal: 'withdrawal',
  refund: 'refund',
  'payout line': 'payout_batch',
};
const statusTable = { ...tableOf, 'payout line': 'payout_leg' };
/** What says that two people must approve it, and who did. */
const needsTwo = {
  withdrawal: 'needs_approval = true, approved_by = approver',
  refund: `needs_second_person = true, asked_by = repeat('0', 24), approved_by = approver`,
  'payout line': 'needs_second_person = true, approved_by_id = approver',
};
const askedBy = { withdrawal: 'requested_by', refund: `repeat('0', 24)`, 'payout line': 'created_by_id' };
const approvedBy = (kind: KindName, approver: string): string =>
  `UPDATE ${tableOf[kind]} SET ${needsTwo[kind].replace('approver', approver)} WHERE id = $1`;
const limitOf = { withdrawal: 'withdrawal', refund: 'refund', 'payout line': 'mass_payout' } as const;

/** What is wrong: of the intent `i`, of its row `r`, or of everything; and the answer. */
type Case = Readonly<{
  name: string;
  intent?: string;
  row?: (kind: KindName) => string;
  everything?: string;
  kinds?: readonly KindName[];
  answer: unknown;
}>;
const refused = (reason: string, code = 'INTENT_MISMATCH') => ({ code, message: expect.stringContaining(reason) });
const waits = (reason: string) => ({ state: 'waiting', reason: expect.stringContaining(reason) });
const firstOutput = (key: string, value: string): string =>
  `UPDATE intent SET outputs = jsonb_set(outputs, '{0,${key}}', '"${value}"') WHERE id = $1`;
const other = codecs.ethereum.derive(strangers, 9_000_000);

const cases: readonly Case[] = [
  { name: 'nothing', answer: { state: 'stored' } },
  {
    name: 'a suspended merchant',
    everything: `UPDATE merchant SET held_because = 'fraud', held_at = now()`,
    answer: waits('held: fraud'),
  },
  {
    name: 'a frozen asset',
    everything: `INSERT INTO egress_freeze (currency, reason) VALUES ('ETH', 'a test')`,
    answer: waits('frozen: a test'),
  },
  {
    name: 'another asset frozen',
    everything: `INSERT INTO egress_freeze (currency, reason) VALUES ('BTC', 'a test')`,
    answer: { state: 'stored' },
  },
  {
    name: 'a frozen wallet',
    everything: `UPDATE wallet_sequence SET frozen_reason = 'a test', frozen_at = now()`,
    answer: refused('a test', 'WALLET_FROZEN'),
  },
  {
    name: 'an old estimate of the fee',
    everything: `UPDATE network_fee SET taken_at = now() - interval '10 minutes'`,
    answer: refused('No fresh fee estimate', 'UPSTREAM_UNAVAILABLE'),
  },
  {
    name: 'a treasury that the seed does not derive',
    everything: `UPDATE address SET key_index = 77 WHERE role = 'treasury'`,
    answer: refused('the seed derives another'),
  },
  {
    name: 'a limit that is reached',
    everything: `INSERT INTO egress_limit (scope, daily_usd, set_by, active_at)
      VALUES ('platform', 1, 'a test', now())`,
    answer: waits('the daily limit of the platform'),
  },
  { name: 'another destination', intent: firstOutput('address', other), answer: refused('address or amount') },
  { name: 'another amount', intent: firstOutput('units', '1'), answer: refused('address or amount') },
  { name: 'a tag that its row has not', intent: firstOutput('tag', '7'), answer: refused('destination tag') },
  {
    name: 'one more output',
    intent: 'UPDATE intent SET outputs = outputs || outputs WHERE id = $1',
    answer: refused('another output'),
  },
  {
    name: 'another currency',
    intent: `UPDATE intent SET currency = 'USDT_ERC20' WHERE id = $1`,
    answer: refused('currency'),
  },
  {
    name: 'another owner',
    intent: `UPDATE intent SET owner_id = repeat('0', 24) WHERE id = $1`,
    answer: refused('nothing wants'),
  },
  {
    name: 'no estimate of its gas',
    intent: 'UPDATE intent SET gas_limit = NULL WHERE id = $1',
    answer: { state: 'dropped' },
  },
  {
    name: 'more gas than such a transfer takes',
    intent: 'UPDATE intent SET gas_limit = 100000000 WHERE id = $1',
    answer: refused('gas is above'),
  },
  {
    name: 'a dead plan',
    intent: `UPDATE intent SET status = 'dead' WHERE id = $1`,
    answer: { state: 'dropped' },
  },
  {
    name: 'no approval',
    row: (kind) => `UPDATE ${tableOf[kind]} SET approved_at = NULL WHERE id = $1`,
    answer: { code: 'INTENT_MISMATCH' },
  },
  {
    name: 'an approval by who asked for it',
    row: (kind) => approvedBy(kind, askedBy[kind]),
    answer: refused('second person'),
  },
  {
    name: 'an approval by nobody, where two must approve',
    row: (kind) => approvedBy(kind, 'NULL'),
    answer: refused('second person'),
  },
  {
    name: 'an approval by a second person',
    row: (kind) => approvedBy(kind, `repeat('1', 24)`),
    answer: { state: 'stored' },
  },
  {
    name: 'a row that is cancelled',
    row: (kind) =>
      `UPDATE ${statusTable[kind]} SET status = 'cancelled' WHERE ${kind === 'payout line' ? 'batch_id' : 'id'} = $1`,
    answer: refused('is cancelled'),
  },
  {
    name: 'a line of another merchant than its batch',
    kinds: ['payout line'],
    row: () => `UPDATE payout_leg SET merchant_id = repeat('1', 24) WHERE batch_id = $1`,
    answer: refused('another merchant'),
  },
  {
    name: 'a row of another amount',
    row: (kind) =>
      `UPDATE ${statusTable[kind]} SET net_amount = net_amount + 1
        WHERE ${kind === 'payout line' ? 'batch_id' : 'id'} = $1`,
    answer: refused('address or amount'),
  },
  {
    name: 'a row for another destination',
    row: (kind) =>
      `UPDATE ${statusTable[kind]} SET address = '${other}'
        WHERE ${kind === 'payout line' ? 'batch_id' : 'id'} = $1`,
    answer: refused('address or amount'),
  },
  {
    name: 'no limit counts it',
    row: (kind) => `DELETE FROM egress_admission WHERE kind = '${limitOf[kind]}' AND ref = $1`,
    answer: refused('Nobody has admitted'),
  },
  {
    name: 'a use of the limits that was released',
    row: (kind) => `UPDATE egress_admission SET released_at = now() WHERE kind = '${limitOf[kind]}' AND ref = $1`,
    answer: refused('Nobody has admitted'),
  },
  {
    name: 'an address that was taken off the whitelist',
    kinds: ['withdrawal', 'payout line'],
    everything: 'UPDATE whitelist_entry SET removed_at = now() WHERE removed_at IS NULL',
    answer: { state: 'dropped' },
  },
  {
    name: 'a whitelist entry that does not count yet',
    kinds: ['withdrawal', 'payout line'],
    everything: `UPDATE whitelist_entry SET active_at = now() + interval '1 hour' WHERE removed_at IS NULL`,
    answer: { state: 'dropped' },
  },
  {
    name: 'no whitelist, where a payer named the address',
    kinds: ['refund'],
    everything: 'UPDATE whitelist_entry SET removed_at = now() WHERE removed_at IS NULL',
    answer: { state: 'stored' },
  },
];
/** Puts everything back. */
const undo = [
  'UPDATE merchant SET held_because = NULL, held_at = NULL',
  'DELETE FROM egress_freeze',
  'DELETE FROM egress_limit',
  'UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL',
  'UPDATE network_fee SET taken_at = now()',
  `UPDATE address SET key_index = 0 WHERE role = 'treasury'`,
];

const answerTo = (intentId: string): Promise<unknown> =>
  signer.signOnce(intentId).catch((error: { code?: string; message: string }) => ({
    code: error.code,
    message: error.message,
  }));
const attemptsOf = (intentId: string): Promise<unknown[]> =>
  db.query('SELECT id FROM attempt WHERE intent_id = $1', [intentId]);

describe.each(cases)('$name', ({ intent, row, everything, kinds = all, answer }) => {
  it.each(kinds)('%s', async (kind) => {
    await db.query(`INSERT INTO wallet_sequence (network, address) VALUES ('ethereum', $1) ON CONFLICT DO NOTHING`, [
      shop.hot,
    ]);
    const planned = await plans[kind]();
    await db.query(`UPDATE intent SET gas_limit = 21000, gas_estimated_at = now() WHERE id = $1`, [planned.intentId]);
    if (intent) await db.query(intent, [planned.intentId]);
    if (row) await unguarded(db, (tx) => tx.query(row(kind), [planned.rowId]));
    if (everything) await unguarded(db, (tx) => tx.query(everything));
    try {
      const said = await answerTo(planned.intentId);
      expect(said).toMatchObject(answer as object);
      const isSigned = (said as { state?: string }).state === 'stored';
      expect(await attemptsOf(planned.intentId)).toHaveLength(isSigned ? 1 : 0);
    } finally {
      await unguarded(db, async (tx) => {
        for (const sql of undo) await tx.query(sql);
      });
    }
  });
});
