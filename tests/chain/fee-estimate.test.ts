import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { adapterOf } from '../../chains/adapters';
import { registered } from '../../chains/codecs';
import type { ChainAdapter } from '../../domain/chains/chain';
import { parseConfig } from '../../domain/config';

/** A node that has no estimate of the network's fee is asked again later, and nothing takes its place. It is played. */

let server: Server;
let url: string;
/** What the node answers to each method; it refuses any other. */
let answers: Record<string, unknown>;
beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method } = JSON.parse(Buffer.concat(chunks).toString()) as { method: string };
      const answer = answers[method];
      const refusal = { code: -32603, message: 'Insufficient data or no feerate found' };
      response.end(JSON.stringify(answer === undefined ? { error: refusal } : { result: answer }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const at = (network: 'bitcoin' | 'ethereum', chain = 'mainnet'): ChainAdapter =>
  adapterOf(registered(network), parseConfig({ BTC_NETWORK: chain, ETH_CHAIN_ID: '31337' }).chain, { url });

describe('A6: a missing fee estimate is no cheap one', () => {
  it.each<[string, unknown]>([
    ['refuses', undefined],
    ['has none', { errors: ['Insufficient data or no feerate found'], blocks: 0 }],
    ['says minus one', -1],
  ])('Bitcoin: the node %s', async (_what, answer) => {
    answers = { estimatesmartfee: answer };
    expect(await at('bitcoin').estimateFee()).toBeNull();
    // On a chain of our own nobody can say what is usual: the least that nodes relay.
    expect(await at('bitcoin', 'regtest').estimateFee()).toEqual({ unitPrice: '1', tipPrice: '0' });
  });

  it('Bitcoin: an estimate counts, and is never below what nodes relay', async () => {
    answers = { estimatesmartfee: { feerate: 0.00034567 } };
    expect(await at('bitcoin').estimateFee()).toEqual({ unitPrice: '34.567', tipPrice: '0' });
    answers = { estimatesmartfee: { feerate: 0.000001 } };
    expect(await at('bitcoin').estimateFee()).toEqual({ unitPrice: '1', tipPrice: '0' });
  });

  it.each<[string, unknown]>([
    ['no block', null],
    ['a block without a base fee', { number: '0x1', hash: '0x1' }],
  ])('Ethereum: the node answers with %s', async (_what, block) => {
    answers = { eth_chainId: '0x7a69', eth_getBlockByNumber: block, eth_maxPriorityFeePerGas: '0x1' };
    expect(await at('ethereum').estimateFee()).toBeNull();
  });
});
