import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signingActivities } from '../../activities/txmanager/signing';
import { isDerived } from '../../activities/chains/derived';
import { treasuryMaintenanceActivities } from '../../activities/treasury/maintenance';
import { createCodecs } from '../../chains/codecs';
import { audit } from '../../db/audit/audit';
import { auditHoldings } from '../../db/audit/audit-chain';
import { EpochRefused, settleEpoch } from '../../db/recovery/epoch';
import { watchSome } from '../../db/recovery/watch';
import { ownAddress, treasurySources } from '../../db/treasury/treasury';
import type { ChainAdapter, KeyRole } from '../../domain/chains/chain';
import { isDerived as isOfOurs } from '../../txmanager/sign/derived';
import { epochFile } from '../../workers/epoch';
import { fingerprintOf, seedRing } from '../../workers/seeds';
import type { Records } from '../../db/recovery/epoch';
import { outsideRecord } from '../../workers/outside-record';
import { estimating } from '../activities/nodes';
import { copiesOf } from '../setup/copies';
import { startHarness, type Harness, type Shop } from './harness';

/** A second seed beside the first. Wrong, whoever has the first seed would be paid by new payers, or what old payers
 *  send would be out of reach. docs/decisions/0064-a-second-seed.md */

let h: Harness;
let shop: Shop;
const folder = mkdtempSync(join(tmpdir(), 'seeds-'));
const file = epochFile(join(folder, 'epoch.json'));
const records: Records = {
  signatures: outsideRecord(join(folder, 'signed')),
  calls: outsideRecord(join(folder, 'called')),
};
const [first, second] = [Buffer.alloc(64, 7), Buffer.alloc(64, 9)];
const given = (...seeds: Uint8Array[]) => seeds.map((seed) => ({ seed, fingerprint: fingerprintOf(seed) }));
const codecs = () => createCodecs(h.api.deps.config.chain);
const ringOf = (...seeds: Uint8Array[]) => {
  const { networks, lanes } = h.api.deps.config;
  return seedRing({ db: h.db, codecs: codecs(), networks, lanes, file }, given(...seeds));
};
const settle = () => h.db.transaction((tx) => settleEpoch(tx, file, 20, records));
type Network = 'bitcoin' | 'ethereum';
const at = (seed: Uint8Array, network: Network, role: KeyRole, index: number, branch: number): string =>
  codecs()[network].derive(codecs()[network].extendedKey(seed, role), index, branch);
const create = async (currency: string): Promise<string> => {
  const { status, body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency } });
  expect(status).toBe(201);
  return body.depositAddress as string;
};
const drawnFrom = async (address: string) =>
  (await h.db.query('SELECT branch, key_index AS index FROM address WHERE address = $1', [address]))[0];
const hot = (network: Network, role: 'treasury' | 'gas' = 'treasury') =>
  h.db.transaction((tx) => ownAddress(tx, network, role));
/** The audit of the newest addresses, without a node. */
const wrongDerivations = async (network: Network) =>
  (
    await auditHoldings(h.db, [
      { ...codecs()[network], blockHash: () => Promise.resolve(null) } as never as ChainAdapter,
    ])
  ).filter(({ invariant }) => invariant === 'I15');

let old: { ETH: string; BTC: string };

beforeAll(async () => {
  h = await startHarness();
  shop = await h.shop();
  await h.db.query('DELETE FROM key_epoch');
  const ring = await ringOf(first);
  expect(ring.isNew).toBe(false);
  // A signer of the release before has registered the keys.
  await ring.register();
  await ring.register();
  expect((await settle()).begun).toBeNull();
  old = { ETH: await create('ETH'), BTC: await create('BTC') };
}, 60_000);
afterAll(async () => {
  await h?.stop();
  rmSync(folder, { recursive: true });
});

it('refuses another seed in place of the first', async () => {
  await expect(ringOf(second)).rejects.toThrow(EpochRefused);
  await expect(ringOf(second, first)).rejects.toThrow('nothing was derived from');
});

it('does not begin on a database that is not confirmed, and leaves everything as it was', async () => {
  const ring = await ringOf(first, second);
  await ring.register();
  await h.db.query(`UPDATE key_epoch SET incarnation = 'another@' || now()`);
  await expect(ring.begin()).rejects.toThrow(EpochRefused);
  await h.db.query('UPDATE key_epoch SET incarnation = database_incarnation()');
  expect(file.read()).toMatchObject({ epoch: 0 });
  expect(file.read()).not.toHaveProperty('seeds');
  expect(await create('ETH')).not.toBe(old.ETH);
});

it('derives what is new from the second seed, and knows what is old by the first', async () => {
  await copiesOf(h.api.deps.config.DATABASE_URL).backUp();
  const ring = await ringOf(first, second);
  expect(ring.isNew).toBe(true);
  await ring.register();
  expect(await ring.begin()).toBe(1);
  expect(file.read()).toMatchObject({
    epoch: 1,
    seeds: [
      { seed: fingerprintOf(first), from: 0 },
      { seed: fingerprintOf(second), from: 1 },
    ],
  });
  // A beat, and a confirmation, leave the seeds in the file.
  await settle();
  file.write({ epoch: 1, beat: 5, lineage: file.read()!.lineage });
  expect(file.read()!.seeds).toHaveLength(2);

  for (const [currency, network] of [
    ['ETH', 'ethereum'],
    ['BTC', 'bitcoin'],
  ] as const) {
    const address = await create(currency);
    const { branch, index } = await drawnFrom(address);
    expect([branch, address]).toEqual([1, at(second, network, 'deposit', index, 1)]);
    expect(await drawnFrom(old[currency])).toMatchObject({ branch: 0 });
    // What the follower asks of a deposit, and what the audit asks of every address.
    for (const one of [address, old[currency]]) expect(await isDerived(h.db, codecs()[network], one)).toBe(true);
    expect(await wrongDerivations(network)).toEqual([]);
    expect(await hot(network)).toBe(at(second, network, 'treasury', 0, 1));
    expect(await hot(network, 'gas')).toBe(at(second, network, 'gas', 0, 1));
  }
  // A merchant's wallet is none of the hot wallets, whatever index the first seed began with.
  const [{ index }] = await h.db.query(
    `SELECT min(key_index) AS index FROM address WHERE role = 'treasury' AND merchant_id = $1`,
    [(await h.shop()).id],
  );
  expect(index).toBe(16);
  expect(await audit(h.db)).toEqual([]);
  // Nothing is forgotten: no workflow ends for it, and nothing is looked for again.
  expect(await h.db.query('SELECT FROM recovery')).toEqual([]);
  expect(await h.db.query('SELECT FROM key_watch')).toEqual([]);
});

it('signs with the seed of the branch, and calls nothing its own that the other seed derives there', async () => {
  const { seeds } = await ringOf(first, second);
  const signer = { codecs: codecs(), seed: seeds };
  const row = (seed: Uint8Array, branch: number) => ({
    ...{ role: 'treasury' as const, branch, key_index: 3 },
    address: at(seed, 'ethereum', 'treasury', 3, branch),
  });
  expect([row(first, 0), row(second, 1), row(second, 7)].map((one) => isOfOurs(signer, 'ethereum', one))).toEqual([
    true,
    true,
    true,
  ]);
  // A thief of the first seed who writes rows is paid nothing: it has no new branch.
  expect([row(first, 1), row(second, 0)].map((one) => isOfOurs(signer, 'ethereum', one))).toEqual([false, false]);

  const coin = (seed: Uint8Array, branch: number, vout: number) => ({
    ...{ txId: 'ab'.repeat(32), vout, units: 10_000n, key: { role: 'treasury' as const, index: 3, branch } },
    address: at(seed, 'bitcoin', 'treasury', 3, branch),
  });
  const spend = (...coins: Array<ReturnType<typeof coin>>) =>
    codecs().bitcoin.sign(seeds, {
      ...{ kind: 'utxo', coins, feeUnits: 1000n },
      outputs: [{ address: at(second, 'bitcoin', 'treasury', 0, 1), units: BigInt(coins.length) * 10_000n - 1000n }],
    });
  const both = codecs().bitcoin.decode(spend(coin(first, 0, 0), coin(second, 1, 1)).raw);
  expect(both.inputs).toHaveLength(2);
  expect(() => spend(coin(first, 1, 0))).toThrow('is not of');
});

it('moves what the wallets of the first seed hold to those of the second', async () => {
  const wallets = await h.db.transaction((tx) => treasurySources(tx, 'ETH'));
  const of = (lane: string | null) => wallets.filter((one) => one.lane === lane).map(({ address }) => address);
  expect(of('used')).toEqual([0, 1].map((index) => at(second, 'ethereum', 'treasury', index, 1)));
  expect(of('dropped')).toEqual(expect.arrayContaining([0, 1].map((n) => at(first, 'ethereum', 'treasury', n, 0))));
  // The wallets that merchants had before are emptied too.
  const [{ address: ofMerchant }] = await h.db.query(
    `SELECT address FROM address WHERE network = 'ethereum' AND role = 'treasury' AND merchant_id = $1 AND branch = 0
        AND currency = 'ETH'`,
    [shop.id],
  );
  expect(of('dropped')).toContain(ofMerchant);
  expect(of(null).every((address) => !of('dropped').includes(address))).toBe(true);

  const oldHot = at(first, 'bitcoin', 'treasury', 0, 0);
  const holds = (network: Network, address: string, n: number, amount: string) =>
    h.db.query(
      `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
         first_seen_at, allocation) VALUES ($1, $2, 0, $3, 'treasury', $4, $5, $5, false, 'confirmed', now(), 'own')`,
      [network, n.toString(16).padStart(64, '0'), address, network === 'bitcoin' ? 'BTC' : 'ETH', amount],
    );
  await holds('bitcoin', oldHot, 1, '0.5');
  await holds('bitcoin', at(second, 'bitcoin', 'treasury', 0, 1), 2, '0.5');
  await holds('ethereum', ofMerchant, 3, '2');
  await h.db.query(`UPDATE network_fee SET unit_price = 2 WHERE network = 'bitcoin'`);
  const { maintainTreasury } = treasuryMaintenanceActivities({ db: h.db, config: h.api.deps.config });
  await maintainTreasury();
  await maintainTreasury();
  const moves: Array<{ id: string; network: Network; from_address: string; deposit_ids: string[]; to: string }> =
    await h.db.query(
      `SELECT id, network, from_address, deposit_ids, outputs->0->>'address' AS "to" FROM intent
        WHERE kind = 'consolidate' ORDER BY network, id`,
    );
  expect(moves.map(({ network, from_address: from, to, deposit_ids: ids }) => [network, from, to, ids.length])).toEqual(
    [
      ['bitcoin', at(second, 'bitcoin', 'treasury', 0, 1), at(second, 'bitcoin', 'treasury', 0, 1), 1],
      ['ethereum', ofMerchant, at(second, 'ethereum', 'treasury', 0, 1), 0],
    ],
  );
  const { seeds } = await ringOf(first, second);
  const signer = estimating(h.db, signingActivities({ db: h.db, codecs: codecs(), seed: seeds }));
  for (const { id } of moves) expect(await signer.signOnce(id)).toEqual({ state: 'stored' });
});

it('needs both seeds for ever, in their order', async () => {
  expect((await ringOf(first, second)).isNew).toBe(false);
  await expect(ringOf(second)).rejects.toThrow('branches from 0 on is missing');
  await expect(ringOf(first)).rejects.toThrow('branches from 1 on is missing');
  await expect(ringOf(second, first)).rejects.toThrow('no seed begins again');
});

it('a backup from before the second seed: its addresses are watched, and none is given twice', async () => {
  const lost = [await create('ETH'), await create('ETH')];
  await copiesOf(h.api.deps.config.DATABASE_URL).restore();
  expect(await h.db.query('SELECT FROM seed_key WHERE from_branch > 0')).toEqual([]);
  // By the database alone the second seed would begin once more, at a branch that payers know.
  const ring = await ringOf(first, second);
  expect(ring.isNew).toBe(false);
  await ring.register();
  expect((await settle()).begun).toMatch(/^the database/);
  while (await h.db.transaction((tx) => watchSome(tx, codecs(), 50)));
  for (const address of lost) {
    expect(await drawnFrom(address)).toMatchObject({ branch: 1 });
    expect(await isDerived(h.db, codecs().ethereum, address)).toBe(true);
  }
  const address = await create('ETH');
  const { branch, index } = await drawnFrom(address);
  expect([branch, address]).toEqual([2, at(second, 'ethereum', 'deposit', index, 2)]);
  expect(await hot('ethereum')).toBe(at(second, 'ethereum', 'treasury', 0, 1));
  expect(await wrongDerivations('ethereum')).toEqual([]);
});
