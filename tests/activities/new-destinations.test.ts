import type { DataSource } from 'typeorm';
import { withdrawalActivities } from '../../activities/withdrawals/withdrawals';
import { treasuryMaintenanceActivities } from '../../activities/treasury/maintenance';
import { payoutActivities } from '../../activities/payouts/payouts';
import { signingActivities } from '../../activities/txmanager/signing';
import { queueBatch } from '../../commands/payouts/queue';
import { openWithdrawal } from '../../commands/withdrawals/create';
import { countNewDestinations } from '../../db/txmanager/new-destinations';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { anApprover } from '../approver';
import { connectionsTo, urlFor } from '../setup/postgres';
import { estimating, nodes } from './nodes';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';

/** The signer keeps a cap of its own on what leaves in a day to addresses that it does not know yet. */

const ann = anApprover('ann@shop.example');
const deps = { codecs, rateMaxAgeSeconds: 3600 };
const cap = '1';

let shop: RichShop;
let db: DataSource;
let merchantId: string;
let signer: ReturnType<typeof signingActivities>;
let withdrawals: ReturnType<typeof withdrawalActivities>;
beforeEach(async () => {
  shop = await richShop('1000');
  ({ db, merchantId } = shop);
  signer = signerWith(cap);
  withdrawals = withdrawalActivities({ db, nodes });
});
afterEach(() => shop?.stop());

const signerWith = (ether: string, coolingOffHours = 24): ReturnType<typeof signingActivities> =>
  estimating(
    db,
    signingActivities({ db, codecs, seed, newDestinations: { coolingOffHours, dailyCaps: { ETH: ether } } }),
  );

let count = 5_000_000;
const nextAddress = (): string => codecs.ethereum.derive(strangers, (count += 1));
const list = (address: string): Promise<unknown> =>
  addToWhitelist(db, merchantId, ann, { type: 'wallet', currency: 'ETH', address, destinationTag: null });

/** An intent of a withdrawal, planned. */
async function planned(amount: string, address = nextAddress()): Promise<string> {
  await list(address).catch(() => null);
  const { row } = await db.transaction((tx) =>
    openWithdrawal(tx, deps, merchantId, { currency: 'ETH', amount, feeMode: 'add', address }, ann, newId()),
  );
  const next = await withdrawals.nextWithdrawalIntent(row.id);
  if (!next || !('id' in next)) throw new Error(`Nothing planned: ${JSON.stringify(next)}`);
  return next.id;
}
const incidents = (): Promise<Array<{ subject_id: string; details: Record<string, unknown>; open: boolean }>> =>
  db.query(
    `SELECT subject_id, details, resolved_at IS NULL AS open FROM incident WHERE kind = 'new-destinations' ORDER BY id`,
  );
/** As if so many hours had gone by for what the signer has noted. */
const age = (hours: number): Promise<unknown> =>
  db.transaction(async (tx) => {
    await tx.query(`SET LOCAL session_replication_role = replica`);
    await tx.query('UPDATE signer.destination SET first_seen_at = first_seen_at - make_interval(hours => $1)', [hours]);
    await tx.query('UPDATE signer.new_payment SET signed_at = signed_at - make_interval(hours => $1)', [hours]);
  });
const waiting = { state: 'waiting', reason: `it is above the cap of ${cap} ETH a day for new destinations` };
const nextNonce = async (): Promise<number> =>
  (await db.query('SELECT next_nonce FROM wallet_sequence WHERE address = $1', [shop.hot]))[0].next_nonce;

describe('A10: the cap for new destinations', () => {
  it('lets so much go in a day; what is above waits, pages, and stays held', async () => {
    expect(await signer.signOnce(await planned('0.6'))).toEqual({ state: 'stored' });
    const second = await planned('0.6');
    expect(await signer.signOnce(second)).toEqual(waiting);
    expect(await signer.signOnce(second)).toEqual(waiting);
    expect(await signer.signOnce(await planned('0.4'))).toEqual({ state: 'stored' });
    expect(await nextNonce()).toBe(2);
    expect(await db.query('SELECT FROM attempt WHERE intent_id = $1', [second])).toEqual([]);
    expect(await db.query('SELECT status FROM intent WHERE id = $1', [second])).toEqual([{ status: 'planned' }]);
    const [held] = await db.query('SELECT amount > 1.6 AS is_held FROM balance WHERE account = $1', [
      `L:reserved:${merchantId}`,
    ]);
    expect(held).toEqual({ is_held: true });
    expect(await incidents()).toMatchObject([
      { subject_id: 'ETH', open: true, details: { intentId: second, cap, usedInDay: '0.6' } },
    ]);
  });

  it('signs what waited when its destination is known, or when the day has room; and the incident ends', async () => {
    const first = await planned('3');
    expect(await signer.signOnce(first)).toEqual(waiting);
    await age(23);
    expect(await signer.signOnce(first)).toEqual(waiting);
    await age(1);
    expect(await signer.signOnce(first)).toEqual({ state: 'stored' });
    await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ('ethereum', $1, 'gas', 0)`, [
      codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'gas'), 0),
    ]);
    await treasuryMaintenanceActivities({ db, config: parseConfig({}) }).maintainTreasury();
    expect(await incidents()).toMatchObject([{ open: false }]);
    expect(await signer.signOnce(await planned('0.9'))).toEqual({ state: 'stored' });
    const third = await planned('0.9');
    expect(await signer.signOnce(third)).toEqual(waiting);
    expect(await incidents()).toMatchObject([{ open: true, details: { intentId: third } }]);
  });

  it('counts nothing that goes to a destination that it has known for longer', async () => {
    const address = nextAddress();
    expect(await signer.signOnce(await planned('0.1', address))).toEqual({ state: 'stored' });
    await age(24);
    expect(await signer.signOnce(await planned('50', address))).toEqual({ state: 'stored' });
    expect(await signer.signOnce(await planned('1'))).toEqual({ state: 'stored' });
  });

  it('counts another attempt of the same payment once', async () => {
    const first = await planned('0.7');
    expect(await signer.signOnce(first)).toEqual({ state: 'stored' });
    await db.query(`UPDATE network_fee SET unit_price = 4000000000, taken_at = now()`);
    expect(await signer.signBump(first, 1)).toEqual({ state: 'stored' });
    expect(await signer.signOnce(await planned('0.3'))).toEqual({ state: 'stored' });
    expect(await db.query('SELECT units::text FROM signer.new_payment ORDER BY id')).toEqual([
      { units: '700000000000000000' },
      { units: '300000000000000000' },
    ]);
  });

  it('is kept by many signatures at once', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await planned('0.3'));
    const all = await Promise.all(ids.map((id) => signer.signOnce(id)));
    expect(all.filter(({ state }) => state === 'stored')).toHaveLength(3);
  });

  it('is kept by the lines of a mass payout, each by itself', async () => {
    const addresses = [nextAddress(), nextAddress(), nextAddress(), nextAddress()];
    for (const address of addresses) await list(address);
    const { row } = await db.transaction((tx) =>
      queueBatch(tx, deps, merchantId, ann, {
        rows: addresses.map((address, n) => ({ currency: 'ETH', address, amount: n === 1 ? '0.9' : '0.4' })),
        idempotencyKey: newId(),
      }),
    );
    await payoutActivities({ db, nodes }).payoutStep(row.id);
    expect(await signer.signPayouts(row.id)).toEqual({ stored: 2, reason: waiting.reason });
    const signed = await db.query('SELECT outputs FROM attempt ORDER BY nonce');
    expect(signed.map(({ outputs }: { outputs: Array<{ address: string }> }) => outputs[0]!.address)).toEqual([
      addresses[0],
      addresses[2],
    ]);
    expect(await nextNonce()).toBe(2);
  });

  it('leaves no gap among the nonces of a long payout where a line of its middle is above it', async () => {
    const addresses = Array.from({ length: 40 }, nextAddress);
    for (const address of addresses) await list(address);
    const { row } = await db.transaction((tx) =>
      queueBatch(tx, deps, merchantId, ann, {
        rows: addresses.map((address, n) => ({ currency: 'ETH', address, amount: n === 20 ? '0.9' : '0.02' })),
        idempotencyKey: newId(),
      }),
    );
    await payoutActivities({ db, nodes }).payoutStep(row.id);
    expect(await signer.signPayouts(row.id)).toEqual({ stored: 39, reason: waiting.reason });
    const signed: Array<{ nonce: number; outputs: Array<{ address: string }> }> = await db.query(
      'SELECT nonce, outputs FROM attempt ORDER BY id',
    );
    expect(signed.map(({ nonce }) => nonce)).toEqual(Array.from({ length: 39 }, (_, n) => n));
    expect(signed.map(({ outputs }) => outputs[0]!.address)).toEqual(addresses.toSpliced(20, 1));
    expect(await nextNonce()).toBe(39);
  });

  it('counts outputs of one payment together, in the order of the payments, and what is known not at all', async () => {
    const admit = (...outputs: ReadonlyArray<readonly [intent: string, address: string, units: string]>) =>
      countNewDestinations(
        db.manager,
        {
          ...{ network: 'bitcoin', currency: 'BTC' },
          orders: outputs.map(([intent, address, units]) => ({ intent, address, units })),
        },
        { capUnits: 100n, coolingOffHours: 24 },
      );
    expect(await admit(['1', 'known', '90'])).toEqual([]);
    await age(24);
    const above = await admit(
      ['3', 'a', '40'],
      ['2', 'b', '30'],
      ['2', 'known', '1000'],
      ['3', 'a', '10'],
      ['2', 'c', '21'],
      ['4', 'c', '50'],
      ['5', 'known', '1000'],
    );
    expect(above).toMatchObject([{ intentId: '2', used: '50' }]);
    expect(above[0]!.dueAt.getTime()).toBeGreaterThan(Date.now());
    // Another attempt pays more: what is added counts, and is above the cap by now.
    expect(await admit(['3', 'a', '51'], ['4', 'c', '50'])).toMatchObject([{ intentId: '3', used: '100' }]);
    expect(await db.query('SELECT intent_id, address, units::text FROM signer.new_payment ORDER BY id')).toEqual([
      { intent_id: '1', address: 'known', units: '90' },
      { intent_id: '3', address: 'a', units: '50' },
      { intent_id: '4', address: 'c', units: '50' },
    ]);
  });

  it('of nothing releases nothing before the cooling-off is over', async () => {
    signer = signerWith('0');
    const first = await planned('0.001');
    expect(await signer.signOnce(first)).toMatchObject({ state: 'waiting' });
    await age(24);
    expect(await signer.signOnce(first)).toEqual({ state: 'stored' });
  });

  it('is that of the registry where none is set', async () => {
    const usual = estimating(db, signingActivities({ db, codecs, seed }));
    expect(await usual.signOnce(await planned('31'))).toMatchObject({ state: 'waiting' });
    expect(await usual.signOnce(await planned('30'))).toEqual({ state: 'stored' });
  });

  it.each(['api', 'payments', 'chain', 'operator'] as const)('is out of the reach of %s', async (role) => {
    const thief = connectionsTo(urlFor(shop.url, role));
    await thief.initialize();
    try {
      for (const sql of [
        'SELECT FROM signer.destination',
        `INSERT INTO signer.destination VALUES ('ethereum', '0x', '2000-01-01')`,
        `UPDATE signer.destination SET first_seen_at = '2000-01-01'`,
        'DELETE FROM signer.new_payment',
        `SELECT admit_destinations('ethereum', 'ETH', '[]', 1, 24)`,
      ])
        await expect(thief.query(sql)).rejects.toMatchObject({ code: '42501' });
    } finally {
      await thief.destroy();
    }
  });

  it('is written by the signer through its function alone, and never changed', async () => {
    const own = connectionsTo(urlFor(shop.url, 'signer'));
    await own.initialize();
    try {
      await own.query(
        `SELECT admit_destinations('ethereum', 'ETH', '[{"intent": "1", "address": "0x", "units": "1"}]', 1, 24)`,
      );
      await expect(own.query('DELETE FROM signer.destination')).rejects.toMatchObject({ code: '42501' });
    } finally {
      await own.destroy();
    }
    for (const sql of [`UPDATE signer.destination SET first_seen_at = '2000-01-01'`, 'DELETE FROM signer.new_payment'])
      await expect(db.query(sql)).rejects.toMatchObject({ code: 'CP001' });
  });
});
