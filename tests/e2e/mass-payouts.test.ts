import { randomBytes } from 'node:crypto';
import { createCodecs } from '../../chains/codecs';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { parseConfig } from '../../domain/config';
import { add, subtract, toUnits } from '../../domain/money';
import { call } from '../../sandbox/parts/json-rpc';
import { Visitor } from '../../sandbox/visitor';
import { creditFromCapital } from '../credit-from-capital';
import { World, type Answer } from '../world';

/** Many payments at once, on real chains: each address gets exactly what its row says, once, and the books agree to the
 *  last digit. */

const path = '/api/v1/mass-payouts';
let world: World;
let ann: Visitor;
let userId: string;
let merchantId: string;
const currencies = ['BTC', 'ETH', 'USDT_ERC20'] as const;
type Currency = (typeof currencies)[number];
const decimals: Record<Currency, number> = { BTC: 8, ETH: 18, USDT_ERC20: 6 };

beforeAll(async () => {
  world = await World.start({ miner: true, env: { FAIL_POINTS: 'true' }, restartAfterMs: 2000 });
  const config = parseConfig(world.stack.env);
  ann = new Visitor(
    { apiUrl: world.stack.apiUrl, dashboardUrl: config.DASHBOARD_URL, mailUrl: world.stack.mail.url },
    'ann@payouts.example',
    'Correct-Horse-7',
  );
  await ann.register('Payouts');
  ({ merchantId, id: userId } = await ann.enrol());
  // The platform's own money, credited to the merchant but for what fees may come to beyond their estimates.
  for (const [currency, amount] of [
    ['BTC', '2.1'],
    ['ETH', '20.1'],
    ['USDT_ERC20', '5000'],
  ] as const) {
    await world.payIn(currency, amount);
  }
  for (const [currency, amount] of [
    ['BTC', '2'],
    ['ETH', '20'],
    ['USDT_ERC20', '5000'],
  ] as const)
    await creditFromCapital(world.db, merchantId, currency, amount);
});
afterAll(() => world?.stop(), 60_000);
afterEach(async () => expect(await world.audit()).toEqual([]), 60_000);

/** A new address on the whitelist. */
async function listed(currency: Currency, known?: string): Promise<string> {
  const { bitcoin, ethereum } = createCodecs(parseConfig(world.stack.env).chain);
  const address =
    known ??
    (currency === 'BTC'
      ? bitcoin.derive(bitcoin.extendedKey(randomBytes(64), 'deposit'), 0)
      : ethereum.normalise(`0x${randomBytes(20).toString('hex')}`)!);
  await addToWhitelist(
    world.db.manager,
    merchantId,
    { id: userId, email: ann.email },
    {
      type: 'wallet',
      currency,
      address,
      destinationTag: null,
    },
  );
  return address;
}
async function held(currency: Currency, address: string): Promise<bigint> {
  if (currency === 'ETH')
    return BigInt(await call<string>(world.stack.anvil.url, 'eth_getBalance', [address, 'latest']));
  if (currency === 'BTC') {
    const [row] = await world.db.query(
      `SELECT coalesce(sum((o->>'units')::numeric), 0)::text AS units FROM attempt a
         CROSS JOIN jsonb_array_elements(a.outputs) o
        WHERE a.status = 'final' AND a.success AND o->>'address' = $1`,
      [address],
    );
    return BigInt(row.units);
  }
  const data = `0x70a08231${address.slice(2).toLowerCase().padStart(64, '0')}`; // balanceOf
  const to = world.stack.tokens[currency];
  return BigInt(await call<string>(world.stack.anvil.url, 'eth_call', [{ to, data }, 'latest']));
}
type Row = { currency: Currency; address: string; amount: string };
const rowsOf = (each: number, amounts: Record<Currency, string>): Promise<Row[]> =>
  Promise.all(
    Array.from({ length: each * currencies.length }, async (_, n) => {
      const currency = currencies[n % currencies.length]!;
      return { currency, address: await listed(currency), amount: amounts[currency] };
    }),
  );
const queued = async (rows: Row[]): Promise<Answer['body']> =>
  (await ann.post(path, { rows, totpCode: await ann.totpCode() })).body.data;
const queue = async (rows: Row[]): Promise<string> => (await queued(rows))._id;
const read = async (id: string): Promise<Answer['body']> => (await ann.call('GET', `${path}/${id}`)).body.data;
async function ends(id: string, ms = 240_000): Promise<Answer['body']> {
  await world.until(`payout ${id} has ended`, async () => (await read(id)).completedAt !== null, ms);
  return read(id);
}
const balances = async (): Promise<Record<string, { balance: string; reserved: string }>> =>
  Object.fromEntries(
    (await ann.call('GET', '/api/v1/ledger/balances')).body.balances.map((one: { currency: string }) => [
      one.currency,
      one,
    ]),
  );
type Line = Row & { status: string; netToDestination: string; networkFee: string; txId: string };
/** What each line says is what its address has. */
async function checkLines(lines: readonly Line[]): Promise<void> {
  for (const line of lines) {
    const net = line.status === 'completed' ? toUnits(line.netToDestination, decimals[line.currency]) : 0n;
    expect([line.address, await held(line.currency, line.address)]).toEqual([line.address, net]);
  }
}

it('thirty payments in three currencies arrive exactly, and so says the ledger', async () => {
  const before = await balances();
  const rows = await rowsOf(10, { BTC: '0.0123456789', ETH: '0.123456789012345678', USDT_ERC20: '12.345678' });
  const { data } = (await ann.post(`${path}/validate`, { rows })).body;
  expect(data.canSubmit).toBe(true);
  const { _id: id, totalsByCurrency, feeByCurrency } = await queued(rows);
  expect(totalsByCurrency).toEqual(data.totalsByCurrency);
  const done = await ends(id);
  expect([done.status, done.counts.completed]).toEqual(['completed', 30]);
  // The fee is that of the moment at which it was queued: the network's price may have moved since it was checked.
  expect([done.totalsByCurrency, done.feeByCurrency]).toEqual([totalsByCurrency, feeByCurrency]);
  await checkLines(done.legs);
  const after = await balances();
  for (const currency of currencies) {
    expect(after[currency]).toMatchObject({
      balance: subtract(before[currency]!.balance, data.totalsByCurrency[currency]),
      reserved: '0',
    });
    const lines = (done.legs as Line[]).filter((line) => line.currency === currency);
    expect(add('0', ...lines.map((line) => add(line.netToDestination, line.networkFee)))).toBe(
      data.totalsByCurrency[currency],
    );
  }
  expect(new Set((done.legs as Line[]).filter((line) => line.currency === 'BTC').map((line) => line.txId)).size).toBe(
    1,
  );
  const entries = (await ann.call('GET', `/api/v1/ledger/history?sourceId=${id}&type=payout_leg&limit=100`)).body.items;
  expect(entries).toHaveLength(30);
  const { events } = await world.history(`payout-batch/${id}`, 'payoutBatch-mixed');
  expect(events).toBeLessThan(500);
}, 400_000);

it('cancelled in the middle: each hold is captured or released, never both', async () => {
  let before = await balances();
  let id = '';
  let back: { refundedLegs: number; sentLegs: number } | undefined;
  // Where all were signed before the call came: once more.
  for (let round = 0; !back?.refundedLegs && round < 5; round += 1) {
    before = await balances();
    id = await queue(await rowsOf(10, { BTC: '0.002', ETH: '0.02', USDT_ERC20: '2' }));
    await world.until('some are signed', async () => (await read(id)).status !== 'queued');
    back = await ann.post(`${path}/${id}/cancel`).then(
      ({ body }) => body.data,
      () => undefined,
    );
    if (!back?.refundedLegs) await ends(id);
  }
  if (!back) throw new Error('Each was signed whole before it could be cancelled');
  expect(back.refundedLegs + back.sentLegs).toBe(30);
  expect(back.refundedLegs).toBeGreaterThan(0);
  const done = await ends(id);
  expect([done.status, done.counts.completed, done.counts.refunded]).toEqual([
    'partially_completed',
    back.sentLegs,
    back.refundedLegs,
  ]);
  await checkLines(done.legs);
  const after = await balances();
  for (const currency of currencies) {
    const sent = (done.legs as Line[]).filter((line) => line.currency === currency && line.status === 'completed');
    expect(after[currency]).toMatchObject({
      balance: subtract(before[currency]!.balance, add('0', ...sent.map((line) => line.amount))),
      reserved: '0',
    });
  }
  await world.history(`payout-batch/${id}`, 'payoutBatch-cancelled');
}, 400_000);

it('an address that refuses it gets nothing, its money is back; a worker that dies sends nothing twice', async () => {
  const before = await balances();
  // A contract that takes no plain transfers: the deployer that every anvil has.
  const refusing = await listed('ETH', '0x4e59b44847b379578588920cA78FbF26c0B4956C');
  const rows: Row[] = [
    { currency: 'ETH', address: refusing, amount: '0.01' },
    { currency: 'ETH', address: await listed('ETH'), amount: '0.02' },
    { currency: 'ETH', address: await listed('ETH'), amount: '0.03' },
  ];
  const points = [
    ...['payout.beforeCommit', 'payout.afterCommit'], // the API
    ...['sign.beforeCommit', 'leg.afterStore', 'leg.afterSend', 'payout.beforeBooked'], // the workers
  ];
  for (const point of points) await world.arm(point);
  // The same request until it is answered: before the commit the factor is not spent, after it the batch is there.
  const emailCode = await ann.emailCode(`${path}/send-email-code`);
  const body = { rows, idempotencyKey: 'again-and-again', emailCode };
  const answers: string[] = [];
  let id = '';
  await world
    .until(
      'it is answered',
      () =>
        ann.post(path, body).then(
          (made) => {
            answers.push(`${made.status}`);
            id = made.body.data._id;
            return true;
          },
          (error: Error) => {
            answers.push(error.message);
            return false;
          },
        ),
      60_000,
    )
    .catch((error: Error) => answers.push(error.message));
  expect(answers.at(-1)).toBe('201'); // the first answer was lost, and is given again
  for (const said of answers.slice(0, -1)) expect(said).toMatch(/fetch failed|: 503 /);
  expect(await world.db.query('SELECT FROM payout_batch WHERE idempotency_key IS NOT NULL')).toHaveLength(1);
  const done = await ends(id);
  expect(await world.armed()).toEqual([]);
  expect(done.status).toBe('partially_completed');
  expect(done.legs.map((line: Line) => line.status)).toEqual(['failed', 'completed', 'completed']);
  expect(done.legs[0].merchantMessage).toContain('reverted');
  await checkLines(done.legs.slice(1));
  const after = await balances();
  expect(after.ETH).toMatchObject({ balance: subtract(before.ETH!.balance, '0.05'), reserved: '0' });
  const [books] = await world.db.query(`SELECT count(*)::int AS n FROM egress_freeze`);
  expect(books.n).toBe(0);
  const [reconciled] = await world.db.query(
    `SELECT count(*)::int AS n FROM reconciliation WHERE unexplained = 0 AND currency = ANY($1)`,
    [currencies],
  );
  expect(reconciled.n).toBe(3);
}, 400_000);
