import type { DataSource } from 'typeorm';
import { payoutActivities } from '../../activities/payouts/payouts';
import { signingActivities } from '../../activities/txmanager/signing';
import { queueBatch } from '../../commands/payouts/queue';
import { audit } from '../../db/audit/audit';
import { armFailPoints, disarmFailPoints } from '../../db/fail-point';
import { freeze, unfreeze } from '../../db/limits/outbound';
import { post } from '../../db/ledger/ledger';
import { addToWhitelist } from '../../db/wallets/whitelist';
import type { NetworkId } from '../../domain/chains/assets';
import type { ExpiringFamily } from '../../domain/chains/chain';
import { accountOf } from '../../domain/chains/costs';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { adjustment } from '../../domain/ledger/entry';
import { payoutWindow } from '../../domain/payouts/payout';
import type { GasNode } from '../../txmanager/gas-node';
import { patiently } from '../setup/postgres';
import { codecs, richShop, seed, strangers, type RichShop } from './rich-shop';

/** A mass payout on several networks, and in several assets of one: what is held up holds up only itself. Blocks and
 *  nodes are played. */

const user = { id: newId(), email: 'ann@shop.example' };
const tokens = ['USDC_ERC20', 'USDT_ERC20'] as const;
/** Somebody else's address on TRON, and ours. */
const [far, wallet] = [Buffer.alloc(64, 9), seed].map((of, n) =>
  codecs.tron.derive(codecs.tron.extendedKey(of, n ? 'treasury' : 'deposit'), 0),
) as [string, string];
let shop: RichShop;
let db: DataSource;

/** Networks whose node does not answer, and tokens whose contract refuses every transfer. */
const away = new Set<NetworkId>();
const paused = new Set<string>();
const unreachable = (network: NetworkId) => new DomainError('NODE_UNREACHABLE', `${network}: no answer in time`);
const nodes = (['ethereum', 'tron'] as const).map((network): GasNode => ({
  network,
  estimateGas: ({ currency }) => {
    if (away.has(network)) return Promise.reject(unreachable(network));
    const gas = currency === 'TRX' ? accountOf('TRX').work.native : currency === 'ETH' ? 21_000n : 52_000n;
    return Promise.resolve(paused.has(currency) ? { state: 'reverts', reason: 'paused' } : { state: 'done', gas });
  },
}));
/** The signer's own node of TRON, which is away with the others. */
const family = {
  node: {
    termsOf: () => Promise.reject(unreachable('tron')),
    fateOf: () => Promise.reject(unreachable('tron')),
  },
} as Partial<ExpiringFamily> as ExpiringFamily;
const signerNow = () =>
  signingActivities({
    ...{ db, codecs, seed, expiring: { tron: family } },
    newDestinations: { coolingOffHours: 0, dailyCaps: {} },
  });
let signer: ReturnType<typeof signerNow>;
let activities: ReturnType<typeof payoutActivities>;

beforeAll(async () => {
  shop = await richShop('1000');
  ({ db } = shop);
  signer = signerNow();
  activities = payoutActivities({ db, nodes });
  const gas = codecs.ethereum.derive(codecs.ethereum.extendedKey(seed, 'gas'), 0);
  await db.query(
    `INSERT INTO address (network, address, role, key_index)
       VALUES ('ethereum', $1, 'gas', 0), ('tron', $2, 'treasury', 0), ('tron', $3, 'gas', 0)`,
    [gas, wallet, codecs.tron.derive(codecs.tron.extendedKey(seed, 'gas'), 0)],
  );
  await db.query(`INSERT INTO network_fee (network, unit_price, tip_price, taken_at) VALUES ('tron', 1, 0, now())`);
  await db.query(
    `INSERT INTO chain_cursor (network, height, hash, head_height, scanned_through)
       VALUES ('ethereum', 100, 'e', 100, 'infinity'), ('tron', 100, 't', 100, 'infinity')`,
  );
  await holds('ETH', gas, '5');
  for (const currency of [...tokens, 'TRX']) {
    await db.query(
      `WITH r AS (INSERT INTO rate (currency, fiat, value, sources, taken_at) VALUES ($1, 'USD', 1, '[]', now())
         RETURNING *)
       INSERT INTO rate_latest (currency, fiat, rate_id, value, taken_at) SELECT currency, fiat, id, value, taken_at
         FROM r`,
      [currency],
    );
    await holds(currency, currency === 'TRX' ? wallet : shop.hot, '10000');
    await db.transaction((tx) =>
      post(tx, {
        key: `test/${currency}`,
        entry: adjustment,
        postings: [{ debit: 'A:treasury', credit: `L:available:${shop.merchantId}`, asset: currency, amount: '10000' }],
      }),
    );
  }
  for (const currency of ['ETH', ...tokens, 'TRX'])
    await addToWhitelist(db.manager, shop.merchantId, user, {
      ...{ type: 'wallet', currency, address: addressOf(currency), destinationTag: null },
    });
});
afterAll(() => shop?.stop());
afterEach(async () => {
  away.clear();
  paused.clear();
  await unfreeze(db.manager, 'ETH');
  const rules = ['I1', 'I2', 'I3', 'I7', 'I8', 'I9', 'I11'];
  expect((await audit(db, { settleMs: 1 })).filter(({ invariant }) => rules.includes(invariant))).toEqual([]);
});

let made = 1;
const holds = (currency: string, address: string, amount: string): Promise<unknown> =>
  db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, allocation)
     SELECT network, $2, -1, address, role, $3, $4, $4, false, 'confirmed', now(), 'own' FROM address
      WHERE address = $1`,
    [address, `0x${(made += 1)}`, currency, amount],
  );
const addressOf = (currency: string): string =>
  currency === 'TRX' ? far : codecs.ethereum.derive(strangers, tokens.indexOf(currency as never) + 1);
/** Queues so many lines of each currency. */
async function queued(counts: Readonly<Record<string, number>>): Promise<string> {
  const rows = Object.entries(counts).flatMap(([currency, count]) =>
    Array.from({ length: count }, () => ({
      currency,
      amount: currency === 'ETH' ? '0.01' : '10',
      address: addressOf(currency),
    })),
  );
  const deps = { codecs, rateMaxAgeSeconds: 3600 };
  const { row } = await db.transaction((tx) => queueBatch(tx, deps, shop.merchantId, user, { rows }));
  return row.id;
}
/** What a chain would do to what is signed, or to so many of it. */
async function mine(id: string, most = 1000): Promise<void> {
  const [mined] = (await db.query(
    `UPDATE attempt SET status = 'final', success = true, fee_units = least(max_fee_units, 30000), height = 1,
            sent_at = now()
      WHERE id IN (SELECT a.id FROM attempt a JOIN intent i ON i.id = a.intent_id
                    WHERE i.owner_kind = 'payout-batch' AND i.owner_id = $1 AND a.status IN ('stored', 'sent')
                    ORDER BY a.nonce LIMIT $2) RETURNING intent_id`,
    [id, most],
  )) as [Array<{ intent_id: string }>];
  await db.query(`UPDATE intent SET status = 'final' WHERE id = ANY($1)`, [mined.map((row) => row.intent_id)]);
}
/** How many lines of each currency have each status. */
const lines = async (id: string): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      (await db.query(
        `SELECT currency || ' ' || status AS what, count(*)::int AS n FROM payout_leg WHERE batch_id = $1 GROUP BY 1`,
        [id],
      )) as Array<{ what: string; n: number }>
    ).map(({ what, n }) => [what, n]),
  );
/** How many lines are signed and in no block. */
const ahead = async (id: string): Promise<number> =>
  (
    await db.query(
      `SELECT count(*)::int AS n FROM intent WHERE owner_kind = 'payout-batch' AND owner_id = $1 AND kind = 'leg'
         AND status IN ('stored', 'sent')`,
      [id],
    )
  )[0].n;
/** Plans, signs and has a chain mine what is on a network, until no more of it is signed. */
async function goesOn(id: string, network: NetworkId): Promise<void> {
  let isMoving = true;
  while (isMoving) {
    await activities.payoutStep(id, network);
    const { stored } = await signer.signPayouts(id, network);
    const open = await ahead(id);
    expect(open).toBeLessThanOrEqual(payoutWindow);
    isMoving = stored + open > 0;
    await mine(id);
  }
  await activities.payoutStep(id, network);
}

describe('the node of one network is away', () => {
  const stale = () => db.query(`UPDATE network_fee SET taken_at = now() - interval '1 hour' WHERE network = 'tron'`);
  const fresh = () => db.query(`UPDATE network_fee SET taken_at = now() WHERE network = 'tron'`);
  afterEach(fresh);

  it('from before the plan: the lines on another are planned, signed and booked to the last', async () => {
    const id = await queued({ TRX: 2, ETH: 66 });
    away.add('tron');
    await stale();
    expect(await activities.payoutNetworks(id)).toEqual(['ethereum', 'tron']);
    await expect(activities.payoutStep(id, 'tron')).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
    await goesOn(id, 'ethereum');
    expect(await lines(id)).toEqual({ 'ETH completed': 66, 'TRX pending': 2 });
    expect(await activities.payoutStep(id, 'ethereum')).toBeNull();
    // What was away goes on where it stood.
    await fresh();
    await expect(activities.payoutStep(id, 'tron')).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    away.clear();
    expect(await activities.payoutStep(id, 'tron')).toMatchObject({ sign: true, networks: ['tron'] });
  });

  it('since the plan, and the signer’s own with it: the others are signed, and it alone is asked again', async () => {
    const id = await queued({ TRX: 2, ETH: 3 });
    for (const network of ['tron', 'ethereum'] as const) await activities.payoutStep(id, network);
    await expect(signer.signPayouts(id, 'tron')).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    expect(await signer.signPayouts(id, 'ethereum')).toEqual({ stored: 3 });
    away.add('tron');
    await mine(id);
    expect(await activities.payoutStep(id, 'ethereum')).toBeNull();
    expect(await lines(id)).toEqual({ 'ETH completed': 3, 'TRX pending': 2 });
  });

  it('and a recovery has lost a transaction there: the lines on another go on', async () => {
    const id = await queued({ TRX: 1, ETH: 2 });
    const [trx] = await db.query(`SELECT id FROM payout_leg WHERE batch_id = $1 AND currency = 'TRX'`, [id]);
    const lost = { kind: 'leg', ref: trx.id, deposits: ['ab:0'], lines: [trx.id], planned: [], outputs: [] };
    await db.query(
      `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, deposit_ids, max_unit_price, fee_budget,
                           status, owner_kind, owner_id, lost_owner_kind, lost_owner_id, lost)
       VALUES ('lost', 'lost/1', 'tron', 'TRX', $2, '[]', '{}', 1, 1, 'sent', 'lost', '1', 'payout-batch', $1, $3)`,
      [id, wallet, JSON.stringify(lost)],
    );
    expect((await activities.payoutStep(id, 'tron'))?.summary).toContain('before the recovery');
    await goesOn(id, 'ethereum');
    expect(await lines(id)).toEqual({ 'ETH completed': 2, 'TRX pending': 1 });
    await db.query(`UPDATE intent SET status = 'dead' WHERE owner_kind = 'lost'`);
  });

  it('does all of it at once for a workflow that was started before networks went apart', async () => {
    const id = await queued({ TRX: 1, ETH: 2 });
    expect(await activities.payoutStep(id)).toMatchObject({ sign: true, networks: ['ethereum', 'tron'] });
    await expect(signer.signPayouts(id)).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
    expect(await lines(id)).toEqual({ 'ETH processing': 2, 'TRX pending': 1 });
    await mine(id);
    await activities.payoutStep(id);
    expect(await lines(id)).toEqual({ 'ETH completed': 2, 'TRX pending': 1 });
  });
});

describe('one asset of a network cannot leave', () => {
  it.each<[string, string, () => unknown, () => unknown]>([
    ['operators have frozen it', 'ETH', () => freeze(db.manager, 'ETH', 'a test'), () => unfreeze(db.manager, 'ETH')],
    ['its contract is paused', 'USDC_ERC20', () => paused.add('USDC_ERC20'), () => paused.clear()],
  ])('%s: more of it than may be under way keep none of another waiting', async (_why, held, stop, heal) => {
    const id = await queued({ [held]: 65, USDT_ERC20: 2 });
    await stop();
    await goesOn(id, 'ethereum');
    expect(await lines(id)).toEqual({ [`${held} pending`]: 65, 'USDT_ERC20 completed': 2 });
    await heal();
    await goesOn(id, 'ethereum');
    expect(await lines(id)).toEqual({ [`${held} completed`]: 65, 'USDT_ERC20 completed': 2 });
  });

  it('released beside another: no more are ahead of the wallet than nodes hold, the oldest plan first', async () => {
    const id = await queued({ ETH: 40, USDC_ERC20: 64 });
    await freeze(db.manager, 'ETH', 'a test');
    await activities.payoutStep(id, 'ethereum');
    await signer.signPayouts(id, 'ethereum'); // the gas of the others
    await mine(id);
    await activities.payoutStep(id, 'ethereum');
    await unfreeze(db.manager, 'ETH');
    await Promise.all([1, 2, 3].map(() => patiently(() => signer.signPayouts(id, 'ethereum'))));
    const first = { 'ETH processing': 40, 'USDC_ERC20 processing': 24, 'USDC_ERC20 pending': 40 };
    expect(await lines(id)).toEqual(first);
    expect(await signer.signPayouts(id, 'ethereum')).toEqual({ stored: 0 });
    await mine(id, 10);
    await activities.payoutStep(id, 'ethereum');
    expect(await signer.signPayouts(id, 'ethereum')).toEqual({ stored: 10 });
    expect(await lines(id)).toMatchObject({ 'ETH completed': 10, 'USDC_ERC20 processing': 34 });
    await goesOn(id, 'ethereum');
    expect(await lines(id)).toEqual({ 'ETH completed': 40, 'USDC_ERC20 completed': 64 });
  });

  it('keeps no payout of another merchant waiting', async () => {
    const held = await queued({ ETH: 64 });
    const other = await queued({ USDC_ERC20: 2 });
    await freeze(db.manager, 'ETH', 'a test');
    await activities.payoutStep(held, 'ethereum');
    await goesOn(other, 'ethereum');
    expect(await lines(other)).toEqual({ 'USDC_ERC20 completed': 2 });
    await unfreeze(db.manager, 'ETH');
  });
});

describe('a signer that dies', () => {
  beforeAll(() => armFailPoints(db));
  afterAll(disarmFailPoints);

  it.each(['sign.beforeCommit', 'sign.afterCommit'])(
    '%s: the next signs the rest, in nonces without a gap, and no more than nodes hold',
    async (point) => {
      const id = await queued({ ETH: 64, USDC_ERC20: 2, TRX: 1 });
      await activities.payoutStep(id, 'ethereum');
      await db.query(
        `INSERT INTO fail_point (name, action, remaining) VALUES ($1, 'throw', 1)
           ON CONFLICT (name) DO UPDATE SET remaining = 1`,
        [point],
      );
      await expect(signer.signPayouts(id, 'ethereum')).rejects.toThrow('Fail point');
      signer = signerNow();
      await Promise.all([1, 2, 3].map(() => patiently(() => signer.signPayouts(id, 'ethereum'))));
      expect(await ahead(id)).toBe(payoutWindow);
      await goesOn(id, 'ethereum');
      expect(await lines(id)).toEqual({ 'ETH completed': 64, 'USDC_ERC20 completed': 2, 'TRX pending': 1 });
      const nonces = await db.query(
        `SELECT max(a.nonce) - min(a.nonce) + 1 = count(*) AS "isWhole" FROM attempt a JOIN intent i
           ON i.id = a.intent_id WHERE i.owner_id = $1 AND i.kind = 'leg'`,
        [id],
      );
      expect(nonces).toEqual([{ isWhole: true }]);
    },
  );
});

/** Counts what is asked of the database while `act` runs, by every connection. */
async function statementsOf(act: () => Promise<unknown>): Promise<number> {
  const { Client } = jest.requireActual<typeof import('pg')>('pg');
  const asking = jest.spyOn(Client.prototype, 'query');
  try {
    await act();
    return asking.mock.calls.length;
  } finally {
    asking.mockRestore();
  }
}

it('asks the database no more for a window of one asset than before networks went apart', async () => {
  const id = await queued({ ETH: 64 });
  const planned = await statementsOf(() => activities.payoutStep(id, 'ethereum'));
  const signed = await statementsOf(() => signer.signPayouts(id, 'ethereum'));
  await mine(id);
  const booked = await statementsOf(() => activities.payoutStep(id, 'ethereum'));
  // Two of them make the row of a wallet which is new.
  for (const [count, most] of [
    [planned, 34],
    [signed, 25],
    [booked, 93],
  ] as const)
    expect(count).toBeLessThanOrEqual(most);
});
