import { randomBytes } from 'node:crypto';
import { operate } from '../../api/operator';
import { unguarded } from '../unguarded';
import { startHarness, type Harness, type Shop } from './harness';
import { Person } from './person';
import { settledStory } from './platform-rows';

/** What operators read of the platform's own money: the treasury, and what recoveries have lost. */

const at = '/api/v1/platform';
let h: Harness;
let shop: Shop;
let operator: Person;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  shop = await h.shop();
  operator = await Person.superAdmin(h);
  await h.db.query(
    `INSERT INTO address (network, address, role, key_index)
     VALUES ('ethereum', $1, 'treasury', 0), ('ethereum', $2, 'gas', 0)`,
    [hot, gas],
  );
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const read = async (path: string) => {
  const answer = await operator.get(`${at}/${path}`);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body.data;
};
const shell = (...args: string[]) => operate(h.db, h.api.deps.config, args);
const codeOf = ({ status, body }: { status: number; body: { error: { code: string } } }) => [status, body.error.code];
const hash = () => `0x${randomBytes(32).toString('hex')}`;
const [hot, gas] = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000a2'];
const arrives = (address: string, role: string, amount: string) =>
  h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust, status,
       first_seen_at, confirmed_at, allocation)
       VALUES ('ethereum', $1, 0, $2, $3, 'ETH', $4, $4, false, 'confirmed', now(), now(), 'capital')`,
    [hash(), address, role, amount],
  );

describe('10: the treasury', () => {
  it('says what lies where, against what is owed, as the shell does', async () => {
    await settledStory(h, shop, 'T-1');
    await arrives(hot, 'treasury', '5');
    await arrives(gas, 'gas', '0.25');
    await h.db.query(
      `INSERT INTO reconciliation (currency, height, ledger, arriving, leaving, open, chain, unexplained, details)
       VALUES ('ETH', 90, 5, 0, 0, 0, 4.5, -0.5, '[]')`,
    );
    const told = await read('treasury');
    const eth = told.assets.find(({ currency }: { currency: string }) => currency === 'ETH');
    const [{ owed }] = await h.db.query(
      `SELECT trim_scale(sum(amount))::text AS owed FROM balance WHERE asset = 'ETH' AND account LIKE 'L:%'`,
    );
    expect(eth).toMatchObject({
      owed,
      owedFor: expect.arrayContaining([{ account: 'available', amount: owed }]),
      compared: { height: '90', ledger: '5', chain: '4.5', unexplained: '-0.5' },
    });
    expect(eth.addresses).toEqual([
      { address: hot, role: 'treasury', lane: 'used', free: '5', taken: '0' },
      { address: gas, role: 'gas', lane: 'used', free: '0.25', taken: '0' },
    ]);
    const walletOf = (address: string) =>
      told.wallets.find((wallet: { address: string }) => wallet.address === address);
    expect(walletOf(hot)).toMatchObject({ role: 'treasury', balance: '5', native: 'ETH', gasWanted: null, index: 0 });
    expect(walletOf(gas)).toMatchObject({ role: 'gas', balance: '0.25', waiting: null, behind: 0 });
    expect(Number(walletOf(gas).gasWanted)).toBeGreaterThan(0);
    const printed = await shell('treasury');
    expect(printed).toContain(`${hot}  free 5`);
    expect(printed).toContain(`${gas}  free 0.25`);
  });

  it('names what a wallet waits for, and without a fresh price wants no gas', async () => {
    const tx = hash();
    const intentId = await unguarded(h.db, async (db) => {
      const [intent] = await db.query<Array<{ id: string }>>(
        `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
           owner_kind, owner_id) VALUES ('consolidate', 'c/1', 'ethereum', 'ETH', $1, '[]', 7, 9, 'sent', 'consolidate',
           'c') RETURNING id::text`,
        [hot],
      );
      await db.query(
        `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
           moved_units, outputs, status) VALUES ($1, 1, 'ethereum', $2, '0x', $3, 4, 3, 1, 1, '[]', 'sent')`,
        [intent!.id, tx, hot],
      );
      await db.query(
        `INSERT INTO wallet_sequence (network, address, next_nonce, frozen_at, frozen_reason)
         VALUES ('ethereum', $1, 5, now(), 'drill')
         ON CONFLICT (network, address) DO UPDATE SET next_nonce = 5, frozen_at = now(), frozen_reason = 'drill'`,
        [hot],
      );
      await db.query(`UPDATE network_fee SET taken_at = now() - interval '1 hour'`);
      return intent!.id;
    });
    const { wallets } = await read('treasury');
    const mine = wallets.find((wallet: { address: string }) => wallet.address === hot);
    expect(mine).toMatchObject({
      nextNonce: 5,
      frozenReason: 'drill',
      waiting: { intentId, txId: tx, nonce: 4, kind: 'consolidate', unitPrice: '3', maxUnitPrice: '7' },
    });
    for (const wallet of wallets) expect(wallet.gasWanted).toBeNull();
  });
});

describe('10: recoveries', () => {
  const forgotten = '0x00000000000000000000000000000000000000f1';
  beforeAll(() =>
    unguarded(h.db, async (tx) => {
      await tx.query(`INSERT INTO recovery (epoch, reason) VALUES (1, 'the timeline is another')`);
      for (let n = 1; n <= 3; n += 1)
        await tx.query(
          `INSERT INTO deposit (network, tx_id, out_index, address, role, currency, amount, stated_amount, is_dust,
             status, first_seen_at, confirmed_at, allocation)
             VALUES ('ethereum', $1, 0, $2, 'deposit', 'ETH', $3, $3, false, 'confirmed', now(), now(), 'unclaimed')`,
          [hash(), forgotten, String(n)],
        );
      const lostTx = hash();
      const [intent] = await tx.query<Array<{ id: string }>>(
        `INSERT INTO intent (kind, ref, network, currency, from_address, outputs, max_unit_price, fee_budget, status,
           owner_kind, owner_id, lost_owner_kind, lost_owner_id, lost) VALUES ('lost', 'lost/1', 'ethereum', 'ETH', $1,
           '[]', 1, 1, 'sent', 'lost', 'withdrawal/none', 'withdrawal', 'none', $2) RETURNING id::text`,
        [forgotten, JSON.stringify({ txId: lostTx })],
      );
      await tx.query(
        `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, unit_price, max_fee_units,
           moved_units, outputs, status) VALUES ($1, 1, 'ethereum', $2, '0x', $3, 0, 1, 1, 1, $4, 'sent')`,
        [intent!.id, lostTx, forgotten, JSON.stringify([{ address: forgotten, units: '1000' }])],
      );
    }),
  );

  it('are told with what was signed in the lost time', async () => {
    const told = await read('recoveries');
    expect(told.recoveries).toMatchObject([{ epoch: 1, reason: 'the timeline is another', unwatched: 0 }]);
    expect(told.lost).toMatchObject([
      { ref: 'lost/1', status: 'sent', fate: 'ownerless', outputs: [{ address: forgotten, units: '1000' }] },
    ]);
    expect(told.isCut).toBe(false);
    expect(await shell('recoveries')).toContain(told.lost[0].txId);
  });

  it('list what no payment has, page by page, with the request that gives it to one', async () => {
    const all: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: Array<{ id: string; amount: string; act: string }>; nextCursor: string | null } = await read(
        `unclaimed-deposits?limit=2${cursor && `&cursor=${cursor}`}`,
      );
      expect(page.items.length).toBeLessThanOrEqual(2);
      for (const { amount, act } of page.items) all.push(`${amount} ${act}`);
      cursor = page.nextCursor;
    }
    expect(all).toEqual(['3 claim-address', '2 claim-address', '1 claim-address']);
    for (const query of ['cursor=x', 'limit=0'])
      expect(codeOf(await operator.get(`${at}/unclaimed-deposits?${query}`))).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('are for operators alone, as the treasury is', async () => {
    const admin = await Person.admin(h);
    for (const path of ['treasury', 'recoveries', 'unclaimed-deposits'])
      expect([path, (await admin.get(`${at}/${path}`)).status]).toEqual([path, 403]);
  });
});
