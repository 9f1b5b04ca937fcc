import { createServer, type Server } from 'node:http';
import { parseExactly } from '../../chains/tron/http';
import { tronNode } from '../../chains/tron/node';
import { fromEvm } from '../../chains/tron/address';
import { freePort } from '../../sandbox/ports';
import { closed, listening } from '../../sandbox/parts/listening';
import { block, blockText, infos, recipient, tx } from './tron-answers';
import { signedTransfer } from './tron-vectors';
import { chainOf } from './tron-world';

/** What the adapter makes of answers as the documentation shows them, and of answers that are not so. */

let server: Server;
let answers: Record<string, string>;
let url: string;
beforeEach(async () => {
  answers = {
    '/wallet/getblockbynum': blockText,
    '/walletsolidity/getblockbynum': blockText,
    '/wallet/gettransactioninfobyblocknum': JSON.stringify(infos),
    '/wallet/gettransactioninfobyid': JSON.stringify(infos[1]),
    '/wallet/getnowblock': blockText,
  };
  server = createServer((request, response) => {
    response.statusCode = answers[request.url!] === undefined ? 404 : 200;
    response.end(answers[request.url!]);
  });
  const port = await freePort();
  await listening(server, port);
  url = `http://127.0.0.1:${port}`;
});
afterEach(() => closed(server));

const adapter = () => tronNode(chainOf('0'.repeat(64)), { login: { url } });
const to = fromEvm(recipient.slice(2));

it('reads a block: what was done, with exact amounts; not what failed, not other events', async () => {
  const read = await adapter().readBlock(block.height);
  expect(read).toEqual({
    height: block.height,
    hash: block.id,
    parentHash: block.parentId,
    time: block.time,
    transfers: [
      { txId: tx.one, index: -1, to, currency: 'TRX', units: 90_071_992_547_409_931n, inputs: [] },
      { txId: tx.two, index: 1, to, currency: 'USDT_TRC20', units: 25_000_000n, inputs: [] },
      // TRX that a contract has sent: a row, and nothing credited.
      { txId: tx.two, index: -2, to, currency: null, units: 5n, inputs: [] },
    ],
    txIds: [tx.one, tx.two, tx.three, tx.four],
    spent: new Map(),
  });
  expect(await adapter().lookUp(tx.two)).toMatchObject({ state: 'mined', success: true, feeUnits: 5_254_500n });
  answers['/wallet/gettransactioninfobyid'] = JSON.stringify(infos[2]);
  expect(await adapter().lookUp(tx.three)).toMatchObject({ state: 'mined', success: false, feeUnits: 100n });
});

it('does not believe results of another block, or of too few transactions', async () => {
  const others: unknown[] = [
    infos.slice(1),
    [...infos.slice(1), infos[1]],
    infos.map((info) => ({ ...info, blockTimeStamp: 1_777_445_124_000 })),
    infos.map((info) => ({ ...info, blockNumber: block.height + 1 })),
    infos.map((info, n) => (n ? info : { ...info, id: '09'.repeat(32) })),
  ];
  for (const other of others) {
    answers['/wallet/gettransactioninfobyblocknum'] = JSON.stringify(other);
    await expect(adapter().readBlock(block.height)).rejects.toThrow('are not those of');
  }
  await expect(adapter().readBlock(block.height + 1)).rejects.toThrow('answers block');
});

it('refuses answers of another shape, each as a node that does not answer', async () => {
  const wrong: [path: string, text: string, why: string][] = [
    ['/wallet/getblockbynum', blockText.replace(block.id, 'ff'.repeat(32)), 'not of a block'],
    ['/wallet/getblockbynum', blockText.replace('90071992547409931', '-1'), 'amount is no amount'],
    ['/wallet/getblockbynum', blockText.replace('90071992547409931', '1.5'), 'amount is no amount'],
    ['/wallet/getblockbynum', blockText.replace('90071992547409931', '"7"'), 'amount is no amount'],
    ['/wallet/getblockbynum', blockText.replace(tx.two, 'xyz'), 'txID is not hex'],
    ['/wallet/getblockbynum', '{"Error":"class java.lang.Exception : busy"}', 'busy'],
    ['/wallet/getblockbynum', '[]', 'no object'],
    ['/wallet/getblockbynum', '<html>', 'JSON'],
    ['/wallet/gettransactioninfobyblocknum', '{}', 'no list'],
  ];
  for (const [path, text, why] of wrong) {
    const right = answers[path]!;
    answers[path] = text;
    await expect(adapter().readBlock(block.height)).rejects.toMatchObject({
      code: 'NODE_UNREACHABLE',
      message: expect.stringContaining(why) as string,
    });
    answers[path] = right;
  }
  delete answers['/wallet/getblockbynum'];
  await expect(adapter().readBlock(block.height)).rejects.toThrow('HTTP 404');
});

it('sorts what nodes say to a broadcast, in plain text and in hex', async () => {
  const { raw, txId } = signedTransfer;
  const said = async (answer: object): Promise<unknown> => {
    answers['/wallet/broadcasthex'] = JSON.stringify(answer);
    return adapter().broadcast(raw);
  };
  expect(await said({ result: true, code: 'SUCCESS', txid: txId })).toEqual({ outcome: 'accepted' });
  await expect(said({ result: true, txid: '00'.repeat(32) })).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  await expect(said({ Error: 'class java.lang.Exception : x' })).rejects.toMatchObject({ code: 'NODE_UNREACHABLE' });
  const rows: [code: string, message: string, answer: object][] = [
    ['DUP_TRANSACTION_ERROR', 'Transaction already exists.', { outcome: 'known' }],
    ['TRANSACTION_EXPIRATION_ERROR', 'Transaction expired', { outcome: 'expired' }],
    ['BANDWITH_ERROR', 'Account resource insufficient error.', { outcome: 'refused', why: 'funds' }],
    ['CONTRACT_VALIDATE_ERROR', 'balance is not sufficient.', { outcome: 'refused', why: 'funds' }],
    ['CONTRACT_VALIDATE_ERROR', 'Invalid toAddress!', { outcome: 'refused', why: 'invalid' }],
    ['TAPOS_ERROR', 'Tapos check error.', { outcome: 'refused', why: 'other' }],
    ['SIGERROR', 'Validate signature error', { outcome: 'refused', why: 'other' }],
    ['SERVER_BUSY', 'Server busy.', { outcome: 'refused', why: 'other' }],
    ['BLOCK_UNSOLIDIFIED', 'Block unsolidified.', { outcome: 'refused', why: 'other' }],
  ];
  for (const [code, message, answer] of rows)
    for (const written of [message, Buffer.from(message).toString('hex')])
      expect([code, await said({ code, message: written, txid: txId })]).toMatchObject([code, answer]);
});

it('reads integers of any size from JSON exactly, and nothing else otherwise', () => {
  expect(
    parseExactly('{"a":9007199254740993,"b":1,"c":"9007199254740993","d":1.5,"e":[-9223372036854775808]}'),
  ).toEqual({
    ...{ a: 9_007_199_254_740_993n, b: 1, c: '9007199254740993', d: 1.5, e: [-9_223_372_036_854_775_808n] },
  });
  expect(() => parseExactly('{"a":1e300}')).toThrow('no amount');
});
