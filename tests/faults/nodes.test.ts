import { randomBytes } from 'node:crypto';
import { createCodecs } from '../../chains/adapters';
import { addToWhitelist } from '../../db/wallets/whitelist';
import { parseConfig } from '../../domain/config';
import { assetOf } from '../../domain/chains/assets';
import { toUnits } from '../../domain/money';
import { reorgEthereum } from '../../sandbox/chain-tools';
import { bitcoinCall, mineBitcoin } from '../../sandbox/miner';
import { call } from '../../sandbox/parts/json-rpc';
import { creditFromCapital } from '../credit-from-capital';
import { RpcProxy } from './rpc-proxy';
import { World, type Invoice, type Shop } from '../world';

/** Nodes that lose answers, answer twice, are slow, ill or gone: real proxies in front of real nodes. Faults: D. */
jest.setTimeout(150_000);
let world: World;
let shop: Shop;
let ethereum: RpcProxy;
let bitcoin: RpcProxy;
/** Somebody took money of ours: the books can no longer agree with the chain, and the audit says so. */
let isRobbed = false;

beforeAll(async () => {
  world = await World.start({
    // Tokens by top-ups: more transactions to lose.
    env: { ETH_SWEEPER_CONTRACT: '' },
    between: async (stack) => {
      ethereum = await RpcProxy.before(stack.anvil.url);
      bitcoin = await RpcProxy.before(stack.btcd.url);
      return { ETH_RPC_URL: ethereum.url, BTC_RPC_URL: bitcoin.url };
    },
  });
  shop = await world.shop();
}, 240_000);
afterAll(async () => {
  await world?.stop();
  await ethereum?.close();
  await bitcoin?.close();
}, 60_000);
afterEach(async () => {
  ethereum.heal();
  bitcoin.heal();
  await world.until('the outbox is empty', async () => !(await world.db.query('SELECT FROM temporal_request')).length);
  if (!isRobbed) expect(await world.audit()).toEqual([]);
});

const pay = (invoice: Invoice) => world.payer.pay(invoice.currency!, invoice.address, String(invoice.amount));
const attemptsOf = (id: string): Promise<Array<{ kind: string; status: string }>> =>
  world.db.query(
    `SELECT i.kind, a.status FROM attempt a JOIN intent i ON i.id = a.intent_id WHERE i.payment_id = $1 ORDER BY a.id`,
    [id],
  );

it.each([
  ['the answer to a broadcast is lost', 'USDT_ERC20', { kind: 'dropAfter' }],
  ['a broadcast is refused with 503 after it was taken', 'ETH', { kind: 'status', status: 503, after: true }],
  ['a broadcast arrives twice', 'ETH', { kind: 'duplicate' }],
  ['the answer to a broadcast is lost', 'BTC', { kind: 'dropAfter' }],
  ['a broadcast never arrives at first', 'BTC', { kind: 'dropBefore' }],
] as const)('%s (%s): one transaction moves the money', async (_what, currency, fault) => {
  const proxy = currency === 'BTC' ? bitcoin : ethereum;
  const method = currency === 'BTC' ? 'sendrawtransaction' : 'eth_sendRawTransaction';
  const hits = proxy.hits.length;
  proxy.arm(fault, [method], 2);
  const invoice = await world.invoice(shop, { amount: 25, currency });
  await pay(invoice);
  await world.sees(shop, invoice.id, 'SETTLED', { mine: currency, ms: 90_000 });
  expect(proxy.hits.length).toBeGreaterThan(hits);
  const attempts = await attemptsOf(invoice.id);
  expect(attempts.map((attempt) => attempt.status)).toEqual(attempts.map(() => 'final'));
  expect(attempts.map((attempt) => attempt.kind)).toEqual(currency === 'USDT_ERC20' ? ['gas', 'sweep'] : ['sweep']);
});

it('loses no payment to a node of which every third call fails and the rest are slow', async () => {
  let calls = 0;
  const flaky = setInterval(() => {
    ethereum.heal();
    calls += 1;
    if (calls % 3 === 0) ethereum.arm({ kind: 'status', status: 503 }, [], 3);
    else ethereum.arm({ kind: 'delay', ms: 300 }, [], 4);
  }, 100);
  try {
    const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
    await pay(invoice);
    await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 100_000 });
  } finally {
    clearInterval(flaky);
  }
});

it('does not expire an invoice that was paid in time while the node could not be reached', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  ethereum.arm({ kind: 'dropBefore' });
  await world.db.query(`UPDATE payment SET expires_at = clock_timestamp() + interval '15 seconds' WHERE id = $1`, [
    invoice.id,
  ]);
  await pay(invoice);
  await world.payer.mine('ETH', 1);
  await world.nudge(invoice.id);
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
  ethereum.heal();
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 90_000 });
});

/** While blocks come. */
async function mining<T>(currency: string, act: () => Promise<T>): Promise<T> {
  const miner = setInterval(() => void world.payer.mine(currency, 1).catch(() => undefined), 700);
  try {
    return await act();
  } finally {
    clearInterval(miner);
  }
}

it('pays the lines of a mass payout on one network while the node of another is away', async () => {
  const ann = world.visitor('ann@payouts.example');
  await ann.register('Payouts');
  const { merchantId, id: userId } = await ann.enrol();
  const codecs = createCodecs(parseConfig(world.stack.env).chain);
  const to = { BTC: codecs.bitcoin, ETH: codecs.ethereum };
  const rows = [];
  for (const [currency, amount, lines] of [
    ['BTC', '0.01', 2],
    ['ETH', '0.01', 70],
  ] as const) {
    await mining(currency, () => world.payIn(currency, '2', 90_000));
    await creditFromCapital(world.db, merchantId, currency, '1.5');
    const address = to[currency].derive(to[currency].extendedKey(randomBytes(64), 'deposit'), 0);
    const entry = { type: 'wallet', currency, address, destinationTag: null } as const;
    await addToWhitelist(world.db.manager, merchantId, { id: userId, email: ann.email }, entry);
    rows.push(...Array.from({ length: lines }, () => ({ currency, address, amount })));
  }
  bitcoin.arm({ kind: 'dropBefore' });
  const { body } = await ann.post('/api/v1/mass-payouts', { rows, totpCode: await ann.totpCode() });
  const id: string = body.data._id;
  const ended = (currency: keyof typeof to) =>
    mining(currency, () =>
      world.until(
        `the lines in ${currency} have arrived`,
        async () => {
          const open = `SELECT FROM payout_leg WHERE batch_id = $1 AND currency = $2 AND status <> 'completed'`;
          return !(await world.db.query(open, [id, currency])).length;
        },
        90_000,
      ),
    );
  await ended('ETH');
  const done = `SELECT FROM payout_leg WHERE batch_id = $1 AND status = 'completed'`;
  expect(await world.db.query(done, [id])).toHaveLength(70);
  bitcoin.heal();
  await ended('BTC');
}, 400_000);

it('credits nothing on a receipt that lies about success', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  const asFailed = (body: unknown): unknown => {
    const answer = body as { result?: { status?: string } };
    if (answer.result?.status) answer.result.status = '0x0';
    return answer;
  };
  ethereum.arm({ kind: 'rewrite', answer: asFailed }, ['eth_getTransactionReceipt']);
  await pay(invoice);
  await world.payer.mine('ETH', 5);
  await world.sees(shop, invoice.id, 'CONFIRMING');
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect((await world.payment(shop, invoice.id)).status).toBe('CONFIRMING');
  ethereum.heal();
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH' });
});

type Body = { result?: unknown };
const rewriting = (change: (result: never) => unknown) => ({
  kind: 'rewrite' as const,
  answer: (body: unknown): unknown => {
    const answer = body as Body;
    return answer.result ? { ...answer, result: change(answer.result as never) } : answer;
  },
});

it('does not pass a block whose logs a node leaves out', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'USDT_ERC20' });
  const hits = ethereum.hits.length;
  ethereum.arm(
    rewriting((receipts: object[]) => receipts.map((receipt) => ({ ...receipt, logs: [] }))),
    ['eth_getBlockReceipts'],
  );
  await pay(invoice);
  await world.payer.mine('ETH', 5);
  await world.until('the lie is told', () => ethereum.hits.length > hits + 2);
  expect((await world.payment(shop, invoice.id)).status).toBe('WAITING');
  ethereum.heal();
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 90_000 });
});

it('goes back to the chain after blocks from another fork', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  await pay(invoice);
  await world.payer.mine('ETH', 1);
  await world.sees(shop, invoice.id, 'CONFIRMING');
  const hits = ethereum.hits.length;
  const other = `0x${'ab'.repeat(32)}`;
  ethereum.arm(
    rewriting((block: object) => ({ ...block, hash: other, parentHash: other })),
    ['eth_getBlockByNumber'],
    6,
  );
  await world.until('the other fork is shown', () => ethereum.hits.length >= hits + 6);
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 90_000 });
  expect(settled.amountPaid).toBe(invoice.amount);
});

it('follows two reorganisations in a row, one of them while it reads a block', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'ETH' });
  await pay(invoice);
  ethereum.arm({ kind: 'delay', ms: 1500 }, ['eth_getBlockReceipts'], 1);
  await world.payer.mine('ETH', 1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  await reorgEthereum(world.chains.ethRpcUrl, 1);
  await reorgEthereum(world.chains.ethRpcUrl, 1);
  await world.payer.mine('ETH', 3);
  const head = parseInt(await call<string>(world.chains.ethRpcUrl, 'eth_blockNumber', []), 16);
  const read = `SELECT FROM chain_cursor WHERE network = 'ethereum' AND height >= $1`;
  await world.until('the new blocks are read', async () => (await world.db.query(read, [head])).length > 0);
  expect(await world.sees(shop, invoice.id, 'WAITING')).toMatchObject({ amountPaid: 0 });
  await pay(invoice);
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 90_000 });
  expect(settled.amountPaid).toBe(invoice.amount);
});

it('counts a deposit again that another reorganisation brought back', async () => {
  const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
  await world.payer.mine('BTC', 1);
  const btc = world.chains.btcRpcUrl;
  const fork = await bitcoinCall<string>(btc, 'getbestblockhash');
  const sent = await pay(invoice);
  const [first] = await mineBitcoin(btc);
  const isIn = async (block: string): Promise<boolean> =>
    (await world.db.query('SELECT FROM deposit WHERE tx_id = $1 AND block_hash = $2', [sent.txId, block])).length > 0;
  await world.until('it is in a block', () => isIn(first!));
  await bitcoinCall(btc, 'invalidateblock', [fork]);
  const [other] = await mineBitcoin(btc);
  await world.until('it is in another block, of a shorter chain', () => isIn(other!));
  await bitcoinCall(btc, 'reconsiderblock', [fork]);
  await world.until('it is in its first block again', () => isIn(first!));
  const settled = await world.sees(shop, invoice.id, 'SETTLED', { mine: 'BTC', ms: 90_000 });
  expect(settled).toMatchObject({ amountPaid: invoice.amount, txIds: [sent.txId] });
});

it('catches up with a hundred blocks at once after a halt', async () => {
  const invoices = [];
  for (const currency of ['ETH', 'BTC'] as const) invoices.push(await world.invoice(shop, { amount: 25, currency }));
  for (const invoice of invoices) await pay(invoice);
  await world.payer.mine('ETH', 100);
  await world.payer.mine('BTC', 100);
  for (const invoice of invoices)
    expect(await world.sees(shop, invoice.id, 'SETTLED', { mine: invoice.currency, ms: 90_000 })).toMatchObject({
      amountPaid: invoice.amount,
    });
});

it('raises the price of a sweep that twenty times the base fee has left behind', async () => {
  const invoice = await world.invoice(shop, { amount: 200, currency: 'ETH' });
  ethereum.arm({ kind: 'dropBefore' }, ['eth_sendRawTransaction']);
  await pay(invoice);
  await world.payer.mine('ETH', 4);
  await world.until('its sweep is signed', async () => (await attemptsOf(invoice.id)).length === 1);
  const { baseFeePerGas } = await call<{ baseFeePerGas: string }>(world.chains.ethRpcUrl, 'eth_getBlockByNumber', [
    'latest',
    false,
  ]);
  const high = `0x${(BigInt(baseFeePerGas) * 20n + 10n ** 9n).toString(16)}`;
  await call(world.chains.ethRpcUrl, 'anvil_setNextBlockBaseFeePerGas', [high]);
  await call(world.chains.ethRpcUrl, 'anvil_mine', ['0x1']);
  await call(world.chains.ethRpcUrl, 'anvil_setNextBlockBaseFeePerGas', [high]);
  await world.until(
    'the price of now is known',
    async () =>
      BigInt(
        (await world.db.query(`SELECT trunc(unit_price)::text AS p FROM network_fee WHERE network = 'ethereum'`))[0].p,
      ) > BigInt(high),
    30_000,
  );
  ethereum.heal();
  await world.until('one at a higher price is signed', async () => (await attemptsOf(invoice.id)).length > 1, 60_000);
  await world.sees(shop, invoice.id, 'SETTLED', { mine: 'ETH', ms: 60_000 });
  const attempts = await attemptsOf(invoice.id);
  expect(attempts.filter((attempt) => attempt.status === 'final')).toHaveLength(1);
});

describe('somebody else uses our keys', () => {
  const frozen = (address: string): Promise<unknown[]> =>
    world.db.query(
      `SELECT FROM wallet_sequence w JOIN incident i ON i.kind = 'wallet-frozen'
         AND i.subject_id = w.network || '/' || w.address
        WHERE w.address = $1 AND w.frozen_reason IS NOT NULL`,
      [address],
    );

  it('on an input: the wallet is frozen, operators are told, and nothing is signed again', async () => {
    isRobbed = true;
    const invoice = await world.invoice(shop, { amount: 25, currency: 'BTC' });
    const sent = await pay(invoice);
    bitcoin.arm({ kind: 'dropBefore' }, ['sendrawtransaction']);
    await world.until(
      'its sweep is signed',
      async () => {
        await world.payer.mine('BTC', 1);
        return (await attemptsOf(invoice.id)).length === 1;
      },
      60_000,
    );
    const [deposit] = await world.db.query(
      `SELECT d.out_index, a.key_index FROM deposit d JOIN address a ON a.address = d.address WHERE d.tx_id = $1
         AND d.payment_id = $2`,
      [sent.txId, invoice.id],
    );
    const config = parseConfig(world.stack.env);
    const units = toUnits(String(invoice.amount), assetOf('BTC').decimals);
    const [elsewhere] = await world.db.query(
      `SELECT address FROM address WHERE network = 'bitcoin' AND role = 'treasury' AND key_index = 0`,
    );
    const theft = createCodecs(config.chain).bitcoin.sign(world.signerSeed(), {
      kind: 'utxo',
      coins: [
        {
          txId: sent.txId,
          vout: deposit.out_index,
          units,
          address: invoice.address,
          key: { role: 'deposit', index: deposit.key_index },
        },
      ],
      outputs: [{ address: elsewhere.address, units: units - 5000n }],
      feeUnits: 5000n,
    });
    await bitcoinCall(world.chains.btcRpcUrl, 'sendrawtransaction', [theft.raw]);
    await world.payer.mine('BTC', 1);
    bitcoin.heal();
    await world.until(
      'its wallet is frozen',
      async () => {
        await world.payer.mine('BTC', 1);
        // On Bitcoin the next look is ten minutes away.
        await world.temporal.workflow.getHandle(`sweep/${invoice.id}`).signal('updated');
        return (await frozen(invoice.address)).length === 1;
      },
      120_000,
    );
    expect(await attemptsOf(invoice.id)).toHaveLength(1);
    expect((await world.payment(shop, invoice.id)).status).toBe('SWEEP_QUEUED');
    expect((await world.audit()).map((violation) => violation.invariant)).toContain('I5');
  });

  it('on a nonce: the wallet is frozen, operators are told, and nothing is signed again', async () => {
    isRobbed = true;
    const invoice = await world.invoice(shop, { amount: 25, currency: 'USDT_ERC20' });
    ethereum.arm({ kind: 'dropBefore' }, ['eth_sendRawTransaction']);
    await pay(invoice);
    await world.payer.mine('ETH', 4);
    await world.until('its gas is signed', async () => (await attemptsOf(invoice.id)).length === 1);
    const [gas] = await world.db.query(
      `SELECT from_address AS address FROM intent WHERE payment_id = $1 AND kind = 'gas'`,
      [invoice.id],
    );
    const eth = world.chains.ethRpcUrl;
    await call(eth, 'anvil_impersonateAccount', [gas.address]);
    await call(eth, 'eth_sendTransaction', [{ from: gas.address, to: gas.address, value: '0x1', gas: '0x5208' }]);
    await call(eth, 'anvil_stopImpersonatingAccount', [gas.address]);
    await world.payer.mine('ETH', 1);
    ethereum.heal();
    await world.until(
      'its wallet is frozen',
      async () => {
        await world.payer.mine('ETH', 1);
        await world.temporal.workflow.getHandle(`sweep/${invoice.id}`).signal('updated');
        return (await frozen(gas.address)).length === 1;
      },
      90_000,
    );
    expect(await attemptsOf(invoice.id)).toHaveLength(1);
    expect((await world.payment(shop, invoice.id)).status).toBe('SWEEP_QUEUED');
  });
});
