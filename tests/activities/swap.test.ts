import { generateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changenowProvider } from '../../activities/conversions/changenow';
import { SwapRefused, SwapUnavailable, type SwapOrder, type SwapProvider } from '../../domain/conversions/swap';
import { chainsOf } from '../../sandbox/chain-tools';
import { mineBitcoin, mineEthereum, type Chains } from '../../sandbox/miner';
import { startAnvil } from '../../sandbox/parts/anvil';
import { startBtcd } from '../../sandbox/parts/btcd';
import { call } from '../../sandbox/parts/json-rpc';
import type { Part } from '../../sandbox/parts/part';
import { startSwap, type ProviderFault } from '../../sandbox/parts/swap';
import { Payer } from '../../sandbox/payer';
import { freePort } from '../../sandbox/ports';
import { payerBitcoinKey } from '../../sandbox/secrets';

const pair = { from: 'BTC', to: 'ETH' };
const payout = '0x00000000000000000000000000000000000A11cE';
const back = 'bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx';

describe('ChangeNOW, as the sandbox plays it', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'crypto-payments-swap-'));
  const parts: Part[] = [];
  let chains: Chains;
  let payer: Payer;
  let swap: Part;
  let provider: SwapProvider;
  let made = 0;

  beforeAll(async () => {
    chmodSync(dataDir, 0o711);
    const [payerMnemonic, mnemonic] = [generateMnemonic(wordlist), generateMnemonic(wordlist)];
    const anvil = await startAnvil({ dataDir, port: await freePort() });
    const btcd = await startBtcd({
      dataDir,
      port: await freePort(),
      user: 'u',
      password: 'secret',
      miningAddress: payerBitcoinKey(payerMnemonic).address,
    });
    parts.push(anvil, btcd);
    chains = chainsOf({ anvil, btcd });
    const priceFile = join(dataDir, 'prices.json');
    writeFileSync(priceFile, JSON.stringify({ USD: { BTC: '64000', ETH: '3200', USDT_ERC20: '1', USDC_ERC20: '1' } }));
    const port = await freePort();
    swap = await startSwap({ dataDir, port, chains, tokens: {}, payerMnemonic, mnemonic, priceFile, apiKey: 'key' });
    parts.push(swap);
    payer = new Payer(chains, {}, payerMnemonic);
    provider = changenowProvider({ url: swap.url, apiKey: 'key', allowInsecure: true });
  });
  afterAll(async () => {
    for (const part of parts.reverse()) await part.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const control = (path: string, body: object) =>
    fetch(`${swap.url}/sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) });
  const fault = (kind: ProviderFault) => control('fault', { kind });

  async function order(amount = '0.05'): Promise<SwapOrder> {
    made += 1;
    const { rateId } = await provider.estimate(pair, amount);
    const payoutAddress = payout.slice(0, -4) + made.toString(16).padStart(4, '0');
    return provider.createOrder({
      ...pair,
      conversionId: `c${made}`,
      rateId,
      fromAmount: amount,
      payoutAddress,
      refundAddress: back,
    });
  }
  const held = async (address: string) =>
    BigInt(await call<string>(chains.ethRpcUrl, 'eth_getBalance', [address, 'latest']));
  async function until(id: string, state: string): Promise<SwapOrder> {
    for (let looks = 0; looks < 300; looks += 1) {
      await mineBitcoin(chains.btcRpcUrl);
      await mineEthereum(chains.ethRpcUrl);
      const now = await provider.readOrder(id);
      if (now.state === state) return now;
      await sleep(100);
    }
    throw new Error(`${id} is ${(await provider.readOrder(id)).status}`);
  }

  it('prices, takes a deposit and pays exactly what it promised', async () => {
    const range = await provider.range(pair);
    expect(range).toEqual({ min: '0.0003125', max: '3.125' });
    const estimate = await provider.estimate(pair, '0.05');
    // 0.05 × 64000 × 0.995 ÷ 3200 − 0.0004
    expect(estimate).toMatchObject({ fromAmount: '0.05', toAmount: '0.9946', seconds: 3600 });
    const made = await order();
    expect(made).toMatchObject({ state: 'waiting', fromAmount: '0.05', toAmount: '0.9946', refundAddress: back });
    expect(await provider.findOrder('c1', made.payoutAddress)).toEqual(made);
    await payer.pay('BTC', made.depositAddress, '0.05');
    await until(made.id, 'finished');
    await mineEthereum(chains.ethRpcUrl);
    expect(await held(made.payoutAddress)).toBe(994_600_000_000_000_000n);
  });

  it('keeps every digit of an amount that is a JSON number', async () => {
    const { toAmount } = await provider.estimate({ from: 'USDT_ERC20', to: 'ETH' }, '1234.567891');
    // 1234.567891 × 0.995 ÷ 3200 − 0.0004, 18 places
    expect(toAmount).toBe('0.383473453607812500'.replace(/0+$/, ''));
  });

  it('knows what it does not have', async () => {
    expect(await provider.findOrder('c9', '0x00000000000000000000000000000000000000ff')).toBeNull();
    await expect(provider.readOrder('nothing')).rejects.toMatchObject({ code: 'not_found' });
    await expect(provider.estimate({ from: 'BTC', to: 'XRP' }, '1')).rejects.toThrow(SwapRefused);
    await expect(provider.estimate(pair, '0.0000001')).rejects.toMatchObject({ code: 'deposit_too_small' });
    await expect(changenowProvider({ url: swap.url, apiKey: 'x', allowInsecure: true }).range(pair)).rejects.toThrow(
      SwapUnavailable,
    );
  });

  it('finds the order whose answer was lost', async () => {
    await fault('reply-lost');
    await expect(order()).rejects.toThrow(SwapUnavailable);
    const address = payout.slice(0, -4) + made.toString(16).padStart(4, '0');
    expect(await provider.findOrder(`c${made}`, address)).toMatchObject({ state: 'waiting', payoutAddress: address });
    await expect(provider.findOrder('another', address)).rejects.toThrow(SwapUnavailable);
  });

  it('refuses, expires, sends back and fails when told to', async () => {
    await fault('refuse');
    await expect(order()).rejects.toMatchObject({ code: 'pair_is_inactive' });
    await fault('expired');
    expect(await order()).toMatchObject({ state: 'expired' });
    const made: Array<{ order: SwapOrder; state: string }> = [];
    for (const [kind, state] of [
      ['refund', 'refunded'],
      ['failed', 'failed'],
      ['unknown-status', 'unknown'],
      ['late', 'finished'],
    ] as const) {
      await fault(kind);
      made.push({ order: await order(), state });
    }
    for (const one of made) await payer.pay('BTC', one.order.depositAddress, '0.05');
    // Somebody who sends something else than agreed gets it back.
    made.push({ order: await order(), state: 'refunded' });
    await payer.pay('BTC', made.at(-1)!.order.depositAddress, '0.049');
    for (const one of made) {
      await until(one.order.id, one.state);
      expect(await held(one.order.payoutAddress)).toBe(0n);
    }
  });

  it('goes on after a restart', async () => {
    const made = await order();
    await swap.stop();
    await payer.pay('BTC', made.depositAddress, '0.05');
    await mineBitcoin(chains.btcRpcUrl);
    await expect(provider.readOrder(made.id)).rejects.toThrow(SwapUnavailable);
    await swap.start();
    await until(made.id, 'finished');
  });
});

describe('answers that are none', () => {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  async function answering(answer: RequestListener | string, status = 200, timeoutMs = 20_000): Promise<SwapProvider> {
    const listener: RequestListener =
      typeof answer === 'string'
        ? (_, response) => {
            response.statusCode = status;
            response.end(answer);
          }
        : answer;
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return changenowProvider({ url, apiKey: 'key', allowInsecure: true, timeoutMs });
  }
  const whole = {
    id: 'abc',
    status: 'waiting',
    payinAddress: 'in',
    payoutAddress: 'out',
    refundAddress: 'back',
    expectedAmountFrom: 1,
    expectedAmountTo: 2,
    validUntil: '2026-01-01T00:00:00.000Z',
  };

  it('takes a whole one', async () => {
    const provider = await answering(JSON.stringify(whole));
    expect(await provider.readOrder('abc')).toMatchObject({ fromAmount: '1', toAmount: '2', state: 'waiting' });
    expect(await (await answering(JSON.stringify({ ...whole, validUntil: null }))).readOrder('abc')).toMatchObject({
      validUntil: null,
    });
    for (const [payoutHash, payoutTxId] of [
      ['ab12', 'ab12'],
      ['', null],
      [null, null],
    ])
      expect(await (await answering(JSON.stringify({ ...whole, payoutHash }))).readOrder('abc')).toMatchObject({
        payoutTxId,
      });
    const small = JSON.stringify(whole).replace('"expectedAmountTo":2', '"expectedAmountTo":1.5e-7');
    expect(await (await answering(small)).readOrder('abc')).toMatchObject({ toAmount: '0.00000015' });
    const fine = JSON.stringify(whole).replace('"expectedAmountTo":2', '"expectedAmountTo":0.123456789012345678');
    expect(await (await answering(fine)).readOrder('abc')).toMatchObject({ toAmount: '0.123456789012345678' });
  });

  it.each([
    ['nothing', ''],
    ['a page', '<html>'],
    ['a list', '[]'],
    ['null', 'null'],
    ['half of it', JSON.stringify(whole).slice(0, 60)],
    ...Object.keys(whole)
      .filter((name) => name !== 'validUntil')
      .map((name) => [`no ${name}`, JSON.stringify({ ...whole, [name]: undefined })]),
    ['a negative amount', JSON.stringify({ ...whole, expectedAmountFrom: -1 })],
    ['an amount of zero', JSON.stringify({ ...whole, expectedAmountTo: 0 })],
    ['an endless amount', JSON.stringify(whole).replace('"expectedAmountTo":2', '"expectedAmountTo":1e400')],
    ['words for an amount', JSON.stringify({ ...whole, expectedAmountFrom: 'much' })],
    ['an id that is none', JSON.stringify({ ...whole, id: {} })],
    ['a time that is none', JSON.stringify({ ...whole, validUntil: 'soon' })],
  ])('waits on %s', async (_, body) => {
    await expect((await answering(body)).readOrder('abc')).rejects.toThrow(SwapUnavailable);
  });

  it('tells a refusal from an outage', async () => {
    const refusal = JSON.stringify({ error: 'deposit_too_small', message: 'Out of min amount' });
    await expect((await answering(refusal, 400)).range(pair)).rejects.toMatchObject({
      code: 'deposit_too_small',
      message: 'Out of min amount',
    });
    for (const [body, status] of [
      [refusal, 500],
      [refusal, 429],
      [refusal, 401],
      ['', 400],
      ['', 302],
    ] as const)
      await expect((await answering(body, status)).range(pair)).rejects.toThrow(SwapUnavailable);
    await expect((await answering(() => undefined)).range(pair)).rejects.toThrow(SwapUnavailable);
    await expect((await answering((request) => request.destroy())).range(pair)).rejects.toThrow(SwapUnavailable);
    const closed = changenowProvider({ url: 'https://127.0.0.1', apiKey: 'key', allowInsecure: false });
    await expect(closed.range(pair)).rejects.toThrow(SwapUnavailable);
  });

  it('takes no price for another amount', async () => {
    const body = { rateId: 'r', fromAmount: 2, toAmount: 3, validUntil: whole.validUntil };
    await expect((await answering(JSON.stringify(body))).estimate(pair, '1')).rejects.toThrow(SwapRefused);
    expect(await (await answering(JSON.stringify({ ...body, fromAmount: 1 }))).estimate(pair, '1')).toMatchObject({
      toAmount: '3',
      seconds: null,
    });
  });
});
