import { randomBytes, randomUUID } from 'node:crypto';
import { compare } from '../../../domain/money';
import type { Deposits } from './deposits';
import { providerFaults, Refusal, type Order, type ProviderFault, type Rate, type Saved } from './orders';
import { payoutFee, type Prices } from './prices';
import { listed, number, viewOf } from './views';

type Fields = Readonly<Record<string, unknown>>;
type Parts = Readonly<{ state: Saved; save: () => void; prices: Prices; deposits: Deposits; validMs: number }>;

/** Rates that the provider has promised, each for one order. */
function ratesOf({ prices, validMs }: Pick<Parts, 'prices' | 'validMs'>) {
  const rates = new Map<string, Rate>();

  function range(fields: Fields): object {
    const { least, most } = prices.range(prices.pairOf(fields).from);
    return { ...fields, minAmount: number(least), maxAmount: number(most) };
  }

  function estimate(fields: Fields): object {
    const { from, to } = prices.pairOf(fields);
    const fromAmount = prices.amountOf(from, fields.fromAmount);
    const validUntil = new Date(Date.now() + validMs).toISOString();
    const rate: Rate = { from, to, fromAmount, toAmount: prices.worth(from, to, fromAmount), validUntil };
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

  /** The rate that an order names; throws where it is another's or has expired. */
  function rateFor(body: Fields, pair: { from: string; to: string }, fromAmount: string): Rate {
    const rate = rates.get(String(body.rateId));
    const isRate = rate?.from === pair.from && rate.to === pair.to && compare(rate.fromAmount, fromAmount) === 0;
    if (!isRate || Date.parse(rate.validUntil) < Date.now())
      throw new Refusal(400, 'rate_id_not_found', 'The rate has expired');
    return rate;
  }

  return { range, estimate, rateFor, spend: (rateId: unknown) => rates.delete(String(rateId)) };
}

/** The provider's routes, by method and path; each takes the fields of the query or of the body. */
export function routesOf({ state, save, prices, deposits, validMs }: Parts) {
  const { range, estimate, rateFor, spend } = ratesOf({ prices, validMs });
  const script: ProviderFault[] = [];

  function create(body: Fields): object {
    const pair = prices.pairOf(body);
    const fromAmount = prices.amountOf(pair.from, body.fromAmount);
    const rate = rateFor(body, pair, fromAmount);
    if (typeof body.address !== 'string' || typeof body.refundAddress !== 'string' || !body.address)
      throw new Refusal(400, 'not_valid_address', 'Address is not valid');
    const fault = script.shift() ?? null;
    if (fault === 'refuse') throw new Refusal(400, 'pair_is_inactive', 'Pair is inactive');
    spend(body.rateId);
    const index = state.orders.length;
    const order: Order = {
      id: randomBytes(7).toString('hex'),
      index,
      ...pair,
      fromAmount,
      toAmount: rate.toAmount,
      payinAddress: deposits.depositAddress(pair.from, index),
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
    return { ...viewOf(order), status: undefined };
  }

  const ordersTo = (address: unknown): Order[] =>
    state.orders.filter((order) => !address || order.payoutAddress === address);

  function byId(fields: Fields): object {
    const order = state.orders.find((one) => one.id === fields.id);
    if (!order) throw new Refusal(404, 'not_found', 'Exchange not found');
    return viewOf(order);
  }

  function list(fields: Fields): object {
    const found = ordersTo(fields.payoutAddress);
    return { count: found.length, exchanges: found.map(listed) };
  }

  function addFault(body: Fields): object {
    const kind = providerFaults.find((one) => one === body.kind);
    if (!kind) throw new Refusal(400, 'bad_params', `kind is none of ${providerFaults.join(', ')}`);
    script.push(kind);
    return { kind };
  }

  function release(body: Fields): object {
    const held = ordersTo(body.payoutAddress);
    for (const order of held) order.released = true;
    save();
    return { released: held.length };
  }

  const routes: Readonly<Record<string, (fields: Fields) => object>> = {
    'GET /v2/exchange/range': range,
    'GET /v2/exchange/estimated-amount': estimate,
    'POST /v2/exchange': create,
    'GET /v2/exchange/by-id': byId,
    'GET /v2/exchanges': list,
    'POST /sandbox/fault': addFault,
    'POST /sandbox/release': release,
    'GET /sandbox/orders': () => ({ orders: state.orders }),
  };
  return { routes, nextFault: () => script[0] };
}
