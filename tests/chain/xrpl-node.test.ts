import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { spendable } from '../../chains/xrpl/accounts';
import { xrplNode, type XrplNode } from '../../chains/xrpl/node';
import { closed, listening } from '../../sandbox/parts/listening';
import { simulatedXrpl, xrp, type Fields, type Person, type SimulatedXrpl } from './xrpl-network';

/** Codec, adapter and simulator together: what is signed is taken, what arrives is found, and what missed its last
 *  ledger is proved to be nowhere. */

let net: SimulatedXrpl;
let shop: Person;
let payer: Person;
const away = expect.objectContaining({ code: 'NODE_UNREACHABLE' });

beforeAll(async () => {
  net = await simulatedXrpl();
  shop = await net.funded(1);
  payer = await net.funded(2, xrp(10_000));
});
afterAll(() => net.end());
afterEach(async () => {
  await net.order({ order: 'go_on' });
  await net.order({ order: 'set', provesEmpty: false, leastSize: 1000, loadFactor: 1, validateAfter: 0 });
  await net.close();
});

const headOf = async (): Promise<number> => (await net.node.head()).height;

it('pays, and finds the deposit with its tag in a validated ledger alone', async () => {
  const first = await headOf();
  const paid = await net.pay(payer, { to: shop.address, tag: '4294967295', drops: 1_234_567n });
  expect(paid.result).toBe('tesSUCCESS');
  const window = { first, last: paid.lastLedger };
  expect(await net.node.lookUp(paid.txId, window)).toEqual({ state: 'pending' });
  expect(await net.node.readLedger(first + 1)).toBeNull();
  await net.order({ order: 'set', validateAfter: 1 });
  await net.close();
  // Closed, and not validated yet.
  expect(await net.node.readLedger(first + 1)).toBeNull();
  expect(await net.node.lookUp(paid.txId, window)).toEqual({ state: 'pending' });
  await net.close();

  const ledger = await net.node.readLedger(first + 1);
  const transfer = { txId: paid.txId, from: payer.address, to: shop.address, tag: '4294967295', units: 1_234_567n };
  expect(ledger).toMatchObject({ height: first + 1, txIds: [paid.txId], unclear: [], transfers: [transfer] });
  expect(ledger!.parentHash).toBe((await net.node.readLedger(first))!.hash);
  expect(Math.abs(ledger!.time - Date.now() / 1000)).toBeLessThan(60);
  expect(await net.node.lookUp(paid.txId, window)).toEqual({
    state: 'validated',
    height: first + 1,
    ledgerHash: ledger!.hash,
    result: 'tesSUCCESS',
    success: true,
    feeDrops: 10n,
  });
  const [found] = ledger!.transfers;
  expect(await net.node.verify(found!, ledger!.hash)).toBe(1_234_567n);
  expect(await net.node.verify({ ...found!, tag: '1' }, ledger!.hash)).toBeNull();
  expect(await net.node.verify({ ...found!, tag: null }, ledger!.hash)).toBeNull();
  expect(await net.node.verify(found!, ledger!.parentHash)).toBeNull();
  expect(await net.node.verify({ ...found!, txId: 'F'.repeat(64) }, ledger!.hash)).toBeNull();
  expect(await net.node.sender(paid.txId)).toEqual({ address: payer.address, tag: null });
});

it('finds every deposit that was paid, whatever its amount and tag', async () => {
  const amounts = fc.bigInt({ min: 1n, max: xrp(2) });
  const tags = fc.option(fc.nat({ max: 0xffff_ffff }).map(String), { nil: undefined });
  const payments = fc.array(fc.record({ drops: amounts, tag: tags }), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(payments, async (some) => {
      const before = (await net.node.account(shop.address))!.drops;
      const sent: string[] = [];
      for (const one of some) sent.push((await net.pay(payer, { to: shop.address, ...one })).txId);
      const ledger = (await net.node.readLedger(await net.close()))!;
      const found = ledger.transfers.map(({ txId, units, tag }) => ({ txId, drops: units, tag }));
      expect(new Map(found.map((one) => [one.txId, one]))).toEqual(
        new Map(some.map(({ drops, tag = null }, n) => [sent[n], { txId: sent[n], drops, tag }])),
      );
      const sum = some.reduce((total, { drops }) => total + drops, 0n);
      expect((await net.node.account(shop.address))!.drops).toBe(before + sum);
    }),
    { numRuns: 4 },
  );
});

it('takes of a partial payment what it delivered, and nothing of tokens', async () => {
  const poor = 'shd2nxpFD6iBRKWsRss2P4tKMWyy9';
  await net.pay(payer, { to: 'rwiZ3q3D3QuG4Ga2HyGdq3kPKJRGctVG8a', drops: xrp(20) });
  await net.close();
  const deliver = { order: 'deliver', seed: poor, to: shop.address, tag: 9 };
  expect(await net.order({ ...deliver, claims: '1000000000', delivers: '1' })).toMatchObject({
    engine_result: 'tesSUCCESS',
  });
  await net.order({ ...deliver, claims: { currency: 'USD', issuer: payer.address, value: '5' }, delivers: '0' });
  const before = (await net.node.account(shop.address))!.drops;
  const ledger = (await net.node.readLedger(await net.close()))!;
  expect(ledger.txIds).toHaveLength(2);
  expect(ledger.unclear).toEqual([]);
  expect(ledger.transfers.filter(({ to }) => to === shop.address)).toMatchObject([{ units: 1n, tag: '9' }]);
  expect((await net.node.account(shop.address))!.drops).toBe(before + 1n);
});

it('proves that what missed its last ledger is nowhere, and can never be validated', async () => {
  const first = await headOf();
  await net.order({ order: 'fault', fault: 'swallow' });
  const paid = await net.pay(payer, { to: shop.address });
  expect(paid.result).toBe('tesSUCCESS');
  const window = { first, last: paid.lastLedger };
  for (let height = first; height < paid.lastLedger; height += 1) {
    expect(await net.node.lookUp(paid.txId, window)).toEqual({ state: 'pending' });
    await net.close();
  }
  expect(await net.node.lookUp(paid.txId, window)).toMatchObject({ state: 'absent' });
  for (let again = 0; again < 3; again += 1) {
    expect(await net.node.submit(paid.raw)).toMatchObject({
      outcome: 'expired',
      result: 'tefMAX_LEDGER',
      isKept: false,
    });
    await net.close();
    expect(await net.node.lookUp(paid.txId, window)).toMatchObject({ state: 'absent' });
  }
  // Its sequence is free: the same payment with a new end goes through, once.
  const again = await net.pay(payer, { to: shop.address });
  const height = await net.close();
  expect(await net.node.lookUp(again.txId, { first, last: again.lastLedger })).toMatchObject({ height, success: true });
});

it('proves it though the node remembers the bytes: it was given them, and no ledger took them', async () => {
  const first = await headOf();
  await net.order({ order: 'set', leastSize: 1 });
  const other = await net.funded(3);
  // The open ledger is full, so that the next waits for a cheaper one; and its fee rises while it waits.
  await net.pay(other, { to: shop.address, feeDrops: 100_000n });
  await net.pay(other, { to: shop.address, feeDrops: 100_000n });
  const { txId, lastLedger: last, result, raw } = await net.pay(payer, { to: shop.address });
  expect(result).toBe('terQUEUED');
  await net.order({ order: 'set', baseFee: 1000 });
  await net.close(6);
  await net.order({ order: 'set', baseFee: 10, leastSize: 1000 });
  const asked = { transaction: txId, min_ledger: first, max_ledger: last };
  expect(await net.call('tx', asked)).toMatchObject({ hash: txId, validated: false });
  expect(await net.node.lookUp(txId, { first, last })).toMatchObject({ state: 'absent', through: { height: last } });
  expect(await net.node.submit(raw)).toMatchObject({ outcome: 'expired' });
  // A server remembers no submitted bytes over its own end.
  await net.restart();
  expect(await net.call('tx', asked)).toMatchObject({ error: 'txnNotFound' });
  expect(await net.node.lookUp(txId, { first, last })).toMatchObject({ state: 'absent' });
});

it('proves it by reading ledgers, whatever the node says of what it has searched', async () => {
  const first = await headOf();
  // No node was given it.
  const { txId, lastLedger: last } = await net.sign(payer, { to: shop.address });
  await net.close(4);
  const asked = { transaction: txId, min_ledger: first, max_ledger: last };
  expect(await net.call('tx', asked)).toMatchObject({ error: 'txnNotFound', searched_all: false });
  expect(await net.node.lookUp(txId, { first, last })).toMatchObject({ state: 'absent' });
  await net.order({ order: 'set', provesEmpty: true });
  expect(await net.call('tx', asked)).toMatchObject({ error: 'txnNotFound', searched_all: true });
  expect(await net.node.lookUp(txId, { first, last })).toMatchObject({ state: 'absent' });
});

it('proves nothing by a node that is behind, stands still or has forgotten', async () => {
  const first = await headOf();
  await net.order({ order: 'lag', ledgers: 4 });
  const paid = await net.pay(payer, { to: shop.address, lastLedger: first + 2 });
  const window = { first, last: first + 2 };
  await net.close(5);
  expect(await headOf()).toBe(first + 1);
  // It was validated long ago, and this node does not know.
  expect(await net.node.lookUp(paid.txId, window)).toMatchObject({ state: 'validated' });
  const other = await net.sign(payer, { to: shop.address, lastLedger: first + 2 });
  expect(await net.node.lookUp(other.txId, window)).toEqual({
    state: 'unknown',
    reason: `Ledger ${first + 2} is not validated yet`,
  });
  await net.order({ order: 'go_on' });
  expect(await net.node.lookUp(other.txId, window)).toMatchObject({ state: 'absent' });
  await net.order({ order: 'forget', through: first + 1 });
  expect(await net.node.lookUp(other.txId, window)).toEqual({
    state: 'unknown',
    reason: `The node does not have ledger ${first}`,
  });
  await expect(net.node.lookUp(other.txId, { first: 5, last: 4 })).rejects.toThrow(RangeError);
});

it('lets one of two with the same sequence through, whichever the network hears first', async () => {
  const first = await headOf();
  const one = await net.sign(payer, { to: shop.address, drops: 5n });
  const two = await net.sign(payer, { to: shop.address, drops: 6n });
  expect(await net.node.submit(two.raw)).toMatchObject({ outcome: 'accepted' });
  expect(await net.node.submit(one.raw)).toMatchObject({ outcome: 'conflict', result: 'tefPAST_SEQ' });
  expect(await net.node.submit(two.raw)).toMatchObject({ outcome: 'known', result: 'tefALREADY' });
  await net.close(5);
  const window = { first, last: one.lastLedger };
  expect(await net.node.lookUp(two.txId, window)).toMatchObject({ state: 'validated', success: true });
  expect(await net.node.lookUp(one.txId, window)).toMatchObject({ state: 'absent' });
  expect(await net.node.submit(two.raw)).toMatchObject({ outcome: 'conflict' });
});

it('pays once where the answer is lost, the connection is cut, or a proxy sends twice', async () => {
  const before = (await net.node.account(shop.address))!.drops;
  for (const fault of ['lose_answer', 'cut', 'duplicate']) {
    const signed = await net.sign(payer, { to: shop.address, drops: 7n });
    await net.order({ order: 'fault', fault });
    const said = await net.node.submit(signed.raw).catch((error: unknown) => error);
    if (fault === 'duplicate') expect(said).toMatchObject({ outcome: 'known' });
    else expect(said).toEqual(away);
    // Unknown: the same bytes again.
    const again = await net.node.submit(signed.raw);
    expect(again.outcome).toBe(fault === 'cut' ? 'accepted' : 'known');
    await net.close();
  }
  expect((await net.node.account(shop.address))!.drops).toBe(before + 21n);
});

it('says what a node said of bytes, and by which outcome', async () => {
  const account = (await net.node.account(payer.address))!;
  const ahead = await net.pay(payer, { to: shop.address, sequence: account.sequence + 5 });
  expect(ahead.result).toBe('terPRE_SEQ');
  const said = async (raw: string): Promise<unknown> => {
    const { outcome, result, isKept, ...rest } = await net.node.submit(raw);
    return [outcome, result, isKept, 'why' in rest ? rest.why : null];
  };
  expect(await said(ahead.raw)).toEqual(['early', 'terPRE_SEQ', true, null]);
  await net.order({ order: 'set', loadFactor: 3 });
  const underpaid = await net.sign(payer, { to: shop.address, feeDrops: 29n });
  expect(await said(underpaid.raw)).toEqual(['refused', 'telINSUF_FEE_P', false, 'fee']);
  expect((await net.node.fees()).least).toBe(30n);
  const stranger = net.person(50);
  expect(await net.node.account(stranger.address)).toBeNull();
  const unfunded = await net.sign(stranger, { to: shop.address, sequence: 1 });
  expect(await said(unfunded.raw)).toEqual(['refused', 'terNO_ACCOUNT', false, 'funds']);
  await expect(net.node.submit('00')).resolves.toMatchObject({ outcome: 'refused', why: 'other', isKept: false });
});

it('reads accounts, reserves and what an account can send', async () => {
  const reserves = await net.node.reserves();
  expect(reserves).toEqual({ base: xrp(1), perOwned: 200_000n });
  await net.order({ order: 'owns', account: shop.address, count: 3 });
  const height = await net.close();
  const account = (await net.node.account(shop.address))!;
  expect(account).toMatchObject({ owned: 3, needsTag: false, at: height });
  expect(spendable(account, reserves)).toBe(account.drops - 1_600_000n);
  expect(spendable({ drops: 1_599_999n, owned: 3 }, reserves)).toBe(0n);
  // As of an earlier ledger.
  expect(await net.node.account(shop.address, height - 1)).toMatchObject({ owned: 0, at: height - 1 });
  expect(await net.node.state()).toMatchObject({ networkId: 55_555, isFollowing: true, validated: height });
  await net.order({ order: 'stand_still' });
  await net.close(2);
  expect(await net.node.state()).toMatchObject({ isFollowing: false, peers: 0, validated: height });
});

/** A node that answers what it is told to. */
async function played(
  answer: (method: string, params: Fields) => unknown,
): Promise<{ node: XrplNode; end: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, params } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string; params: Fields[] };
      response.end(JSON.stringify({ result: answer(method, params[0]!) }));
    });
  });
  await listening(server, 0);
  const { port } = server.address() as AddressInfo;
  return { node: xrplNode({ url: `http://127.0.0.1:${port}` }, 2000), end: () => closed(server) };
}

it('believes no answer of another shape, and no node of another kind', async () => {
  let result: unknown;
  const { node, end } = await played(() => result);
  const says = (said: unknown): void => void (result = said);
  const hash = 'A'.repeat(64);
  const ledger = { closed: true, close_time: 1, ledger_hash: hash, ledger_index: 5, parent_hash: hash };
  const header = { ledger, ledger_hash: hash, ledger_index: 5, validated: true };
  says(header);
  expect(await node.head()).toMatchObject({ height: 5, hash });
  for (const wrong of [
    { ...header, validated: false },
    { ...header, ledger: { ...ledger, closed: false } },
    { ...header, ledger: { ...ledger, ledger_index: '5' } },
    { ...header, ledger_hash: 'B'.repeat(64) },
    { error: 'noNetwork', status: 'error' },
    { status: 'error' },
    [],
    'full',
  ]) {
    says(wrong);
    await expect(node.head()).rejects.toEqual(away);
  }
  says(header);
  await expect(node.readLedger(6)).rejects.toEqual(away);
  await expect(node.readLedger(5)).rejects.toEqual(away); // without its transactions
  says({ account_data: { Account: shop.address, Balance: 5, Flags: 0, OwnerCount: 0, Sequence: 1 }, validated: true });
  await expect(node.account(shop.address)).rejects.toEqual(away);
  says({ state: { validated_ledger: { reserve_base: 0.2, reserve_inc: 1 } } });
  await expect(node.reserves()).rejects.toEqual(away);
  says({ drops: { base_fee: 10, open_ledger_fee: '10', minimum_fee: '10' } });
  await expect(node.fees()).rejects.toEqual(away);
  // A node that answers for other bytes.
  says({ engine_result: 'tesSUCCESS', engine_result_message: '', tx_json: { hash } });
  await expect(node.submit('1200')).rejects.toEqual(away);
  says({ hash: 'B'.repeat(64), validated: true });
  await expect(node.verify({ txId: hash, index: 0, to: shop.address, tag: null }, hash)).rejects.toEqual(away);
  await end();
});

it('finds no proof in the index alone, which learns of a ledger after the ledger is there', async () => {
  const txId = 'F'.repeat(64);
  const { node, end } = await played((method, { ledger_index: index }) => {
    // What xrpld can answer between the validation of a ledger and the write of its transactions.
    if (method === 'tx') return { error: 'txnNotFound', searched_all: true, status: 'error' };
    const height = typeof index === 'number' ? index : 3;
    const [hash, parent] = [String(height).repeat(64), String(height - 1).repeat(64)];
    const ledger = { closed: true, close_time: height, ledger_hash: hash, ledger_index: height, parent_hash: parent };
    return { ledger: { ...ledger, transactions: height === 3 ? [txId] : [] }, ledger_hash: hash, validated: true };
  });
  const reason = 'Ledger 3 has the transaction, which the node does not find';
  expect(await node.lookUp(txId, { first: 1, last: 3 })).toEqual({ state: 'unknown', reason });
  const signed = { txId, window: { from: 1, last: { height: 3 } }, signedOn: '1'.repeat(64) };
  expect(await node.expiring.fateOf(signed)).toEqual({ state: 'open', reason });
  await end();
});

it('finds no proof in ledgers that contradict the node, or each other', async () => {
  const hashOf = (letter: string): string => letter.repeat(64);
  const txId = hashOf('F');
  let chain: string[] = [];
  let inside: string[] = [];
  const { node, end } = await played((method, { ledger_index: index }) => {
    if (method === 'tx') return { error: 'txnNotFound', searched_all: false, status: 'error' };
    const height = typeof index === 'number' ? index : 9;
    const [hash, parent] = [hashOf(chain[height] ?? '9'), hashOf(chain[height - 1] ?? '8')];
    const ledger = { closed: true, close_time: height, ledger_hash: hash, ledger_index: height, parent_hash: parent };
    return { ledger: { ...ledger, transactions: inside }, ledger_hash: hash, validated: true };
  });
  const window = { first: 1, last: 3 };
  chain = ['0', '1', '2', '3'];
  expect(await node.lookUp(txId, window)).toMatchObject({ state: 'absent' });
  inside = [hashOf('E'), txId];
  expect(await node.lookUp(txId, window)).toEqual({
    state: 'unknown',
    reason: 'Ledger 1 has the transaction, which the node does not find',
  });
  inside = [];
  // Asked for ledger 2, nodes behind one address answer of two chains.
  const [, one] = chain;
  let asked = 0;
  Object.defineProperty(chain, 1, { get: () => (asked++ ? 'D' : one) });
  expect(await node.lookUp(txId, window)).toEqual({
    state: 'unknown',
    reason: 'Ledger 2 is not the child of ledger 1',
  });
  await end();
});
