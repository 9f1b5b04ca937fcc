import type { DataSource } from 'typeorm';
import { signingActivities } from '../../activities/txmanager/signing';
import { createCodecs } from '../../chains/codecs';
import { sweeperOf } from '../../chains/evm/sweeper';
import { restoreSigned, type SignedRecord } from '../../db/recovery/lost';
import { parseConfig } from '../../domain/config';
import { startHarness, type Harness } from '../api/harness';
import { copiesOf } from '../setup/copies';
import { estimating, sweepsAt } from './nodes';
import { paymentsAt } from './run-payment';

/** A sweep that was signed in the time that a recovery has lost: its payment takes it over. */

let h: Harness;
let db: DataSource;
const seed = Buffer.alloc(64, 7);
const { ethereum } = createCodecs(parseConfig({ ETH_CHAIN_ID: '31337' }).chain);
const ownAddress = ethereum.derive(ethereum.extendedKey(Buffer.alloc(64, 9), 'deposit'), 0);
let deposits = 0;
const records: SignedRecord[] = [];
const record = {
  keep: async (more: readonly SignedRecord[]): Promise<void> => void records.push(...more),
  since: () => records,
};
const deps = () => ({ db, config: h.api.deps.config, codecs: createCodecs(h.api.deps.config.chain) });
const sweeps = () => sweepsAt(deps());
const signer = () => estimating(db, signingActivities({ ...deps(), seed, record }));
const advance = async (id: string): Promise<string> => (await paymentsAt(deps()).runPayment(id)).status;
const signed = (): Promise<Array<{ tx_id: string; kind: string; owner_kind: string; owner_id: string }>> =>
  db.query(
    `SELECT a.tx_id, i.kind, i.owner_kind, i.owner_id FROM attempt a JOIN intent i ON i.id = a.intent_id ORDER BY a.id`,
  );

beforeEach(async () => {
  const gasWallet = ethereum.derive(ethereum.extendedKey(seed, 'gas'), 0);
  h = await startHarness({ SWEEP_BATCH_SECONDS: '0', ETH_SWEEPER_CONTRACT: sweeperOf(gasWallet).address });
  db = h.db;
  for (const role of ['treasury', 'gas'] as const)
    await db.query(
      `INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, $2, 0) ON CONFLICT DO NOTHING`,
      [ethereum.derive(ethereum.extendedKey(seed, role), 0), role],
    );
});
afterEach(() => h?.stop());

async function confirmed(currency: string, custody: 'platform' | 'external' = 'platform'): Promise<string> {
  const { key, id: merchantId } = await h.shop();
  if (custody === 'external')
    await db.query(
      `UPDATE merchant_wallet SET settlement_address = $3, custody = 'external'
        WHERE merchant_id = $1 AND currency = $2`,
      [merchantId, currency, ownAddress],
    );
  const { body } = await h.call('POST', '/api/v1/payments', { key, body: { amount: 400, currency } });
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height, first_seen_at, confirmed_at)
     VALUES ('ethereum', $1, 0, $2, 'deposit', $3, $4, $5, $5,
       false, 'confirmed', '0xb', 90, clock_timestamp(), now())`,
    [String(++deposits).padStart(64, '0'), body.depositAddress, body.paymentId, currency, String(body.amount)],
  );
  expect(await advance(body.paymentId)).toBe('CONFIRMED');
  return body.paymentId as string;
}

it('is reassigned to its payment before anything else is planned', async () => {
  const id = await confirmed('ETH');
  const copies = copiesOf((db.options as { url: string }).url);
  await copies.backUp();
  expect(await sweeps().queueSweep(id)).toEqual({ queued: true });
  const next = await sweeps().nextIntent(id);
  expect(await signer().signOnce(next!.id)).toEqual({ state: 'stored' });
  const before = await signed();
  await copies.restore();
  expect(await signed()).toEqual([]);

  expect(await db.transaction((tx) => restoreSigned(tx, record))).toBe(1);
  expect(await signed()).toEqual([
    { tx_id: before[0]!.tx_id, kind: 'lost', owner_kind: 'lost', owner_id: `sweep/${id}` },
  ]);
  expect(await sweeps().queueSweep(id)).toEqual({ queued: true });
  expect(before).toMatchObject([{ kind: 'sweep', owner_kind: 'sweep', owner_id: id }]);
  expect(await signed()).toEqual(before);
});

it('A5: of tokens to the merchant’s own address has its net and its rest again', async () => {
  const id = await confirmed('USDT_ERC20', 'external');
  const copies = copiesOf((db.options as { url: string }).url);
  await copies.backUp();
  const queue = async (): Promise<unknown> => {
    expect(await sweeps().queueSweep(id)).toEqual({ queued: true });
    const [share] = await db.query(
      `SELECT i.id, i.owner_id, i.outputs, s.net_units::text AS net, s.brought_units::text AS brought
         FROM sweep_share s JOIN intent i ON i.id = s.intent_id WHERE s.payment_id = $1`,
      [id],
    );
    return share;
  };
  const share = (await queue()) as { id: string; owner_id: string; net: string; brought: string };
  await sweeps().nextBatchIntent(share.owner_id);
  expect(await signer().signOnce(share.id)).toEqual({ state: 'stored' });
  const before = await signed();
  const [{ outputs }] = await db.query('SELECT outputs FROM attempt WHERE intent_id = $1', [share.id]);
  const rest = String(BigInt(share.brought) - BigInt(share.net));
  expect(outputs).toMatchObject([{ address: ownAddress, units: share.net }, { units: rest }]);
  await copies.restore();

  expect(await db.transaction((tx) => restoreSigned(tx, { ...record, since: () => records.slice(-1) }))).toBe(1);
  const { id: _, ...again } = (await queue()) as typeof share;
  const { id: __, ...first } = share;
  expect(again).toEqual(first);
  expect(await signed()).toEqual(before);
  expect(await db.query('SELECT outputs FROM attempt')).toEqual([{ outputs }]);
});
