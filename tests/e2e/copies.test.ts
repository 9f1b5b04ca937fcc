import { World, type Shop } from '../world';

/** Two workers of each role, side by side. */

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await World.start({ miner: true, services: { api: 2, payments: 2, chain: 2, signer: 2 } });
  shop = await world.shop();
}, 240_000);
afterAll(() => world?.stop(), 60_000);

const currencies = ['BTC', 'ETH', 'USDT_ERC20'];
async function payAll(): Promise<string[]> {
  const ids: string[] = [];
  for (const currency of [...currencies, ...currencies]) {
    const invoice = await world.invoice(shop, { amount: 25, currency });
    await world.payer.pay(currency, invoice.address, String(invoice.amount));
    ids.push(invoice.id);
  }
  return ids;
}
const settled = (ids: readonly string[]) =>
  Promise.all(ids.map((id) => world.sees(shop, id, 'SETTLED', { ms: 180_000 })));

it('settle every payment once', async () => {
  await settled(await payAll());
  const sweeps = await world.db.query(
    `SELECT payment_id FROM intent WHERE kind = 'sweep' AND payment_id IS NOT NULL GROUP BY payment_id HAVING count(*) > 1`,
  );
  expect(sweeps).toEqual([]);
  expect(await world.audit()).toEqual([]);
}, 240_000);

it('go on with one of each when the other is killed', async () => {
  const ids = await payAll();
  for (const name of ['payments-1', 'chain-1', 'signer-1']) await world.stack.part(name).kill9();
  await settled(ids);
  expect(await world.audit()).toEqual([]);
}, 240_000);
