import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { decode, encode } from 'ripple-binary-codec';
import { xrplNode } from '../../chains/xrpl/node';
import { signFields } from '../../chains/xrpl/signing';
import { startXrplSimulator } from '../../sandbox/parts/xrpl-simulator';
import { payXrp } from '../../sandbox/xrpl-payer';
import { rich, simulatedXrpl, xrp, type Fields, type Person, type SimulatedXrpl } from '../chain/xrpl-network';

/** The rules of the simulated node, each as the page of xrpl.org says it. */

let net: SimulatedXrpl;
beforeEach(async () => {
  net = await simulatedXrpl();
});
afterEach(() => net.end());

const accountOf = async ({ address }: Person): Promise<Fields> =>
  (await net.call('account_info', { account: address, ledger_index: 'validated' })).account_data as Fields;
/** The result of a transaction in the newest ledger. */
async function final(txId: string): Promise<unknown> {
  await net.close();
  return ((await net.call('tx', { transaction: txId })).meta as Fields | undefined)?.TransactionResult;
}
/** Fields of a kind that our codec does not sign, by the key of `from`. */
async function other(from: Person, fields: Fields): Promise<Fields> {
  const { Sequence } = await accountOf(from);
  const all = { Account: from.address, Fee: '10', Flags: 0, Sequence, NetworkID: 55_555, ...fields };
  const known = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  return net.call('submit', { tx_blob: signFields(known, from.pair.privateKey).raw });
}

it('takes no bytes that are not signed, signed by another, changed, or signed with the high s', async () => {
  const payer = await net.funded(1);
  const { raw } = await net.sign(payer, { to: rich.address });
  const fields = decode(raw) as Record<string, string>;
  for (const change of [
    { Amount: '2' },
    { TxnSignature: `${fields.TxnSignature!.slice(0, -2)}00` },
    { SigningPubKey: '' },
  ])
    expect(await net.call('submit', { tx_blob: encode({ ...fields, ...change }) })).toMatchObject({
      error: 'invalidTransaction',
    });
  for (const blob of ['', 'zz', `${raw}00`, raw.slice(2), 5])
    expect(await net.call('submit', { tx_blob: blob })).toMatchObject({ error: 'invalidTransaction' });
  expect(await net.call('submit')).toMatchObject({ error: 'invalidParams', status: 'error' });
  const { TxnSignature: _, SigningPubKey: __, ...plain } = fields;
  const thief = signFields(plain, net.person(9).pair.privateKey);
  expect(await net.call('submit', { tx_blob: thief.raw })).toMatchObject({ engine_result: 'tefBAD_AUTH_MASTER' });
  expect(await net.node.submit(raw)).toMatchObject({ result: 'tesSUCCESS' });
});

it('moves what was paid, burns the fee, and keeps the total', async () => {
  const payer = await net.funded(1, xrp(50));
  const { Sequence: before } = await accountOf(payer);
  await net.pay(payer, { to: rich.address, drops: xrp(3), feeDrops: 500n });
  await net.close();
  expect(await accountOf(payer)).toMatchObject({ Balance: String(xrp(47) - 500n), Sequence: (before as number) + 1 });
  const ledger = (await net.call('ledger', { ledger_index: 'validated' })).ledger as Fields;
  const sum = BigInt((await accountOf(payer)).Balance as string) + BigInt((await accountOf(rich)).Balance as string);
  expect(ledger.total_coins).toBe(sum.toString());
});

it('keeps the order of sequences: the past is refused, the future waits', async () => {
  const payer = await net.funded(1);
  const { Sequence } = await accountOf(payer);
  const sequence = Sequence as number;
  const late = await net.pay(payer, { to: rich.address, sequence: sequence + 1 });
  expect(late.result).toBe('terPRE_SEQ');
  expect((await net.pay(payer, { to: rich.address, sequence: sequence - 1 })).result).toBe('tefPAST_SEQ');
  await net.close();
  expect((await accountOf(payer)).Sequence).toBe(sequence);
  // The one that was missing: both go.
  const missing = await net.pay(payer, { to: rich.address, sequence });
  expect(missing.result).toBe('tesSUCCESS');
  expect(await final(missing.txId)).toBe('tesSUCCESS');
  expect((await net.call('tx', { transaction: late.txId })).validated).toBe(true);
  expect((await accountOf(payer)).Sequence).toBe(sequence + 2);
});

it('refuses and forgets what is over', async () => {
  const payer = await net.funded(1);
  const { height } = await net.node.head();
  const { Sequence } = await accountOf(payer);
  const next = (Sequence as number) + 1;
  const last = await net.pay(payer, { to: rich.address, sequence: next, lastLedger: height + 2 });
  expect(last.result).toBe('terPRE_SEQ');
  await net.close(2);
  // Now nothing stands before it but its end.
  await net.pay(payer, { to: rich.address });
  await net.close(2);
  expect((await accountOf(payer)).Sequence).toBe(next);
  expect(await net.node.submit(last.raw)).toMatchObject({ result: 'tefMAX_LEDGER' });
  const open = (await net.node.head()).height + 1;
  // The open ledger itself may be the last one.
  expect((await net.pay(payer, { to: rich.address, lastLedger: open - 1 })).result).toBe('tefMAX_LEDGER');
  expect((await net.pay(payer, { to: rich.address, lastLedger: open })).result).toBe('tesSUCCESS');
});

it('makes accounts of the base reserve or more, which begin with the index of their ledger', async () => {
  const fresh = net.person(7);
  const little = await net.pay(rich, { to: fresh.address, drops: xrp(1) - 1n });
  expect(little.result).toBe('tecNO_DST_INSUF_XRP');
  const { Balance } = await accountOf(rich);
  expect(await final(little.txId)).toBe('tecNO_DST_INSUF_XRP');
  // A failure costs its fee, and uses its sequence.
  expect((await accountOf(rich)).Balance).toBe(String(BigInt(Balance as string) - 10n));
  expect(await net.call('account_info', { account: fresh.address })).toMatchObject({ error: 'actNotFound' });
  const enough = await net.pay(rich, { to: fresh.address, drops: xrp(1) });
  expect(await final(enough.txId)).toBe('tesSUCCESS');
  expect(await accountOf(fresh)).toMatchObject({ Balance: '1000000', Sequence: (await net.node.head()).height });
});

it('keeps the reserve of an account and of what it owns, and lets it be spent on fees', async () => {
  const payer = await net.funded(1, xrp(10));
  await net.order({ order: 'owns', account: payer.address, count: 5 });
  await net.close();
  // 10 XRP, of which 1 + 5 × 0.2 stay. The fee may come out of the reserve, as long as it is not above it.
  expect((await net.pay(payer, { to: rich.address, drops: xrp(8) + 1n })).result).toBe('tecUNFUNDED_PAYMENT');
  await net.close();
  expect((await net.pay(payer, { to: rich.address, drops: xrp(8) - 10n })).result).toBe('tesSUCCESS');
  await net.close();
  expect((await accountOf(payer)).Balance).toBe(String(xrp(2) - 10n));
  expect((await net.pay(payer, { to: rich.address, drops: 1n })).result).toBe('tecUNFUNDED_PAYMENT');
  await net.order({ order: 'set', reserveBase: 500_000 });
  await net.close();
  expect((await net.pay(payer, { to: rich.address, drops: 1n })).result).toBe('tesSUCCESS');
});

it('wants a tag where the account asks for one', async () => {
  const shop = await net.funded(1);
  expect(await other(shop, { TransactionType: 'AccountSet', SetFlag: 1 })).toMatchObject({
    engine_result: 'tesSUCCESS',
  });
  await net.close();
  expect(await net.node.account(shop.address)).toMatchObject({ needsTag: true });
  const untagged = await net.pay(rich, { to: shop.address });
  expect(await final(untagged.txId)).toBe('tecDST_TAG_NEEDED');
  const tagged = await net.pay(rich, { to: shop.address, tag: '0' });
  expect(await final(tagged.txId)).toBe('tesSUCCESS');
  await other(shop, { TransactionType: 'AccountSet', ClearFlag: 1 });
  await net.close();
  expect((await net.pay(rich, { to: shop.address })).result).toBe('tesSUCCESS');
});

it('asks for more the fuller a ledger is, lets the rest wait, and takes the dearest first', async () => {
  await net.order({ order: 'set', leastSize: 2 });
  await net.close();
  const payers = [await net.funded(1), await net.funded(2), await net.funded(3), await net.funded(4)];
  await net.close();
  const { height } = await net.node.head();
  const results: string[] = [];
  const sent: string[] = [];
  for (const [n, payer] of payers.entries()) {
    const { result, txId } = await net.pay(payer, {
      to: rich.address,
      feeDrops: BigInt(10 + n),
      lastLedger: height + 9,
    });
    results.push(result);
    sent.push(txId);
  }
  expect(results).toEqual(['tesSUCCESS', 'tesSUCCESS', 'terQUEUED', 'terQUEUED']);
  const fees = await net.node.fees();
  // 500 times the base fee, by the square of the third in a ledger for two.
  expect(fees).toEqual({ base: 10n, least: 10n, open: (5000n * 9n + 3n) / 4n });
  expect(await net.call('fee')).toMatchObject({ current_ledger_size: '2', current_queue_size: '2' });
  expect((await net.call('tx', { transaction: sent[2] })).validated).toBe(false);
  // Who pays the price is in at once.
  const rushed = await net.pay(rich, { to: payers[0]!.address, feeDrops: fees.open });
  expect(rushed.result).toBe('tesSUCCESS');
  const full = await net.node.readLedger(await net.close());
  expect(new Set(full!.txIds)).toEqual(new Set([sent[0], sent[1], rushed.txId]));
  const waited = await net.node.readLedger(await net.close());
  expect(new Set(waited!.txIds)).toEqual(new Set([sent[2], sent[3]]));
});

it('lets nothing wait that ends too soon, and replaces only for a quarter more', async () => {
  await net.order({ order: 'set', leastSize: 1 });
  await net.close();
  const payer = await net.funded(1);
  await net.close();
  await net.pay(rich, { to: payer.address });
  const open = (await net.node.head()).height + 1;
  const pay = async (feeDrops: bigint, lastLedger: number): Promise<string> =>
    (await net.pay(payer, { to: rich.address, feeDrops, lastLedger })).result;
  expect(await pay(10n, open + 1)).toBe('telCAN_NOT_QUEUE');
  expect(await pay(10n, open + 2)).toBe('terQUEUED');
  expect(await pay(12n, open + 2)).toBe('telCAN_NOT_QUEUE_FEE');
  expect(await pay(13n, open + 2)).toBe('terQUEUED');
  expect(await net.call('fee')).toMatchObject({ current_queue_size: '1' });
  await net.order({ order: 'set', loadFactor: 2 });
  expect(await pay(19n, open + 2)).toBe('telINSUF_FEE_P');
});

it('refuses what no server takes, and says of what it does not simulate that it is disabled', async () => {
  const payer = await net.funded(1);
  const pay = { TransactionType: 'Payment', Destination: rich.address, Amount: '5' };
  const said = async (fields: Fields): Promise<unknown> => (await other(payer, { ...pay, ...fields })).engine_result;
  expect(await said({ Destination: payer.address })).toBe('temREDUNDANT');
  expect(await said({ Amount: '0' })).toBe('temBAD_AMOUNT');
  expect(await said({ SendMax: '5' })).toBe('temBAD_SEND_XRP_MAX');
  expect(await said({ Flags: 0x2_0000 })).toBe('temBAD_SEND_XRP_PARTIAL');
  expect(await said({ Flags: 1 })).toBe('temINVALID_FLAG');
  expect(await said({ NetworkID: null })).toBe('telREQUIRES_NETWORK_ID');
  expect(await said({ NetworkID: 1025 })).toBe('telWRONG_NETWORK');
  expect(await said({ Fee: String(xrp(101)) })).toBe('terINSUF_FEE_B');
  expect(await said({ Amount: { currency: 'USD', issuer: rich.address, value: '1' } })).toBe('temDISABLED');
  expect(await said({ TransactionType: 'AccountDelete', Amount: null })).toBe('temDISABLED');
  expect((await accountOf(payer)).Balance).toBe(String(xrp(100)));
  const plain = await simulatedXrpl(0);
  const { raw } = await net.sign(rich, { to: payer.address, sequence: 1 });
  expect(await plain.node.submit(raw)).toMatchObject({ result: 'telNETWORK_ID_MAKES_TX_NON_CANONICAL' });
  expect(await plain.node.state()).toMatchObject({ networkId: 0 });
  await plain.end();
});

it('applies a ledger anew when it closes, in an order that nobody chooses', async () => {
  const payer = await net.funded(1, xrp(5));
  // A new account that pays in the ledger that makes it: whatever the order, both are in.
  const fresh = net.person(2);
  const { height } = await net.node.head();
  const gift = await net.pay(payer, { to: fresh.address, drops: xrp(3) });
  const onwards = await net.pay(fresh, { to: rich.address, drops: xrp(1), sequence: height + 1 });
  expect([gift.result, onwards.result]).toEqual(['tesSUCCESS', 'tesSUCCESS']);
  await net.close();
  for (const { txId } of [gift, onwards])
    expect(await net.call('tx', { transaction: txId })).toMatchObject({
      validated: true,
      meta: { TransactionResult: 'tesSUCCESS' },
    });
});

it('takes a failure back where what it needed comes after it in the ledger', async () => {
  const people = [await net.funded(1, xrp(2)), await net.funded(2, xrp(2)), await net.funded(3, xrp(2))];
  const sent: string[] = [];
  for (const person of people) {
    sent.push((await net.pay(rich, { to: person.address, drops: xrp(9) })).txId);
    sent.push((await net.pay(person, { to: rich.address, drops: xrp(8) })).txId);
  }
  await net.close();
  for (const txId of sent)
    expect((await net.call('tx', { transaction: txId })).meta).toMatchObject({ TransactionResult: 'tesSUCCESS' });
});

it('lists the transactions of an account in pages', async () => {
  const payer = await net.funded(1);
  const sent: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    sent.push((await net.pay(payer, { to: rich.address })).txId);
    if (n % 2) await net.close();
  }
  await net.close();
  const pages: unknown[][] = [];
  let marker: unknown;
  do {
    const page = await net.call('account_tx', {
      account: payer.address,
      forward: true,
      limit: 2,
      ...(marker ? { marker } : {}),
    });
    pages.push((page.transactions as Fields[]).map(({ hash }) => hash));
    marker = page.marker;
  } while (marker);
  expect(pages.map((page) => page.length)).toEqual([2, 2, 2]);
  expect(pages.flat().slice(1)).toEqual(sent);
  const { height } = await net.node.head();
  const newest = await net.call('account_tx', {
    account: payer.address,
    ledger_index_min: height,
    ledger_index_max: -1,
  });
  expect(newest).toMatchObject({ transactions: [{ hash: sent[4], validated: true }], ledger_index_min: height });
});

it('has everything after a kill that it has told before', async () => {
  await net.order({ order: 'set', leastSize: 1 });
  await net.close();
  const payer = await net.funded(1);
  await net.close();
  const { height } = await net.node.head();
  const lastLedger = height + 9;
  const open = await net.pay(rich, { to: payer.address, lastLedger });
  const queued = await net.pay(payer, { to: rich.address, lastLedger });
  const { Sequence } = await accountOf(payer);
  const held = await net.pay(payer, { to: rich.address, sequence: (Sequence as number) + 7, lastLedger });
  expect([open.result, queued.result, held.result]).toEqual(['tesSUCCESS', 'terQUEUED', 'terPRE_SEQ']);
  await net.order({ order: 'fault', fault: 'cut', method: 'fee' });
  const before = await net.call('ledger', { ledger_index: 'validated' });
  await net.restart();
  expect(await net.call('ledger', { ledger_index: 'validated' })).toEqual(before);
  for (const { txId } of [open, queued, held])
    expect(await net.call('tx', { transaction: txId })).toMatchObject({ hash: txId, validated: false });
  await expect(net.call('fee')).rejects.toThrow();
  expect(await net.call('fee')).toMatchObject({ current_ledger_size: '1', current_queue_size: '1' });
  await net.close();
  await net.restart();
  expect(await final(queued.txId)).toBe('tesSUCCESS');
  expect((await net.call('tx', { transaction: open.txId })).ledger_index).toBe(height + 1);
});

it('stands still on order: it takes, and the network hears of it when it goes on', async () => {
  const payer = await net.funded(1);
  const { height } = await net.node.head();
  await net.order({ order: 'stand_still' });
  const kept = await net.pay(payer, { to: rich.address, lastLedger: height + 9 });
  const { Sequence } = await accountOf(payer);
  const over = await net.pay(payer, { to: rich.address, sequence: (Sequence as number) + 1, lastLedger: height + 2 });
  expect(kept.result).toBe('tesSUCCESS');
  await net.restart();
  await net.close(3);
  expect((await net.node.head()).height).toBe(height);
  expect(await net.call('server_info')).toMatchObject({ info: { server_state: 'connected', peers: 0 } });
  await net.order({ order: 'go_on' });
  expect((await net.node.head()).height).toBe(height + 3);
  expect(await final(kept.txId)).toBe('tesSUCCESS');
  expect(await net.call('tx', { transaction: over.txId })).toMatchObject({ error: 'txnNotFound' });
});

it('forgets faults that no call has met, on order', async () => {
  await net.order({ order: 'fault', fault: 'cut', method: 'server_info', times: 5 });
  await expect(net.call('server_info')).rejects.toThrow();
  await net.order({ order: 'no_faults' });
  expect(await net.call('server_info')).toMatchObject({ info: { server_state: 'full' } });
});

it('answers what is no call, and refuses orders that it does not know', async () => {
  const post = async (body: string): Promise<[number, string]> => {
    const response = await fetch(net.part.url, { method: 'POST', body });
    return [response.status, await response.text()];
  };
  expect(await post('{}')).toEqual([400, 'Null method']);
  expect(await post('{')).toEqual([400, 'Unable to parse request']);
  expect(await post('{"method":"simulator_order","params":[{"order":"rob"}]}')).toEqual([400, 'rob is no order']);
  expect(await net.call('sign')).toMatchObject({ error: 'unknownCmd', status: 'error' });
  expect(await net.call('tx', { api_version: 1 })).toMatchObject({ error: 'invalid_API_version' });
  expect(await net.call('tx', { transaction: 'A'.repeat(64), min_ledger: 1, max_ledger: 1002 })).toMatchObject({
    error: 'excessiveLgrRange',
  });
  expect(await net.call('ledger', { ledger_index: 999 })).toMatchObject({ error: 'lgrNotFound' });
});

it('closes ledgers by itself where it is told to', async () => {
  const dataDir = mkdtempSync(`${tmpdir()}/xrpl-`);
  const part = await startXrplSimulator({ port: 0, dataDir, networkId: 55_555, closeEveryMs: 20 });
  const node = xrplNode({ url: part.url });
  const seen = new Set<number>();
  for (const until = Date.now() + 5000; seen.size < 3 && Date.now() < until;) seen.add((await node.head()).height);
  expect(seen.size).toBeGreaterThanOrEqual(3);
  await part.stop();
  await expect(startXrplSimulator({ port: 0, dataDir, networkId: 1 })).rejects.toThrow('is of network 55555, not 1');
  rmSync(dataDir, { recursive: true });
});

it('closes hardly a ledger while nothing waits for one, and the next one at once where something does', async () => {
  const dataDir = mkdtempSync(`${tmpdir()}/xrpl-`);
  const options = { port: 0, dataDir, networkId: 55_555, closeEveryMs: 20, idleEveryMs: 60_000 };
  const part = await startXrplSimulator(options);
  const node = xrplNode({ url: part.url });
  const after = async (ms: number): Promise<number> => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return (await node.head()).height;
  };
  const { height } = await node.head();
  // The first look closes one.
  expect(await after(300)).toBeLessThanOrEqual(height + 1);
  const txId = await payXrp(part.url, { address: net.person(70).address, tag: '7' }, xrp(5));
  await after(300);
  expect(await node.find(txId)).toMatchObject({ state: 'validated', success: true });
  await part.stop();
  rmSync(dataDir, { recursive: true });
});
