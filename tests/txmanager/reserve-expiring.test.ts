/** @jest-environment node */
import { noteReserves } from '../../activities/chains/reserves';
import { xrplPlanning } from '../../chains/xrpl/planning';
import { treasurySources } from '../../db/treasury/treasury';
import { xrplNetwork } from '../chain/expiring-networks';
import type { ExpiringShop } from './expiring-shop';
import { XrplStage } from './xrpl-stage';

/** What an account of the XRP Ledger must hold is read from the node and never planned with. The books have 1,000 XRP,
 *  and the account as much. */

const network = xrplNetwork.id;
let stage: XrplStage;
let shop: ExpiringShop;
beforeAll(async () => {
  stage = await XrplStage.start();
});
beforeEach(async () => {
  shop = await stage.open();
});
afterEach(async () => {
  await stage.net.order({ order: 'owns', account: shop.treasury, count: 0 });
  await stage.net.close();
  await shop.stop();
});
afterAll(() => stage?.end());

const free = (): Promise<bigint> =>
  shop.db.transaction(async (tx) => (await treasurySources(tx, 'XRP')).find(({ lane }) => lane !== null)!.free);
const look = (): Promise<void> =>
  noteReserves({ db: shop.db, adapter: { network, ...xrplPlanning(xrplNetwork, stage.net.node) } });
const planned = async (amount: string): Promise<unknown> =>
  shop.activities.nextWithdrawalIntent(await shop.request(stage.payee.address, amount, '7'));

it('leaves what the node says, and tells in the words of other shortages what is missing', async () => {
  expect(await free()).toBe(999_000_000n);
  const reason = 'the treasury has 999 XRP free of the 999.50002 that it takes';
  expect(await planned('999.5')).toMatchObject({ reason });
  const [incident] = await shop.db.query(`SELECT details FROM incident WHERE kind = 'treasury-low'`);
  expect(incident.details).toMatchObject({ currency: 'XRP', needed: '999.50002', free: '999' });
  expect(await shop.db.query('SELECT FROM intent')).toEqual([]);
});

it('plans up to it, with twice the fee', async () => {
  expect(await planned('998.99999')).toMatchObject({ reason: expect.stringContaining('999.00001') });
  expect(await planned('0.99998')).toMatchObject({ id: expect.any(String) });
});

it('grows with what the account owns', async () => {
  await stage.net.order({ order: 'owns', account: shop.treasury, count: 3 });
  await stage.net.close();
  await look();
  expect(await free()).toBe(998_400_000n);
});

it('is all that there is while nobody has asked the node', async () => {
  await shop.db.query('DELETE FROM address_reserve');
  expect(await free()).toBe(0n);
  expect(await planned('1')).toMatchObject({ reason: 'the treasury has 0 XRP free of the 1.00002 that it takes' });
  await look();
  expect(await free()).toBe(999_000_000n);
});
