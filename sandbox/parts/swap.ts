import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { p2wpkh } from '@scure/btc-signer';
import { TEST_NETWORK } from '@scure/btc-signer/utils.js';
import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { assetOf, networkOf } from '../../domain/chains/assets';
import { compare, divide, fit, fromUnits, isAmount, isPositive, subtract, times, toUnits } from '../../domain/money';
import { bitcoinCall, mineBitcoin, mineEthereum, type Chains } from '../miner';
import { Payer } from '../payer';
import { payerBitcoinKey } from '../secrets';
import { call } from './json-rpc';
import type { Part } from './part';

/** What goes wrong with the next order that is made. `released`: what a fault held back, it does when POST /sandbox/release says so. */
export const providerFaults = [
  /** No order is made. */
  'refuse',
  /** The order is made, and its answer is lost. */
  'reply-lost',
  /** Says that no deposit came in time, before one could. */
  'expired',
  /** Takes the deposit and says no more; pays when released. */
  'silent',
  /** Says that it has paid, and pays when released. */
  'late',
  /** Pays, and when released once more. */
  'twice',
  /** Pays nine tenths. */
  'short',
  /** Pays another asset of the same network. */
  'wrong-asset',
  /** Sends the deposit back, less a fee. */
  'refund',
  /** Keeps the deposit and says that it has failed. */
  'failed',
  /** The same; pays when released. */
  'failed-then-completed',
  /** Pays, and says that it has failed. */
  'completed-then-failed',
  /** A status that is not in its documentation. */
  'unknown-status',
] as const;
export type ProviderFault = (typeof providerFaults)[number];

export type SwapOptions = Readonly<{
  /** Orders and keys last below it. */
  dataDir: string;
  port: number;
  chains: Chains;
  tokens: Readonly<Record<string, string>>;
  /** Who gives it its first coins. */
  payerMnemonic: string;
  mnemonic: string;
  /** The sandbox's price file. */
  priceFile: string;
  apiKey: string;
  /** Confirmations that it wants of a deposit. */
  confirmations?: number;
  /** How long it keeps a rate and waits for a deposit. */
  validSeconds?: number;
}>;

type Order = {
  id: string;
  index: number;
  from: string;
  to: string;
  fromAmount: string;
  toAmount: string;
  payinAddress: string;
  payoutAddress: string;
  refundAddress: string;
  payload: unknown;
  createdAt: string;
  validUntil: string;
  status: string;
  fault: ProviderFault | null;
  released: boolean;
  received: string | null;
  payinHash: string | null;
  payoutHashes: string[];
  refundHash: string | null;
  refundAmount: string | null;
};
type Rate = Readonly<{ from: string; to: string; fromAmount: string; toAmount: string; validUntil: string }>;
type Saved = { orders: Order[]; scanned: number; funded: boolean };
type Block = { tx?: Tx[]; rawtx?: Tx[] };
type Tx = { txid: string; vout: Array<{ value: number; scriptPubKey: { hex: string } }> };

const byTicker: Readonly<Record<string, string>> = {
  'btc/btc': 'BTC',
  'eth/eth': 'ETH',
  'usdt/eth': 'USDT_ERC20',
  'usdc/eth': 'USDC_ERC20',
};
const tickerOf = (currency: string): string[] =>
  Object.keys(byTicker)
    .find((key) => byTicker[key] === currency)!
    .split('/');
/** What paying out costs a customer, beside the spread. */
const payoutFee: Readonly<Record<string, string>> = {
  BTC: '0.00005',
  ETH: '0.0004',
  USDT_ERC20: '1.2',
  USDC_ERC20: '1.2',
};
const spread = '0.995';
const least = '20';
const most = '200000';
const everyMs = 300;

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** A swap provider that speaks ChangeNOW's API, version 2, fixed-rate flow, at the prices of the sandbox. It is nobody's friend: own
 *  keys, own coins on the local chains, own confirmations. `POST /sandbox/fault {kind}` scripts the next order, `POST
 *  /sandbox/release {payoutAddress?}` lets held ones go on, `GET /sandbox/orders` shows them. It lives in our own process. */
export async function startSwap(options: SwapOptions): Promise<Part> {
  const { port, chains, tokens, apiKey } = options;
  const depth = options.confirmations ?? 1;
  const validMs = (options.validSeconds ?? 600) * 1000;
  const file = join(options.dataDir, 'swap.json');
  mkdirSync(options.dataDir, { recursive: true });
  const state: Saved = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Saved)
    : { orders: [], scanned: 0, funded: false };
  const save = (): void => {
    writeFileSync(`${file}.new`, JSON.stringify(state), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };
  const rates = new Map<string, Rate>();
  const script: ProviderFault[] = [];
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(options.mnemonic));
  const wallet = new Payer(chains, tokens, options.mnemonic, 1);
  const regtest = { ...TEST_NETWORK, bech32: 'bcrt' };

  const bitcoinKey = (index: number) => p2wpkh(root.derive(`m/84'/1'/7'/0/${index}`).publicKey!, regtest);
  const scriptOf = (index: number): string => Buffer.from(bitcoinKey(index).script).toString('hex');
  function depositAddress(currency: string, index: number): string {
    if (currency === 'BTC') return bitcoinKey(index).address!;
    return privateKeyToAddress(`0x${Buffer.from(root.derive(`m/44'/60'/7'/0/${index}`).privateKey!).toString('hex')}`);
  }

  /** Coins to pay out with: from whoever has those of the local chain. */
  async function fund(): Promise<void> {
    if (state.funded) return;
    const customer = new Payer(chains, tokens, options.payerMnemonic);
    await customer.fund();
    for (let coin = 0; coin < 4; coin += 1) {
      await customer.pay('BTC', payerBitcoinKey(options.mnemonic).address, '40');
      await mineBitcoin(chains.btcRpcUrl);
    }
    const accounts = await call<string[]>(chains.ethRpcUrl, 'eth_accounts');
    for (const currency of Object.keys(tokens)) await customer.pay(currency, accounts[1]!, '10000000');
    await mineEthereum(chains.ethRpcUrl);
    state.funded = true;
    save();
  }

  function price(currency: string): string {
    const prices = JSON.parse(readFileSync(options.priceFile, 'utf8')) as { USD: Record<string, string> };
    const usd = prices.USD[currency];
    if (!isAmount(usd)) throw new Refusal(400, 'pair_is_inactive', 'This pair is not traded now');
    return usd;
  }
  function worth(from: string, to: string, amount: string): string {
    const { decimals } = assetOf(to);
    const gross = divide(
      times(times(amount, price(from), 40, 'down'), spread, 40, 'down'),
      price(to),
      decimals,
      'down',
    );
    const net = subtract(gross, payoutFee[to]!);
    return isPositive(net) ? net : '0';
  }
  const bound = (currency: string, usd: string): string =>
    divide(usd, price(currency), Math.min(8, assetOf(currency).decimals), 'up');

  function pairOf(fields: Readonly<Record<string, unknown>>): { from: string; to: string } {
    const from = byTicker[`${String(fields.fromCurrency)}/${String(fields.fromNetwork)}`];
    const to = byTicker[`${String(fields.toCurrency)}/${String(fields.toNetwork)}`];
    if (!from || !to || from === to) throw new Refusal(400, 'pair_is_inactive', 'Pair is inactive');
    if (fields.flow !== 'fixed-rate') throw new Refusal(400, 'bad_params', 'Only the fixed-rate flow is here');
    return { from, to };
  }

  function amountOf(from: string, amount: unknown): string {
    if (!isAmount(amount)) throw new Refusal(400, 'bad_params', 'fromAmount is no amount');
    if (compare(amount, bound(from, least)) < 0) throw new Refusal(400, 'deposit_too_small', 'Out of min amount');
    if (compare(amount, bound(from, most)) > 0) throw new Refusal(400, 'deposit_too_big', 'Out of max amount');
    return amount;
  }

  function create(body: Readonly<Record<string, unknown>>): Order {
    const { from, to } = pairOf(body);
    const rate = rates.get(String(body.rateId));
    const fromAmount = amountOf(from, body.fromAmount);
    const isRate = rate?.from === from && rate.to === to && compare(rate.fromAmount, fromAmount) === 0;
    if (!isRate || Date.parse(rate.validUntil) < Date.now())
      throw new Refusal(400, 'rate_id_not_found', 'The rate has expired');
    if (typeof body.address !== 'string' || typeof body.refundAddress !== 'string' || !body.address)
      throw new Refusal(400, 'not_valid_address', 'Address is not valid');
    const fault = script.shift() ?? null;
    if (fault === 'refuse') throw new Refusal(400, 'pair_is_inactive', 'Pair is inactive');
    rates.delete(String(body.rateId));
    const index = state.orders.length;
    const order: Order = {
      id: randomBytes(7).toString('hex'),
      index,
      from,
      to,
      fromAmount,
      toAmount: rate.toAmount,
      payinAddress: depositAddress(from, index),
      payoutAddress: body.address,
      refundAddress: body.refundAddress,
      payload: body.payload,
      createdAt: new Date().toISOString(),
      validUntil: new Date(Date.now() + validMs).toISOString(),
      status: fault === 'expired' ? 'expired' : 'waiting',
      fault,
      released: false,
      received: null,
      payinHash: null,
      payoutHashes: [],
      refundHash: null,
      refundAmount: null,
    };
    state.orders.push(order);
    save();
    return order;
  }

  /** What has arrived at an order's address, deep enough; null: nothing yet. */
  async function arrived(order: Order): Promise<string | null> {
    if (order.from === 'BTC') return order.received;
    const head = parseInt(await call<string>(chains.ethRpcUrl, 'eth_blockNumber'), 16);
    const at = `0x${Math.max(0, head - depth + 1).toString(16)}`;
    const contract = tokens[order.from];
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [order.payinAddress as Hex] });
    const units = BigInt(
      contract
        ? await call<string>(chains.ethRpcUrl, 'eth_call', [{ to: contract, data }, at])
        : await call<string>(chains.ethRpcUrl, 'eth_getBalance', [order.payinAddress, at]),
    );
    return units > 0n ? fromUnits(units, assetOf(order.from).decimals) : null;
  }

  /** Takes the Bitcoin blocks that are deep enough, each once. */
  async function scanBitcoin(): Promise<void> {
    const open = state.orders.filter((order) => order.from === 'BTC' && order.received === null);
    const head = await bitcoinCall<number>(chains.btcRpcUrl, 'getblockcount');
    for (; state.scanned < head - depth + 1; state.scanned += 1) {
      if (!open.length) continue;
      const hash = await bitcoinCall<string>(chains.btcRpcUrl, 'getblockhash', [state.scanned + 1]);
      const block = await bitcoinCall<Block>(chains.btcRpcUrl, 'getblock', [hash, 2]);
      for (const tx of block.rawtx ?? block.tx ?? [])
        for (const output of tx.vout) {
          const order = open.find((one) => scriptOf(one.index) === output.scriptPubKey.hex);
          if (!order) continue;
          order.received = fromUnits(toUnits(output.value.toFixed(8), 8), 8);
          order.payinHash = tx.txid;
        }
    }
  }

  const pay = async (order: Order, currency: string, amount: string): Promise<void> => {
    const { txId } = await wallet.pay(currency, order.payoutAddress, amount);
    order.payoutHashes.push(txId);
  };
  async function refund(order: Order): Promise<void> {
    const amount = subtract(order.received!, payoutFee[order.from]!);
    order.refundHash = (await wallet.pay(order.from, order.refundAddress, amount)).txId;
    order.refundAmount = amount;
    order.status = 'refunded';
  }

  /** One step of an order, as far as it can go now. */
  async function advance(order: Order): Promise<void> {
    if (order.received === null) {
      order.received = await arrived(order);
      if (order.received === null) {
        if (order.status === 'waiting' && Date.parse(order.validUntil) < Date.now()) order.status = 'expired';
        return;
      }
      order.status = 'exchanging';
    }
    const isPaid = order.payoutHashes.length > 0;
    const isExact = compare(order.received, order.fromAmount) === 0;
    // The rate was kept for so long; who pays later gets what it is worth then.
    const isLate = Date.parse(order.validUntil) < Date.now();
    const due = isLate ? worth(order.from, order.to, order.received) : order.toAmount;
    switch (order.fault) {
      case 'silent':
        if (!order.released) return;
        break;
      case 'late':
        order.status = 'finished';
        if (!order.released) return;
        break;
      case 'twice':
        if (isPaid && order.released && order.payoutHashes.length === 1) await pay(order, order.to, due);
        break;
      case 'short':
        if (!isPaid) await pay(order, order.to, times(due, '0.9', Math.min(8, assetOf(order.to).decimals), 'down'));
        order.status = 'finished';
        return;
      case 'wrong-asset': {
        const other = Object.values(byTicker).find(
          (currency) => currency !== order.to && networkOf(currency).id === networkOf(order.to).id,
        );
        if (!isPaid) await pay(order, other!, '25');
        order.status = 'finished';
        return;
      }
      case 'refund':
        if (!order.refundHash) await refund(order);
        return;
      case 'failed':
        order.status = 'failed';
        return;
      case 'failed-then-completed':
        order.status = 'failed';
        if (!order.released) return;
        break;
      case 'completed-then-failed':
        if (!isPaid) await pay(order, order.to, due);
        order.status = 'failed';
        return;
      case 'unknown-status':
        order.status = 'on_hold';
        if (!order.released) return;
        break;
      default:
        if (!isExact && !isPaid) {
          if (!order.refundHash) await refund(order);
          return;
        }
    }
    if (!order.payoutHashes.length) await pay(order, order.to, due);
    order.status = 'finished';
  }

  const isDone = (order: Order): boolean =>
    order.fault === 'twice'
      ? order.payoutHashes.length > 1
      : order.payoutHashes.length > 0 && order.status === 'finished';

  async function tick(): Promise<void> {
    await scanBitcoin();
    for (const order of state.orders) if (!isDone(order)) await advance(order);
    save();
  }

  const viewOf = (order: Order): object => {
    const [fromCurrency, fromNetwork] = tickerOf(order.from);
    const [toCurrency, toNetwork] = tickerOf(order.to);
    const paid = order.status === 'finished' && order.fault !== 'wrong-asset' ? order.toAmount : null;
    return {
      id: order.id,
      status: order.status,
      actionsAvailable: false,
      ...{ fromCurrency, fromNetwork, toCurrency, toNetwork },
      expectedAmountFrom: number(order.fromAmount),
      expectedAmountTo: number(order.toAmount),
      amountFrom: number(order.received),
      amountTo: number(paid),
      payinAddress: order.payinAddress,
      payoutAddress: order.payoutAddress,
      payinExtraId: null,
      payoutExtraId: null,
      refundAddress: order.refundAddress,
      refundExtraId: null,
      createdAt: order.createdAt,
      updatedAt: new Date().toISOString(),
      depositReceivedAt: null,
      payinHash: order.payinHash,
      payoutHash: order.payoutHashes[0] ?? null,
      refundHash: order.refundHash,
      refundAmount: number(order.refundAmount),
      userId: null,
      validUntil: order.validUntil,
      relatedExchangesInfo: [],
      repeatedExchangesInfo: [],
    };
  };

  function answer(
    method: string,
    path: string,
    query: URLSearchParams,
    body: Readonly<Record<string, unknown>>,
  ): unknown {
    const fields = Object.fromEntries(query);
    switch (`${method} ${path}`) {
      case 'GET /v2/exchange/range': {
        const { from } = pairOf(fields);
        return { ...fields, minAmount: number(bound(from, least)), maxAmount: number(bound(from, most)) };
      }
      case 'GET /v2/exchange/estimated-amount': {
        const { from, to } = pairOf(fields);
        const fromAmount = amountOf(from, fields.fromAmount);
        const validUntil = new Date(Date.now() + validMs).toISOString();
        const rate: Rate = { from, to, fromAmount, toAmount: worth(from, to, fromAmount), validUntil };
        const rateId = randomUUID();
        rates.set(rateId, rate);
        return {
          ...fields,
          rateId,
          validUntil,
          transactionSpeedForecast: '10-60',
          warningMessage: null,
          depositFee: number('0'),
          withdrawalFee: number(payoutFee[to]!),
          fromAmount: number(fromAmount),
          toAmount: number(rate.toAmount),
        };
      }
      case 'POST /v2/exchange':
        return { ...viewOf(create(body)), status: undefined };
      case 'GET /v2/exchange/by-id': {
        const order = state.orders.find((one) => one.id === fields.id);
        if (!order) throw new Refusal(404, 'not_found', 'Exchange not found');
        return viewOf(order);
      }
      case 'GET /v2/exchanges': {
        const found = state.orders.filter(
          (order) => !fields.payoutAddress || order.payoutAddress === fields.payoutAddress,
        );
        return {
          count: found.length,
          exchanges: found.map((order) => ({
            createdAt: order.createdAt,
            exchangeId: order.id,
            requestId: order.id,
            status: order.status,
            validUntil: order.validUntil,
            flow: 'fixed-rate',
            payin: {
              currency: tickerOf(order.from)[0],
              address: order.payinAddress,
              expectedAmount: number(order.fromAmount),
            },
            payout: {
              currency: tickerOf(order.to)[0],
              address: order.payoutAddress,
              hash: order.payoutHashes[0] ?? null,
            },
            refund: { currency: tickerOf(order.from)[0], address: order.refundAddress, hash: order.refundHash },
            partnerInfo: { userId: null, payload: order.payload },
          })),
        };
      }
      case 'POST /sandbox/fault': {
        const kind = providerFaults.find((one) => one === body.kind);
        if (!kind) throw new Refusal(400, 'bad_params', `kind is none of ${providerFaults.join(', ')}`);
        script.push(kind);
        return { kind };
      }
      case 'POST /sandbox/release': {
        const held = state.orders.filter((order) => !body.payoutAddress || order.payoutAddress === body.payoutAddress);
        for (const order of held) order.released = true;
        save();
        return { released: held.length };
      }
      case 'GET /sandbox/orders':
        return { orders: state.orders };
      default:
        throw new Refusal(404, 'not_found', 'Not found');
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://swap');
    const say = (status: number, value: unknown): void => {
      response.statusCode = status;
      response.setHeader('content-type', 'application/json').end(JSON.stringify(value));
    };
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('utf8');
      const isOurs = pathname.startsWith('/sandbox/');
      if (!isOurs && request.headers['x-changenow-api-key'] !== apiKey)
        throw new Refusal(401, 'unauthorized', 'Unauthorized');
      const loses = request.method === 'POST' && !isOurs && script[0] === 'reply-lost';
      const value = answer(
        request.method ?? '',
        pathname,
        searchParams,
        text ? (JSON.parse(text) as Record<string, unknown>) : {},
      );
      if (loses) response.destroy();
      else say(200, value);
    } catch (error) {
      if (error instanceof Refusal) say(error.status, { error: error.code, message: error.message });
      else say(500, { error: 'internal', message: (error as Error).message });
    }
  }

  let server: Server | undefined;
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> = Promise.resolve();
  const start = async (): Promise<void> => {
    if (server) return;
    await fund();
    const listening = createServer((request, response) => void serve(request, response));
    await new Promise<void>((resolve, reject) => {
      listening.once('error', reject);
      listening.listen(port, '127.0.0.1', resolve);
    });
    server = listening;
    const again = (): void => {
      ticking = tick()
        .catch(() => undefined) // a node that is down is looked for again at the next tick
        .then(() => {
          if (server) timer = setTimeout(again, everyMs);
        });
    };
    timer = setTimeout(again, everyMs);
  };
  const stop = async (): Promise<void> => {
    const listening = server;
    server = undefined;
    if (!listening) return;
    clearTimeout(timer);
    await ticking;
    await new Promise<void>((resolve) => {
      listening.close(() => resolve());
      listening.closeAllConnections();
    });
  };
  await start();
  return {
    name: 'swap',
    url: `http://127.0.0.1:${port}`,
    pid: () => (server ? process.pid : undefined),
    start,
    stop,
    kill9: stop, // to its clients it is gone all the same
  };
}

/** A JSON number with every digit of an amount. */
const number = (amount: string | null): unknown =>
  amount === null ? null : (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(fit(amount, 18, 'down'));
