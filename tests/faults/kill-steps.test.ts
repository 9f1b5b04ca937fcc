import { World, type Invoice, type Shop } from '../world';

/** The steps of a payment at which a process dies, exactly there: SIGKILL from inside, restart after two seconds. Each
 *  payment reaches its end, once, with clean books. */
const restartAfterMs = 2000;
let world: World;
let shop: Shop;

beforeAll(async () => {
  // Without the sweeper, so that tokens take the steps of a top-up.
  world = await World.start({ restartAfterMs, env: { FAIL_POINTS: 'true', ETH_SWEEPER_CONTRACT: '' } });
  shop = await world.shop();
}, 240_000);
afterAll(() => world?.stop(), 60_000);

const pay = (invoice: Invoice) => world.payer.pay(invoice.currency!, invoice.address, String(invoice.amount));

/** Everything that must hold when a payment has settled, whatever died on the way. */
async function settlesOnce(invoice: Invoice, before: string): Promise<void> {
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: invoice.currency, ms: 150_000 });
  expect(settled.amountPaid).toBe(invoice.amount);
  const [credited] = await world.db.query(
    `SELECT (amount - $3::numeric)::float8 AS amount FROM balance WHERE account = $1 AND asset = $2`,
    [`L:available:${shop.id}`, invoice.currency, before],
  );
  expect(credited.amount).toBeCloseTo(settled.netAmount, 9);
  await world.until(
    'its events are delivered',
    async () =>
      !(
        await world.db.query(
          `SELECT FROM delivery d JOIN event e ON e.id = d.event_id WHERE e.entity_id = $1 AND d.status <> 'succeeded'`,
          [invoice.id],
        )
      ).length,
    90_000, // a claim that died with its process ends after half a minute
  );
  const counted = new Set(world.eventsOf(invoice.id).map((event) => event.id));
  const [{ made }] = await world.db.query('SELECT count(*)::int AS made FROM event WHERE entity_id = $1', [invoice.id]);
  expect(counted.size).toBe(made);
  const mined = await world.db.query(
    `SELECT intent_id FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.payment_id = $1
       AND a.status = 'final'`,
    [invoice.id],
  );
  const intents = await world.db.query('SELECT id FROM intent WHERE payment_id = $1', [invoice.id]);
  expect(mined).toHaveLength(intents.length);
}
async function isClean(): Promise<void> {
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  expect(await world.audit()).toEqual([]);
}
const balanceOf = async (currency: string): Promise<string> => (await world.balance(shop, currency)).balance;

/** Some at a time. */
const together = [
  [
    ['A1', 'create.beforeCommit', 'ETH'],
    ['A5', 'follower.beforeCommit', 'BTC'],
    ['A9', 'gas.afterStore', 'USDT_ERC20'],
  ],
  [
    ['A2, A3', 'create.afterCommit', 'ETH'],
    ['A6', 'follower.afterCommit', 'BTC'],
    ['A10', 'gas.afterSend', 'USDT_ERC20'],
  ],
  [
    ['A7', 'move.afterCommit', 'ETH'],
    ['A11', 'sweep.afterStore', 'BTC'],
    ['A14', 'webhook.afterPost', 'USDT_ERC20'],
  ],
  [
    ['A8', 'confirm.afterPost', 'ETH'],
    ['A12', 'sweep.afterSend', 'USDT_ERC20'],
    ['A13', 'settle.afterCommit', 'BTC'],
    ['A14', 'webhook.afterClaim', 'USDC_ERC20'],
  ],
];

it.each(together.map((cases) => ({ cases, names: cases.map(([row, point]) => `${row} at ${point}`).join('; ') })))(
  'killed for $names: each payment settles once',
  async ({ cases }) => {
    const before = new Map<string, string>();
    for (const [, , currency] of cases) before.set(currency!, await balanceOf(currency!));
    for (const [, point] of cases) await world.arm(point!);
    await Promise.all(
      cases.map(async ([, , currency]) => {
        const invoice = await world.invoice(shop, { amount: 25, currency });
        await pay(invoice);
        await settlesOnce(invoice, before.get(currency!)!);
      }),
    );
    expect(await world.armed()).toEqual([]);
    await isClean();
  },
  240_000,
);

it.each(['select.beforeCommit', 'select.afterCommit'])(
  'A4: killed at %s, exactly one address is current',
  async (point) => {
    const before = await balanceOf('ETH');
    const opened = await world.invoice(shop, { amount: 25 });
    await world.arm(point);
    await world.until(
      'the choice is taken',
      async () => {
        const answer = await world
          .call(null, 'POST', `/invoice/${opened.slug}/select-currency`, { currency: 'ETH' })
          .catch(() => null);
        return answer?.status === 200;
      },
      60_000,
    );
    const payment = await world.payment(shop, opened.id);
    expect(await world.armed()).toEqual([]);
    const addresses = await world.db.query('SELECT address FROM address WHERE payment_id = $1', [opened.id]);
    expect(addresses).toEqual([{ address: payment.publicKey }]);
    const invoice: Invoice = { ...opened, currency: 'ETH', address: payment.publicKey, amount: payment.amount };
    await pay(invoice);
    await settlesOnce(invoice, before);
    await isClean();
  },
);

it('A15: expiry and deposit in the same second leave the money with an allocation', async () => {
  for (let round = 0; round < 5; round += 1) {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
    await world.db.query(`UPDATE payment SET expires_at = clock_timestamp() + interval '1 second' WHERE id = $1`, [
      invoice.id,
    ]);
    const nudge = world.nudge(invoice.id);
    await new Promise((resolve) => setTimeout(resolve, 800 + round * 100));
    await pay(invoice);
    await world.payer.mine('ETH', 1);
    await nudge;
    const parent = await world.sees(shop, invoice.id, ['SETTLED', 'EXPIRED'], { mine: 'ETH' });
    if (parent.status === 'EXPIRED') {
      await world.until(
        'there is a child',
        async () => (await world.payment(shop, invoice.id)).repeatDepositChildIds.length === 1,
      );
      await world.sees(shop, (await world.payment(shop, invoice.id)).repeatDepositChildIds[0], 'SETTLED', {
        mine: 'ETH',
      });
    }
  }
  expect(await world.audit()).toEqual([]);
});

it('fifty equal creates at once give one payment, while a copy of the API dies', async () => {
  await world.stack.add('api');
  const urls = [...world.stack.services].filter(([name]) => name.startsWith('api-')).map(([, part]) => part.url);
  const key = `same-${Date.now()}`;
  const create = async (index: number): Promise<string | null> => {
    for (const end = Date.now() + 90_000; Date.now() < end;) {
      const answer = await fetch(`${urls[index % urls.length]}/api/v1/payments`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${shop.secretKey}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ amount: 10 + index, currency: 'ETH' }),
      }).catch(() => null);
      if (answer?.status === 201) return ((await answer.json()) as { paymentId: string }).paymentId;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    return null;
  };
  await world.arm('create.afterCommit');
  const ids = await Promise.all(Array.from({ length: 50 }, (_, index) => create(index)));
  expect(new Set(ids).size).toBe(1);
  expect(await world.db.query('SELECT count(*)::int AS n FROM payment WHERE idempotency_key = $1', [key])).toEqual([
    { n: 1 },
  ]);
  expect(await world.audit()).toEqual([]);
});
