import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operate } from '../../api/operator';
import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { applyBlock } from '../../db/chains/blocks';
import { readCursor } from '../../db/chains/cursor';
import { confirmDeposit, maturingDeposits } from '../../db/chains/arrivals';
import { EpochRefused, isConfirmed, mayFollow, settleEpoch } from '../../db/recovery/epoch';
import { bookUnclaimed, unclaimedDeposits } from '../../db/recovery/unclaimed';
import { watchSome } from '../../db/recovery/watch';
import { poolOf } from '../../db/query';
import { byTwoOperators } from '../operators';
import { rollBack } from '../../txmanager/reorganise';
import { epochFile, monitorEpoch } from '../../workers/epoch';
import type { Records } from '../../db/recovery/epoch';
import { outsideRecord } from '../../workers/outside-record';
import { paymentsAt } from '../activities/run-payment';
import { copiesOf } from '../setup/copies';
import { eventually, startHarness, type Harness, type Shop } from './harness';

/** A database that was restored from a backup: what it has forgotten is not given out again. */

let h: Harness;
let shop: Shop;
const folder = mkdtempSync(join(tmpdir(), 'epoch-'));
const path = join(folder, 'epoch.json');
const file = epochFile(path);
const records: Records = {
  signatures: outsideRecord(join(folder, 'signed')),
  calls: outsideRecord(join(folder, 'called')),
};
const watched = 30;
const create = (currency: string) =>
  h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency } });
const codecs = () => createCodecs(h.api.deps.config.chain);
const settle = () => h.db.transaction((tx) => settleEpoch(tx, file, watched, records));
const watchAll = async (): Promise<void> => {
  while (await h.db.transaction((tx) => watchSome(tx, codecs(), 7)));
};
const epochNow = async (): Promise<number> => (await h.db.query('SELECT epoch FROM key_epoch'))[0].epoch;

beforeAll(async () => {
  h = await startHarness();
  shop = await h.shop();
  // The signer has been here before.
  await h.db.query('DELETE FROM key_epoch');
  expect((await settle()).begun).toBeNull();
});
afterAll(async () => {
  await h?.stop();
  rmSync(folder, { recursive: true });
});

const copies = () => copiesOf(h.api.deps.config.DATABASE_URL);

/** What an address was drawn from. */
const drawnFrom = async (address: string): Promise<{ branch: number; key_index: number; payment_id: string | null }> =>
  (await h.db.query('SELECT branch, key_index, payment_id FROM address WHERE address = $1', [address]))[0];

/** Blocks and depth, as the follower takes them. */
const pay = async (height: number, to: string, units = 10n ** 18n): Promise<void> => {
  const from = (await readCursor(h.db.manager, 'ethereum'))!;
  const transfer = { txId: `0x${height}`, index: -1, to, currency: 'ETH', units, inputs: [] } as const;
  const block = { height, hash: `h${height}-${units}`, parentHash: from.hash, time: Date.now() / 1000 };
  await h.db.transaction((tx) =>
    applyBlock(tx, 'ethereum', from, { ...block, transfers: [transfer], txIds: [], spent: new Map() }, 100),
  );
};
const mature = async (): Promise<void> => {
  for (const deposit of await maturingDeposits(h.db.manager, 'ethereum', 200))
    await h.db.transaction(async (tx) => {
      await confirmDeposit(tx, deposit, deposit.amount);
      await bookUnclaimed(tx, deposit.id);
    });
};
const held = async (): Promise<string> =>
  (
    await h.db.query(`SELECT trim_scale(coalesce(sum(amount), 0))::text AS sum FROM balance
    WHERE account = 'L:unallocated:unclaimed'`)
  )[0].sum;

describe('C1: a restored database gives no address twice', () => {
  const lost: string[] = [];

  it('refuses new addresses until the signer has begun a new branch', async () => {
    for (let n = 0; n < 3; n += 1) await create('ETH');
    await copies().backUp();
    const forgotten = await h.shop({}, []);
    for (const currency of ['ETH', 'BTC', 'ETH']) lost.push((await create(currency)).body.depositAddress);
    const choosing = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25 } });
    await copies().restore();
    expect([forgotten.id, choosing.status]).toEqual([expect.any(String), 201]);

    const refused = [await create('ETH'), await create('BTC')];
    for (const { body } of refused) expect(lost).not.toContain(body.depositAddress);
    expect(refused.map(({ status }) => status)).toEqual([503, 503]);
    await expect(h.shop()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    expect(await isConfirmed(h.db)).toBe(false);
    expect(await mayFollow(h.db, 'ethereum')).toBe(false);

    expect((await settle()).begun).toMatch(/^the database was/);
    const given = [await create('ETH'), await create('BTC')].map(({ body }) => body.depositAddress as string);
    await h.shop();
    for (const address of given) {
      expect(lost).not.toContain(address);
      expect(await drawnFrom(address)).toMatchObject({ branch: 1 });
    }
    expect(await audit(h.db)).toEqual([]);
  });

  it('watches what payers may know of the old branch before a network is followed again', async () => {
    expect(await mayFollow(h.db, 'ethereum')).toBe(false);
    await watchAll();
    expect(await mayFollow(h.db, 'ethereum')).toBe(true);
    for (const address of lost) expect(await drawnFrom(address)).toMatchObject({ branch: 0, payment_id: null });
    const [{ n }] = await h.db.query(
      `SELECT count(*)::int AS n FROM address WHERE network = 'ethereum' AND role = 'deposit' AND payment_id IS NULL`,
    );
    expect(n).toBe(watched);
    const [{ behind }] = await h.db.query(
      `SELECT bool_and(scanned_through < now() - interval '1 hour') AS behind FROM chain_cursor`,
    );
    expect(behind).toBe(true);
  });

  it('holds what forgotten addresses receive for whoever claims it', async () => {
    const [address, , unasked] = lost as [string, string, string];
    const before = (await readCursor(h.db.manager, 'ethereum'))!;
    await pay(101, address);
    await pay(102, unasked);
    await mature();
    expect(await held()).toBe('2');
    expect(await h.db.query(`SELECT count(*)::int AS n FROM temporal_request WHERE workflow_id LIKE '%null%'`)).toEqual(
      [{ n: 0 }],
    );
    const incidents = () =>
      h.db.query(`SELECT details->>'address' AS address FROM incident
        WHERE kind = 'unclaimed-deposit' AND resolved_at IS NULL ORDER BY id`);
    expect(await incidents()).toEqual([{ address }, { address: unasked }]);
    expect(await audit(h.db)).toEqual([]);

    // A reorganisation takes it, and it comes again.
    const now = (await readCursor(h.db.manager, 'ethereum'))!;
    await h.db.transaction((tx) => rollBack(tx, 'ethereum', now, before));
    expect(await held()).toBe('0');
    expect(await audit(h.db)).toEqual([]);
    await pay(101, address);
    await pay(102, unasked);
    await mature();
    expect(await held()).toBe('2');

    const payment = (await create('ETH')).body;
    const shell = (...args: string[]) => operate(h.db, h.api.deps.config, args);
    const claim = (of: string, by = payment.paymentId as string) =>
      byTwoOperators(h.db, 'claim-address', { network: 'ethereum', address: of, paymentId: by });
    const asked = await shell('request', 'claim-address', 'ethereum', unasked, payment.paymentId, 'his', 'order');
    expect(asked).toMatch(new RegExp(`Give address ${unasked} on ethereum.*with what came to it: 1 ETH of 0x102`, 's'));
    expect(await held()).toBe('2');
    expect(await shell('recoveries')).toMatch(new RegExp(`epoch 1 .*\n.*\n.*${address}  1 ETH.*\n.*${unasked}`, 's'));
    const inBitcoin = (await create('BTC')).body.paymentId as string;
    await expect(claim(address, inBitcoin)).rejects.toThrow('is no payment on ethereum');
    expect((await claim(address)).outcome).toBe(`${address} belongs to payment ${payment.paymentId} now`);
    for (const other of [address, payment.depositAddress]) await expect(claim(other)).rejects.toThrow('has forgotten');
    await expect(claim(unasked, 'f'.repeat(24))).rejects.toThrow('No payment');
    await expect(shell('claim', 'ethereum', unasked, payment.paymentId, 'why')).rejects.toThrow('Usage');
    const [act] = await h.db.query(`SELECT after FROM audit_log WHERE action = 'address.claimed'`);
    expect(act.after).toEqual({ network: 'ethereum', address, reason: 'a test', requestId: expect.any(String) });
    expect(await held()).toBe('1');
    expect((await unclaimedDeposits(h.db.manager)).map((row) => row.address)).toEqual([unasked]);
    expect(await incidents()).toEqual([{ address: unasked }]);
    const { config } = h.api.deps;
    const { status } = await paymentsAt({ db: h.db, config, codecs: codecs() }).runPayment(payment.paymentId);
    expect(status).toBe('CONFIRMED');
    expect((await h.call('GET', `/api/v1/payments/${payment.paymentId}`, { key: shop.key })).body).toMatchObject({
      amountPaid: 1,
    });
    expect(await audit(h.db)).toEqual([]);

    // A transfer that was read before the claim, and stored after it.
    await h.db.query('UPDATE address SET payment_id = NULL WHERE address = $1', [address]);
    await pay(103, address);
    await h.db.query('UPDATE address SET payment_id = $2 WHERE address = $1', [address, payment.paymentId]);
    await mature();
    expect(await held()).toBe('1');
    expect(await h.db.query(`SELECT payment_id FROM deposit WHERE tx_id = '0x103'`)).toEqual([
      { payment_id: payment.paymentId },
    ]);
  });

  it('keeps the books of a forgotten address where a reorganisation changes a transfer to it', async () => {
    const before = (await readCursor(h.db.manager, 'ethereum'))!;
    await pay(104, lost[2]!);
    await mature();
    expect(await held()).toBe('2');
    const now = (await readCursor(h.db.manager, 'ethereum'))!;
    await h.db.transaction((tx) => rollBack(tx, 'ethereum', now, before));
    await pay(104, lost[2]!, 3n * 10n ** 18n);
    await mature();
    expect(await audit(h.db)).toEqual([]);
    expect(await held()).toBe('1');
    const [displaced] = await h.db.query(`SELECT details FROM incident WHERE kind = 'deposit-displaced'`);
    expect(displaced.details).toMatchObject({ address: lost[2], amount: '3' });
  });

  it('begins one branch more where it crashed between the file and the row', async () => {
    await h.db.query(`UPDATE key_epoch SET incarnation = 'another' || incarnation`);
    await expect(
      h.db.transaction(async (tx) => {
        await settleEpoch(tx, file, watched, records);
        throw new Error('killed');
      }),
    ).rejects.toThrow('killed');
    expect([await epochNow(), file.read()!.epoch, await isConfirmed(h.db)]).toEqual([1, 2, false]);
    expect((await create('ETH')).status).toBe(503);
    await settle();
    expect([await epochNow(), file.read()!.epoch]).toEqual([3, 3]);
    expect(await drawnFrom((await create('ETH')).body.depositAddress)).toMatchObject({ branch: 3 });
    // Every branch that was left is watched, the one that was skipped too.
    expect(await h.db.query('SELECT DISTINCT branch FROM key_watch ORDER BY 1')).toEqual(
      [0, 1, 2].map((branch) => ({ branch })),
    );
  });

  it('makes no second hot wallet: index 0 belongs to the first branch', async () => {
    await watchAll();
    expect(
      await h.db.query(`SELECT network, role, branch FROM address
        WHERE role <> 'deposit' AND key_index = 0 AND branch > 0 ORDER BY 1, 2, 3`),
    ).toEqual([]);
    expect(await h.db.query(`SELECT FROM address WHERE role = 'treasury' AND branch = 2`)).toHaveLength(2 * watched);
  });

  it('asks the signer again after each start of the server, and keeps the branch', async () => {
    await h.db.query(`UPDATE key_epoch SET incarnation = regexp_replace(incarnation, '@.*', '@earlier')`);
    expect((await create('ETH')).status).toBe(503);
    expect((await settle()).begun).toBeNull();
    expect(await drawnFrom((await create('ETH')).body.depositAddress)).toMatchObject({ branch: 3 });
  });

  it('refuses an address that was drawn from the old branch, and written after the recovery', async () => {
    // The statements of a creation are prepared on the pool itself.
    const pool = poolOf(h.api.deps.db) as unknown as { query(statement: { text: string }): Promise<unknown> };
    const query = pool.query.bind(pool);
    const between = jest.spyOn(pool, 'query').mockImplementation(async (statement) => {
      if (statement.text.includes('open_payment(')) await h.db.query('UPDATE key_epoch SET epoch = epoch + 1');
      return query(statement);
    });
    const { status } = await create('ETH');
    between.mockRestore();
    await h.db.query('UPDATE key_epoch SET epoch = epoch - 1');
    expect(status).toBe(503);
    expect((await create('ETH')).status).toBe(201);
  });

  it('recognises an older copy of the database by its beat, and ends on an older file', async () => {
    const fatal: string[] = [];
    const log = {
      info: () => undefined,
      warn: () => undefined,
      fatal: (fields: object) => void fatal.push(JSON.stringify(fields)),
    };
    const signer = (end?: () => void) =>
      monitorEpoch({ db: h.db, log: log as never, codecs: codecs(), file, records, watchCount: watched, end });
    const running = signer();
    await running.begun;
    const [before] = await h.db.query('SELECT beat::int, epoch FROM key_epoch');
    await eventually(async () => file.read()!.beat > before.beat);
    await running.stop();
    await h.db.query(`UPDATE key_epoch SET beat = 0, incarnation = regexp_replace(incarnation, '@.*', '@earlier')`);
    const again = signer();
    await again.begun;
    await eventually(
      async () => (await h.db.query('SELECT FROM key_watch WHERE next_index < until_index')).length === 0,
    );
    expect(await epochNow()).toBe(before.epoch + 1);

    writeFileSync(path, '{"epoch":0,"beat":0,"lineage":""}');
    await h.db.query(`UPDATE key_epoch SET incarnation = regexp_replace(incarnation, '@.*', '@earlier')`);
    await again.stop();
    await expect(signer().begun).rejects.toThrow(EpochRefused);
    expect((await create('ETH')).status).toBe(503);
    writeFileSync(path, `{"epoch":${before.epoch + 2}}`);
    await settle();
    expect((await create('ETH')).status).toBe(201);
    expect(await epochNow()).toBe(before.epoch + 3);
    expect(await audit(h.db)).toEqual([]);
    expect(fatal).toEqual([]);
  });
});
