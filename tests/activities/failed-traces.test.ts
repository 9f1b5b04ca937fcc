import { call } from '../../sandbox/parts/json-rpc';
import { FollowedChain, depth, type Invoice } from './followed-chain';

/** Ether that contracts send is found where a trace fails, and where there are none. */

let chain: FollowedChain;
beforeAll(async () => {
  chain = await FollowedChain.start();
});
afterAll(() => chain?.stop());
beforeEach(async () => {
  chain.proxy.heal();
  chain.restart();
  await chain.db.query('DELETE FROM incident');
});

const refusing = (code: number, message: string) => ({
  kind: 'rewrite' as const,
  answer: () => ({ jsonrpc: '2.0', id: 1, error: { code, message } }),
});
/** What geth says of a block that it has left the state of. */
const noState = refusing(-32000, 'missing trie node 0xab (path ) state 0xab is not available, not found');
const noMethod = refusing(-32601, 'the method debug_traceBlockByHash does not exist/is not available');
const tracing = ['debug_traceBlockByHash'];

async function payThroughContract(invoice: Invoice, amount = invoice.amount): Promise<string> {
  const { txId } = await chain.payer.payThroughContract(invoice.address, amount);
  await chain.mine();
  return txId;
}
const open = async (): Promise<string[]> =>
  (await chain.incidents()).filter((one) => one.resolved_at === null).map((one) => one.kind);
/** What waits to be read again is due. */
const due = (): Promise<unknown> => chain.db.query('UPDATE untraced_block SET next_try_at = now()');
const failOften = (): Promise<unknown> => chain.db.query('UPDATE untraced_block SET tries = 3');
/** The time of these ends with the newest block. By the chain's clock: anvil's may be seconds behind ours. */
async function expire(...invoices: Invoice[]): Promise<void> {
  const { timestamp } = await call<{ timestamp: string }>(chain.node.url, 'eth_getBlockByNumber', ['latest', false]);
  await chain.db.query('UPDATE payment SET expires_at = to_timestamp($2) WHERE id = ANY($1)', [
    invoices.map(({ id }) => id),
    BigInt(timestamp).toString(),
  ]);
}

describe('B3: a trace that is refused', () => {
  it('is read again, and what is in it is credited', async () => {
    const invoice = await chain.invoice();
    await chain.db.query(`UPDATE payment SET status = 'EXPIRED', state_version = 99 WHERE id = $1`, [invoice.id]);
    // The contract has a block of its own.
    await payThroughContract(await chain.invoice());
    await chain.look();
    chain.proxy.arm(noState, tracing, 1);
    await payThroughContract(invoice);
    await chain.look();
    expect(await chain.deposits(invoice)).toEqual([]);
    expect(await open()).toEqual(['untraced-block']);
    await due();
    await chain.look();
    expect(await chain.deposits(invoice)).toMatchObject([{ status: 'mined', amount: '1', foundBy: 'transfer' }]);
    expect(await open()).toEqual([]);
    // And no block after it was left out.
    const next = await chain.invoice();
    await payThroughContract(next);
    await chain.look();
    expect(await chain.deposits(next)).toMatchObject([{ amount: '1', foundBy: 'transfer' }]);
    await chain.mine(depth);
    await chain.look();
    expect(await chain.advance(next)).toMatchObject({ status: 'CONFIRMED' });
    expect(await chain.deposits(invoice)).toMatchObject([{ status: 'confirmed' }]);
  });

  it('for ever is found by balance, on addresses of ended payments too, once', async () => {
    const [invoice, ended] = [await chain.invoice(), await chain.invoice()];
    await chain.db.query(`UPDATE payment SET status = 'EXPIRED', state_version = 99 WHERE id = $1`, [ended.id]);
    chain.proxy.arm(noState, tracing);
    await payThroughContract(invoice);
    await payThroughContract(ended);
    await chain.look();
    await failOften();
    await chain.look();
    await chain.look();
    for (const one of [invoice, ended])
      expect(await chain.deposits(one)).toMatchObject([{ amount: '1', foundBy: 'balance' }]);
    expect(await open()).toEqual([]);
    await chain.mine(depth);
    await chain.look();
    expect(await chain.advance(invoice)).toMatchObject({ status: 'CONFIRMED', txIds: [] });
  });

  it('and is read after its money was found by balance brings nothing new', async () => {
    const invoice = await chain.invoice();
    chain.proxy.arm(noState, tracing);
    const txId = await payThroughContract(invoice);
    await chain.look();
    expect(await chain.deposits(invoice)).toMatchObject([{ amount: '1', foundBy: 'balance' }]);
    expect(await chain.advance(invoice)).toMatchObject({ txIds: [] });
    chain.proxy.heal();
    chain.restart();
    await due();
    for (let n = 0; n < 5; n += 1) await chain.look();
    expect(await chain.deposits(invoice)).toMatchObject([{ amount: '1', foundBy: 'balance' }]);
    const identified = await chain.db.query(
      'SELECT tx_id, trim_scale(amount)::text AS amount FROM identified_transfer WHERE tx_id = $1',
      [txId],
    );
    expect(identified).toEqual([{ tx_id: txId, amount: '1' }]);
    expect(await chain.advance(invoice)).toMatchObject({ txIds: [txId], amountPaid: 1 });
  });

  it('lets no invoice expire before its balance was looked at, of the time that it had', async () => {
    const [paid, unpaid, late] = [await chain.invoice(), await chain.invoice(), await chain.invoice()];
    chain.proxy.arm(noState, tracing);
    await payThroughContract(paid);
    await expire(paid, unpaid, late);
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await payThroughContract(late);
    chain.proxy.arm(refusing(-32000, 'header not found'), ['eth_getBalance']);
    await chain.look();
    for (const one of [paid, unpaid, late]) expect((await chain.advance(one)).status).toBe('WAITING');
    chain.proxy.heal();
    chain.proxy.arm(noState, tracing);
    await chain.look();
    expect(await chain.advance(paid)).toMatchObject({ status: 'CONFIRMING', amountPaid: 1 });
    expect(await chain.advance(unpaid)).toMatchObject({ status: 'EXPIRED' });
    expect(await chain.advance(late)).toMatchObject({ status: 'EXPIRED', amountPaid: 0 });
  });
});

describe('B3: a node without traces', () => {
  it('is an incident, and open invoices are looked at by balance every few blocks', async () => {
    const invoice = await chain.invoice();
    chain.proxy.arm(noMethod, tracing);
    await payThroughContract(invoice);
    for (let n = 0; n < 2; n += 1) await chain.look();
    expect(await open()).toEqual(['traces-off']);
    expect(chain.proxy.hits.filter((method) => method === tracing[0]).length).toBeGreaterThan(0);
    expect(await chain.deposits(invoice)).toMatchObject([{ amount: '1', foundBy: 'balance' }]);
    const next = await chain.invoice();
    await chain.look();
    await payThroughContract(next);
    await chain.look();
    expect(await chain.deposits(next)).toEqual([]);
    await chain.mine(5);
    await chain.look();
    expect(await chain.deposits(next)).toMatchObject([{ amount: '1', foundBy: 'balance' }]);
    // A node that traces again ends it.
    chain.proxy.heal();
    chain.restart();
    await payThroughContract(await chain.invoice());
    await chain.look();
    expect(await open()).toEqual([]);
  });

  it('lets nothing expire that was paid in time', async () => {
    chain.proxy.arm(noMethod, tracing);
    await payThroughContract(await chain.invoice());
    const [paid, unpaid] = [await chain.invoice(), await chain.invoice()];
    await chain.look();
    await payThroughContract(paid);
    await expire(paid, unpaid);
    for (let n = 0; n < 3; n += 1) await chain.look();
    expect(await chain.advance(paid)).toMatchObject({ status: 'CONFIRMING', amountPaid: 1 });
    expect(await chain.advance(unpaid)).toMatchObject({ status: 'EXPIRED' });
  });
});

describe('B3: the scan by balance', () => {
  it('asks for so many balances at a look, and goes on where it was after a restart', async () => {
    const many = 450;
    await chain.db.query(
      `INSERT INTO address (network, address, role, key_index, created_at)
       SELECT 'ethereum', '0x' || lpad(to_hex(n), 40, '0'), 'deposit', 100000 + n, now() - interval '1 hour'
         FROM generate_series(1, $1::int) n`,
      [many],
    );
    await call(chain.node.url, 'anvil_setBalance', [`0x${many.toString(16).padStart(40, '0')}`, '0xde0b6b3a7640000']);
    chain.proxy.arm(noState, tracing);
    await payThroughContract(await chain.invoice());
    await chain.look();
    await failOften();
    chain.proxy.heal();
    chain.proxy.arm(noState, tracing);
    chain.proxy.arm({ kind: 'delay', ms: 0 }, ['eth_getBalance']);
    const asked = (): number => chain.proxy.hits.filter((method) => method === 'eth_getBalance').length;
    let looks = 0;
    for (let before = asked(); (await open()).includes('untraced-block'); before = asked()) {
      chain.restart();
      await chain.look();
      expect(asked() - before).toBeLessThanOrEqual(200);
      expect((looks += 1)).toBeLessThan(10);
    }
    expect(looks).toBeGreaterThan(2);
    const found = await chain.db.query(
      `SELECT trim_scale(amount)::text AS amount FROM deposit WHERE address = '0x' || lpad(to_hex($1::int), 40, '0')`,
      [many],
    );
    expect(found).toEqual([{ amount: '1' }]);
  });
});
