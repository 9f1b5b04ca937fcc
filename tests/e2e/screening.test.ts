import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAddress, type Hex } from 'viem';
import { parseConfig } from '../../domain/config';
import { payerBitcoinKey } from '../../sandbox/secrets';
import { call } from '../../sandbox/parts/json-rpc';
import { runScreening } from '../../workers/screening';
import { World, type Shop } from '../world';

let world: World;
let shop: Shop;
beforeAll(async () => {
  world = await World.start({ env: { AML_PROVIDER: 'list' } });
  shop = await world.shop();
}, 240_000);
afterAll(() => world?.stop(), 60_000);

async function list(rows: readonly string[]): Promise<void> {
  const file = join(world.dataDir, 'list.csv');
  writeFileSync(file, ['network,address,category,score,source', ...rows, ''].join('\n'));
  jest.spyOn(console, 'log').mockReturnValueOnce();
  expect(await runScreening(parseConfig(world.stack.env), ['import', file])).toBe(0);
}
const screen = (id: string) => world.call(shop, 'POST', `/api/v1/payments/${id}/aml-screen`);
const screened = async (id: string, status: string) => {
  await world.until(`the screen is ${status}`, async () => (await world.payment(shop, id)).aml?.status === status);
  return world.payment(shop, id);
};
async function paid(currency: string) {
  const before = await world.balance(shop, currency);
  const invoice = await world.invoice(shop, { amount: 25, currency });
  await world.payer.pay(currency, invoice.address, String(invoice.amount));
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: currency });
  expect((await world.balance(shop, currency)).balance).not.toBe(before.balance);
  return { invoice, settled };
}

it('clears a payment from a sender that nobody lists', async () => {
  const { invoice } = await paid('BTC');
  const payment = await screened(invoice.id, 'clear');
  expect(payment).toMatchObject({ status: 'SETTLED', exceptions: [], aml: { status: 'clear', riskScore: 0 } });
  await world.history(`screening/${invoice.id}`, 'screening-clear');
});

it('settles and credits payments from a listed sender, and flags them', async () => {
  const [account] = await call<Hex[]>(world.chains.ethRpcUrl, 'eth_accounts', []);
  await list([
    `bitcoin,${payerBitcoinKey(world.stack.payerMnemonic).address},sanctions,100,test`,
    `ethereum,${getAddress(account!)},mixer,40,test`,
    `ethereum,${getAddress(account!)},scam,80,test`,
  ]);
  const expected = {
    BTC: { riskScore: 100, categories: ['sanctions'] },
    ETH: { riskScore: 80, categories: ['mixer', 'scam'] },
    USDT_ERC20: { riskScore: 80, categories: ['mixer', 'scam'] },
  };
  for (const [currency, result] of Object.entries(expected)) {
    const { invoice } = await paid(currency);
    const payment = await screened(invoice.id, 'flagged');
    expect(payment).toMatchObject({
      status: 'SETTLED',
      exceptions: ['amlFlagged'],
      aml: { riskScore: result.riskScore },
    });

    await world.until('the event is delivered', () =>
      world.eventsOf(invoice.id).some(({ type }) => type === 'payment.aml_screened'),
    );
    const told = world.eventsOf(invoice.id).filter(({ type }) => type === 'payment.aml_screened');
    expect(told).toHaveLength(1);
    expect(told[0]!.data).toMatchObject({ aml: payment.aml, exceptions: ['amlFlagged'] });

    const asked = await screen(invoice.id);
    expect(asked).toMatchObject({
      status: 200,
      body: { ok: true, data: { status: 'flagged', riskBand: 'severe', severity: 'severe', ...result } },
    });
    expect(await world.payment(shop, invoice.id)).toMatchObject({
      stateVersion: payment.stateVersion + 1,
      aml: { status: 'flagged', riskScore: result.riskScore, checkedAt: asked.body.data.checkedAt },
    });
    const seen = (await world.call(null, 'GET', `/getInvoiceStatus?invoiceId=${invoice.slug}`)).body;
    expect(seen).toMatchObject({ status: 'SETTLED', exceptions: [] });
    if (currency === 'BTC') {
      await world.history(`screening/${invoice.id}`, 'screening-flagged');
      await world.history(`screening/${invoice.id}/asked`, 'screening-asked');
    }
  }
});

it('answers for a payment without money, and the last result while nobody works', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  const first = await screen(invoice.id);
  expect(first.body.data).toMatchObject({ status: 'unavailable', reason: 'There is no deposit to trace' });
  expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
  const other = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  const workers = [...world.stack.services.keys()].filter((name) => name.startsWith('payments'));
  for (const name of workers) await world.stack.part(name).stop();
  try {
    const began = Date.now();
    expect(await screen(invoice.id)).toMatchObject({ status: 200, body: first.body });
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(await screen(other.id)).toMatchObject({ status: 503, body: { error: { code: 'OUTCOME_UNKNOWN' } } });
  } finally {
    for (const name of workers) await world.stack.part(name).start();
  }
});

it('moves no money: the books and the chains agree', async () => {
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
  expect(await world.db.query('SELECT FROM aml_due')).toEqual([]);
});
