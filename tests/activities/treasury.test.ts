import type { DataSource } from 'typeorm';
import { createCodecs } from '../../chains/codecs';
import { signingActivities } from '../../activities/txmanager/signing';
import { treasuryMaintenanceActivities } from '../../activities/treasury/maintenance';
import { operate } from '../../api/operator';
import { treasuryActivities } from '../../activities/treasury/treasury';
import { planOutgoing, type Outgoing } from '../../txmanager/plan-outgoing';
import { treasurySources } from '../../db/treasury/treasury';
import { parseConfig } from '../../domain/config';
import { newId } from '../../domain/ids';
import { connectionsTo, freshDatabase, patiently } from '../setup/postgres';
import { bookEnd } from '../book-end';
import { estimating, nodes } from './nodes';

/** What the treasury pays with: any of its addresses, each coin and each wei once, and what no address holds alone is
 *  gathered. */

const seed = Buffer.alloc(64, 7);
const config = parseConfig({ BTC_NETWORK: 'regtest', ETH_CHAIN_ID: '31337' });
const codecs = createCodecs(config.chain);
const keyOf = (network: 'bitcoin' | 'ethereum', index: number): string =>
  codecs[network].derive(codecs[network].extendedKey(seed, 'treasury'), index);
const away = (network: 'bitcoin' | 'ethereum'): string =>
  codecs[network].derive(codecs[network].extendedKey(Buffer.alloc(64, 9), 'deposit'), 0);

let database: Awaited<ReturnType<typeof freshDatabase>>;
let db: DataSource;
let signer: ReturnType<typeof signingActivities>;
beforeAll(async () => {
  database = await freshDatabase();
  db = connectionsTo(database.url);
  await db.initialize();
  await db.query('ALTER TABLE deposit_change DISABLE TRIGGER USER'); // Each test begins without deposits.
  signer = estimating(db, signingActivities({ db, codecs, seed }));
  for (const network of ['bitcoin', 'ethereum'] as const) {
    await db.query(
      `INSERT INTO address (network, address, role, key_index) SELECT $1, a, 'treasury', n - 1
         FROM unnest($2::text[]) WITH ORDINALITY AS t (a, n)`,
      [network, [0, 1, 2, 3].map((index) => keyOf(network, index))],
    );
    await db.query(`INSERT INTO address (network, address, role, key_index) VALUES ($1, $2, 'gas', 0)`, [
      network,
      codecs[network].derive(codecs[network].extendedKey(seed, 'gas'), 0),
    ]);
  }
  await db.query(
    `INSERT INTO network_fee (network, unit_price, tip_price, taken_at) VALUES ('ethereum', 1000000000, 0, now()),
       ('bitcoin', 2, 0, now())`,
  );
});
afterEach(() =>
  db.query(
    'TRUNCATE intent, attempt, coin_lock, deposit, wallet_total, incident, temporal_request, egress_freeze, ' +
      'wallet_sequence CASCADE',
  ),
);
afterAll(async () => {
  await db?.destroy();
  await database?.drop();
});

let made = 0;
const holds = (currency: string, index: number, amount: string, status = 'confirmed'): Promise<unknown> => {
  const network = currency === 'BTC' ? 'bitcoin' : 'ethereum';
  return db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     VALUES ($1, $2, 0, $3, 'treasury', $4, $5, $5, false, $6, now(), 'own')`,
    [network, (made += 1).toString(16).padStart(64, '0'), keyOf(network, index), currency, amount, status],
  );
};
const plan = (currency: string, amounts: readonly bigint[], over: Partial<Outgoing> = {}) => {
  const ref = newId();
  return db.transaction((tx) =>
    planOutgoing(tx, {
      kind: 'leg',
      ref,
      currency,
      outputs: amounts.map((units, index) => ({
        ref: index ? newId() : ref,
        address: away(currency === 'BTC' ? 'bitcoin' : 'ethereum'),
        units,
      })),
      merchantId: null,
      owner: { kind: 'payout-batch', id: ref },
      ...over,
    }),
  );
};
type Intent = {
  id: string;
  kind: string;
  from_address: string;
  outputs: unknown[];
  deposit_ids: string[];
  ref: string;
};
const intents = (): Promise<Intent[]> => db.query('SELECT * FROM intent ORDER BY id');
const incidents = (): Promise<unknown[]> => db.query(`SELECT FROM incident WHERE kind = 'treasury-low'`);
const ether = 10n ** 18n;

it('BTC: pays many with the coins of several addresses, change to the hot wallet', async () => {
  await holds('BTC', 1, '0.001');
  await holds('BTC', 2, '0.002');
  await holds('BTC', 3, '0.5', 'mined');
  expect(await plan('BTC', [100_000n, 150_000n])).toMatchObject({ planned: [expect.any(String), expect.any(String)] });
  const [intent] = await intents();
  expect(intent).toMatchObject({
    from_address: keyOf('bitcoin', 0),
    outputs: [
      { address: away('bitcoin'), units: '100000' },
      { address: away('bitcoin'), units: '150000' },
      { address: keyOf('bitcoin', 0), units: null },
    ],
  });
  expect(intent!.deposit_ids).toHaveLength(2);
  // Everything is taken: the next waits for what is on its way, and nobody is told.
  const next = await plan('BTC', [10_000n]);
  expect(next.planned).toEqual([]);
  expect(next.reason).toContain('free of the');
  expect(await incidents()).toHaveLength(0);
  await plan('BTC', [10_000_000_000n]);
  expect(await incidents()).toHaveLength(1);
});

it('BTC: as many outputs as the coins pay for', async () => {
  await holds('BTC', 1, '0.001');
  const { planned, reason } = await plan('BTC', [60_000n, 20_000n, 60_000n]);
  expect(planned).toHaveLength(2);
  expect(reason).toContain('the rest');
  expect((await intents())[0]!.outputs).toHaveLength(3);
});

it('twelve plans at once take each coin once', async () => {
  for (let index = 0; index < 8; index += 1) await holds('BTC', index % 4, '0.0002');
  const all = await Promise.all(Array.from({ length: 12 }, () => patiently(() => plan('BTC', [15_000n]))));
  expect(all.filter((one) => one.planned.length)).toHaveLength(8);
  const coins = (await intents()).flatMap((intent) => intent.deposit_ids);
  expect(new Set(coins).size).toBe(coins.length);
});

it('ETH: the hot wallet first, then another that holds enough; what is planned is no longer there', async () => {
  await holds('ETH', 0, '1');
  await holds('ETH', 1, '2');
  const half = ether / 2n;
  for (const index of [0, 1, 1, 1]) {
    await plan('ETH', [half]);
    expect((await intents()).at(-1)!.from_address).toBe(keyOf('ethereum', index));
  }
  expect((await plan('ETH', [half])).planned).toEqual([]);
  // The same again is the same.
  const [first] = await intents();
  await plan('ETH', [half], { outputs: [{ ref: first!.ref, address: away('ethereum'), units: half }] });
  expect((await intents()).filter((intent) => intent.kind === 'leg')).toHaveLength(4);
});

it('ETH: gathers at the hot wallet what no address holds alone, once, and pays then', async () => {
  for (const index of [1, 2, 3]) await holds('ETH', index, '1');
  const wanted = (ether * 3n) / 2n;
  const waits = await plan('ETH', [wanted]);
  expect(waits).toMatchObject({ planned: [], reason: expect.stringContaining('gathered') });
  expect((await plan('ETH', [wanted])).planned).toEqual([]);
  const moves = await intents();
  expect(moves.map((intent) => [intent.kind, intent.outputs])).toEqual(
    moves.map(() => ['consolidate', [{ address: keyOf('ethereum', 0), units: expect.any(String) }]]),
  );
  expect(moves).toHaveLength(2);
  expect(await db.query(`SELECT FROM temporal_request WHERE workflow = 'consolidate'`)).toHaveLength(2);
  expect(await incidents()).toHaveLength(0);

  // They are signed, mined, and leave what they cost behind.
  for (const { id } of moves) expect(await signer.signOnce(id)).toEqual({ state: 'stored' });
  for (const { id } of moves) {
    await db.query(
      `UPDATE attempt SET status = 'final', success = true, fee_units = 21000000000000, tx_id = '0x' || md5(id::text)
         WHERE intent_id = $1`,
      [id],
    );
    await db.query(`UPDATE intent SET status = 'final' WHERE id = $1`, [id]);
    await bookEnd(db, id);
    await holds('ETH', 0, '0.9999');
    const { ref } = moves.find((move) => move.id === id)!;
    expect(await treasuryActivities({ db, nodes }).nextConsolidation(ref)).toBeNull();
  }
  const [fees] = await db.query(
    `SELECT sum(amount)::text AS fees FROM posting WHERE debit = 'E:network' AND credit = 'A:treasury'`,
  );
  expect(fees.fees).toBe('0.000042000000000000');
  expect((await plan('ETH', [wanted])).planned).toHaveLength(1);
});

it('tokens: one top-up for all that leave an address, and gas that is spoken for is not sent away', async () => {
  await holds('USDT_ERC20', 0, '100');
  await holds('USDT_ERC20', 1, '50');
  const { planned, reason } = await plan('USDT_ERC20', [60_000_000n, 30_000_000n, 40_000_000n, 100_000_000n]);
  expect(planned).toHaveLength(3);
  expect(reason).toContain('the treasury has');
  const all = await intents();
  expect(all.map((intent) => [intent.kind, intent.from_address])).toEqual([
    ['gas', expect.any(String)],
    ['leg', keyOf('ethereum', 0)],
    ['leg', keyOf('ethereum', 0)],
    ['gas', expect.any(String)],
    ['leg', keyOf('ethereum', 1)],
  ]);
  const perToken = 65_000n * 2_000_000_000n;
  expect(all[0]!.outputs).toEqual([{ address: keyOf('ethereum', 0), units: (perToken * 2n).toString() }]);
  await holds('ETH', 0, '1');
  const sources = await db.transaction((tx) => treasurySources(tx, 'ETH'));
  expect(sources[0]).toMatchObject({ address: keyOf('ethereum', 0), free: ether - perToken * 2n });
});

it('signs no move of nobody, none out of the treasury, and nothing for a kind that nobody answers for', async () => {
  await holds('ETH', 1, '1');
  await holds('ETH', 2, '1');
  await plan('ETH', [(ether * 3n) / 2n]);
  const [move, other] = await intents();
  await db.query(`UPDATE intent SET outputs = jsonb_set(outputs, '{0,address}', to_jsonb($2::text)) WHERE id = $1`, [
    move!.id,
    away('ethereum'),
  ]);
  await expect(signer.signOnce(move!.id)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  await db.query(`UPDATE intent SET owner_id = 'other' WHERE id = $1`, [other!.id]);
  await expect(signer.signOnce(other!.id)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
  await db.query(`UPDATE intent SET kind = 'fund' WHERE id = $1`, [other!.id]);
  await expect(signer.signOnce(other!.id)).rejects.toMatchObject({ code: 'INTENT_MISMATCH' });
});

it('BTC: puts small coins together while fees are low, one transaction at a time', async () => {
  const { maintainTreasury } = treasuryMaintenanceActivities({ db, config });
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     SELECT 'bitcoin', lpad(to_hex(n), 64, 'c'), 0, $1, 'treasury', 'BTC', 0.0001, 0.0001, false, 'confirmed', now(),
       'own' FROM generate_series(1, 60) n`,
    [keyOf('bitcoin', 2)],
  );
  await holds('BTC', 1, '0.5');
  await db.query(`UPDATE network_fee SET unit_price = 40 WHERE network = 'bitcoin'`);
  await maintainTreasury();
  expect(await intents()).toEqual([]);
  await db.query(`UPDATE network_fee SET unit_price = 2 WHERE network = 'bitcoin'`);
  await maintainTreasury();
  await maintainTreasury();
  const [move, other] = await intents();
  expect(move).toMatchObject({ kind: 'consolidate', outputs: [{ address: keyOf('bitcoin', 0), units: null }] });
  expect(move!.deposit_ids).toHaveLength(60);
  expect(other).toBeUndefined();
  // A11: the key of a frozen wallet signs for no coin of it, whoever spends the coin.
  await db.query(
    `INSERT INTO wallet_sequence (network, address, frozen_reason, frozen_at) VALUES ('bitcoin', $1, 'stolen', now())`,
    [keyOf('bitcoin', 2)],
  );
  await expect(signer.signOnce(move!.id)).rejects.toMatchObject({ code: 'WALLET_FROZEN' });
  await db.query('UPDATE wallet_sequence SET frozen_reason = NULL, frozen_at = NULL');
  expect(await signer.signOnce(move!.id)).toEqual({ state: 'stored' });
  // What is left of the large coin still pays.
  expect((await plan('BTC', [1_000_000n])).planned).toHaveLength(1);
});

it('tells operators that gas is low, and that it is no longer', async () => {
  const { maintainTreasury } = treasuryMaintenanceActivities({ db, config });
  const low = () =>
    db.query(`SELECT resolved_at IS NULL AS open FROM incident WHERE kind = 'gas-float-low'`) as Promise<unknown[]>;
  await maintainTreasury();
  expect(await low()).toEqual([{ open: true }]);
  await db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     SELECT 'ethereum', 'gas', 0, address, 'gas', 'ETH', 1, 1, false, 'confirmed', now(), 'capital' FROM address
       WHERE network = 'ethereum' AND role = 'gas'`,
  );
  await maintainTreasury();
  expect(await low()).toEqual([{ open: false }]);
  // A want is over once it is planned.
  await plan('ETH', [ether], {
    kind: 'withdrawal',
    ref: 'a'.repeat(24),
    owner: { kind: 'withdrawal', id: 'a'.repeat(24) },
    outputs: [{ ref: 'a'.repeat(24), address: away('ethereum'), units: ether }],
  });
  expect(await incidents()).toHaveLength(1);
  await holds('ETH', 0, '2');
  await plan('ETH', [ether], {
    kind: 'withdrawal',
    ref: 'a'.repeat(24),
    owner: { kind: 'withdrawal', id: 'a'.repeat(24) },
    outputs: [{ ref: 'a'.repeat(24), address: away('ethereum'), units: ether }],
  });
  await maintainTreasury();
  expect(await db.query(`SELECT FROM incident WHERE kind = 'treasury-low' AND resolved_at IS NULL`)).toEqual([]);
});

it('says what is where', async () => {
  await holds('ETH', 0, '2');
  await holds('ETH', 1, '1');
  await holds('BTC', 2, '0.3');
  await plan('ETH', [ether]);
  await plan('BTC', [1000n]);
  await db.query(
    `SELECT post_journal('report', '{"type":"adjustment","sourceType":"adjustment"}',
       '[{"debit":"A:treasury","credit":"L:available:m","asset":"ETH","amount":"3"},
         {"debit":"A:gas","credit":"Q:capital","asset":"ETH","amount":"0.5"}]')`,
  );
  const text = await operate(db, config, ['treasury']);
  expect(text).toMatch(
    / {2}ledger {3}A:gas 0\.5 {2}A:treasury [\d.]+\n {2}owed {5}available 3\n {2}surplus {2}[\d.]+\n/,
  );
  expect(text).toContain(`  lane  ${keyOf('ethereum', 0)}  free 0.999958, taken 1.000042`);
  expect(text).toContain(`  treasury  ${keyOf('ethereum', 1)}  free 1`);
  expect(text).toContain(`  treasury  ${keyOf('bitcoin', 2)}  free 0, taken 0.3`);
});

it('a stop of everything stops what leaves, and not what stays with us', async () => {
  await holds('ETH', 1, '1');
  await holds('ETH', 2, '1');
  await db.query(`INSERT INTO egress_freeze (currency, reason) VALUES ('*', 'drill')`);
  await plan('ETH', [(ether * 3n) / 2n]);
  for (const { id } of await intents()) expect(await signer.signOnce(id)).toEqual({ state: 'stored' });
});
