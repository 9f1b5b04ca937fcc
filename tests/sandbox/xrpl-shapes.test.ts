import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decode, encode } from 'ripple-binary-codec';
import { xrplNode } from '../../chains/xrpl/node';
import { simulatedXrpl, xrp, rich, type Fields, type Person, type SimulatedXrpl } from '../chain/xrpl-network';
import { documented } from './xrpl-documented';

/** The simulator answers with what the documentation shows, and the adapter reads what the documentation shows. */

let net: SimulatedXrpl;
let payer: Person;
beforeAll(async () => {
  net = await simulatedXrpl();
  payer = await net.funded(1);
});
afterAll(() => net.end());

/** What `answer` lacks of `example`, or has of another kind, by path. */
function differences(answer: unknown, example: unknown, path = ''): string[] {
  const kindOf = (value: unknown): string => (Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value);
  if (kindOf(answer) !== kindOf(example)) return [`${path}: ${kindOf(answer)} for ${kindOf(example)}`];
  if (Array.isArray(example))
    return (answer as unknown[]).length
      ? differences((answer as unknown[])[0], example[0], `${path}[]`)
      : [`${path}: empty`];
  if (kindOf(example) !== 'object') return [];
  return Object.entries(example as Fields).flatMap(([name, value]) =>
    differences((answer as Fields)[name], value, `${path}.${name}`),
  );
}

it('sees what is missing, and what is of another kind', () => {
  const { status: _, ...rest } = documented.fee;
  expect(differences({ ...rest, max_queue_size: 5 }, documented.fee)).toEqual([
    '.max_queue_size: number for string',
    '.status: undefined for string',
  ]);
});

it('answers every method with the documented fields', async () => {
  const submitted = await net.sign(payer, { to: rich.address, drops: xrp(1) });
  const answers: Record<keyof typeof documented, Fields> = {
    submit: await net.call('submit', { tx_blob: submitted.raw }),
    ledger_accept: await net.call('ledger_accept'),
    tx: await net.call('tx', { transaction: submitted.txId }),
    txnNotFound: await net.call('tx', { transaction: 'B'.repeat(64), min_ledger: 1, max_ledger: 2 }),
    ledger: await net.call('ledger', { ledger_index: 'validated', transactions: true, expand: true }),
    account_info: await net.call('account_info', { account: payer.address, ledger_index: 'validated' }),
    account_tx: await net.call('account_tx', { account: payer.address, limit: 1 }),
    server_info: await net.call('server_info'),
    server_state: await net.call('server_state'),
    fee: await net.call('fee'),
  };
  for (const [name, example] of Object.entries(documented))
    expect([name, differences(answers[name as keyof typeof documented], example)]).toEqual([name, []]);
});

it('writes metadata that the official codec can write and read', async () => {
  const fresh = net.person(3);
  const { txId } = await net.pay(payer, { to: fresh.address, drops: xrp(2) });
  await net.close();
  const { delivered_amount: delivered, ...meta } = (await net.call('tx', { transaction: txId })).meta as Fields;
  expect(delivered).toBe('2000000');
  expect(decode(encode(meta))).toEqual(meta);
  const kinds = (meta.AffectedNodes as Fields[]).map((node) => Object.keys(node)[0]);
  expect(kinds.sort()).toEqual(['CreatedNode', 'ModifiedNode']);
});

it('has the account of the genesis where every network has it', async () => {
  const { account_data: data } = await net.call('account_info', { account: rich.address, ledger_index: 1 });
  // Id of its entry: page accountroot, and every explorer of the main network.
  expect(data).toMatchObject({ index: '2B6AC232AA4C4BE41BF49D2459FA4A0347E1B543A4C92FCEE0821C0201E2E9A8' });
});

it('reads every documented answer by the adapter', async () => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method, params } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string; params: Fields[] };
      const isLost = method === 'tx' && params[0]!.min_ledger !== undefined;
      const result = isLost ? documented.txnNotFound : documented[method as keyof typeof documented];
      response.end(JSON.stringify({ result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const node = xrplNode({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const { ledger, account_info: info, tx } = documented;
  expect(await node.head()).toMatchObject({ height: ledger.ledger_index, time: 819429360 + 946684800 });
  expect((await node.head()).time * 1000).toBe(Date.parse('2025-12-19T03:16:00Z'));
  expect((await node.readLedger(ledger.ledger_index))!.txIds).toEqual([tx.hash]);
  expect(await node.account(info.account_data.Account)).toMatchObject({ drops: 999999999960n, sequence: 6, owned: 0 });
  expect(await node.reserves()).toEqual({ base: 20000000n, perOwned: 5000000n });
  expect(await node.fees()).toEqual({ base: 10n, open: 2653937n, least: 10n });
  expect(await node.state()).toEqual({
    networkId: 0,
    isFollowing: true,
    peers: 22,
    validated: 82521761,
    ageSeconds: 1,
    kept: [[32570, 82521761]],
  });
  expect(await node.sender(tx.hash)).toEqual({ address: info.account_data.Account, tag: null });
  const after = ledger.ledger_index + 1;
  expect(await node.lookUp(tx.hash, { first: after, last: after })).toEqual({
    state: 'unknown',
    reason: `Ledger ${after} is not validated yet`,
  });
  server.closeAllConnections();
  server.close();
});
