import { Decimal, isAmount, isPositive } from '../../domain/money';
import {
  SwapRefused,
  SwapUnavailable,
  type NewSwapOrder,
  type SwapEstimate,
  type SwapOrder,
  type SwapPair,
  type SwapProvider,
  type SwapRange,
  type SwapState,
} from '../../domain/conversions/swap';
import { askOutside, type Posted } from '../webhooks/outbound';

type Options = Readonly<{
  /** With scheme, without path: https://api.changenow.io */
  url: string;
  apiKey: string;
  allowInsecure: boolean;
  timeoutMs?: number;
}>;
type Fields = Readonly<Record<string, unknown>>;

/** Ours → their ticker and network. What is not here they do not get. */
const tickers: Readonly<Record<string, { currency: string; network: string }>> = {
  BTC: { currency: 'btc', network: 'btc' },
  ETH: { currency: 'eth', network: 'eth' },
  USDT_ERC20: { currency: 'usdt', network: 'eth' },
  USDC_ERC20: { currency: 'usdc', network: 'eth' },
};

const states: Readonly<Record<string, SwapState>> = {
  new: 'waiting',
  waiting: 'waiting',
  confirming: 'working',
  exchanging: 'working',
  sending: 'working',
  verifying: 'working',
  finished: 'finished',
  failed: 'failed',
  refunded: 'refunded',
  expired: 'expired',
};

/** ChangeNOW's API, version 2, fixed-rate flow: https://documenter.getpostman.com/view/8180765/SVfTPnM8. Its amounts
 *  are JSON numbers; they are taken by their text, so that no digit is lost. A request that carries `payload` needs the
 *  special partner fields, which ChangeNOW grants on demand, as it does the list of exchanges. */
export function changenowProvider(options: Options): SwapProvider {
  const ask = asking(options);
  const readOrder = async (id: string): Promise<SwapOrder> => orderOf(await ask('GET', '/v2/exchange/by-id', { id }));

  return {
    name: 'changenow',

    async range(pair): Promise<SwapRange> {
      const range = await ask('GET', '/v2/exchange/range', { ...pairOf(pair), flow: 'fixed-rate' });
      const isOpen = range.maxAmount === null || range.maxAmount === undefined;
      return { min: amountOf(range, 'minAmount'), max: isOpen ? null : amountOf(range, 'maxAmount') };
    },

    async estimate(pair, fromAmount): Promise<SwapEstimate> {
      const estimate = await ask('GET', '/v2/exchange/estimated-amount', {
        ...pairOf(pair),
        fromAmount,
        flow: 'fixed-rate',
        type: 'direct',
        useRateId: 'true',
      });
      const taken = amountOf(estimate, 'fromAmount');
      if (!new Decimal(taken).equals(fromAmount))
        throw new SwapRefused('amount_changed', `The swap provider priced ${taken} in place of ${fromAmount}`);
      return {
        rateId: textOf(estimate, 'rateId'),
        fromAmount: taken,
        toAmount: amountOf(estimate, 'toAmount'),
        validUntil: timeOf(estimate, 'validUntil'),
        seconds: secondsOf(estimate.transactionSpeedForecast),
      };
    },

    async findOrder(conversionId, payoutAddress) {
      const { exchanges } = await ask('GET', '/v2/exchanges', { payoutAddress, limit: '10', sortDirection: 'ASC' });
      if (!Array.isArray(exchanges)) throw new SwapUnavailable('The swap provider answered no list of exchanges');
      const own = (exchanges as Array<Fields | null>).filter(
        (one) => (one?.payout as Fields | undefined)?.address === payoutAddress,
      );
      const [first] = own;
      if (!first) return null;
      const payload = (first.partnerInfo as Fields | undefined)?.payload as Fields | null | undefined;
      if (payload?.conversionId !== undefined && payload.conversionId !== conversionId)
        throw new SwapUnavailable(`The swap provider's order at ${payoutAddress} is of another conversion`);
      return readOrder(textOf(first, 'requestId'));
    },

    async createOrder(order: NewSwapOrder) {
      const made = await ask(
        'POST',
        '/v2/exchange',
        {},
        {
          ...pairOf(order),
          fromAmount: order.fromAmount,
          toAmount: '',
          address: order.payoutAddress,
          extraId: '',
          refundAddress: order.refundAddress,
          refundExtraId: '',
          userId: '',
          payload: { conversionId: order.conversionId },
          contactEmail: '',
          flow: 'fixed-rate',
          type: 'direct',
          rateId: order.rateId,
        },
      );
      return readOrder(textOf(made, 'id'));
    },

    readOrder,
  };
}

type Ask = (
  method: 'GET' | 'POST',
  path: string,
  query: Readonly<Record<string, string>>,
  body?: object,
) => Promise<Fields>;

/** How they are asked. Throws SwapRefused and SwapUnavailable. */
const asking =
  ({ url, apiKey, allowInsecure, timeoutMs = 8000 }: Options): Ask =>
  async (method, path, query, body) => {
    const target = new URL(path, url);
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value);
    const answer = await askOutside({
      method,
      url: target.href,
      headers: { 'x-changenow-api-key': apiKey, accept: 'application/json' },
      allowInsecure,
      timeoutMs,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return fieldsOf(answer, `${method} ${path}`);
  };

/** A pair in their words. Throws SwapRefused where they do not get one of its sides. */
function pairOf({ from, to }: SwapPair) {
  const [source, target] = [tickers[from], tickers[to]];
  if (!source || !target) throw new SwapRefused('pair_is_inactive', `${from} to ${to} is not traded`);
  return {
    fromCurrency: source.currency,
    fromNetwork: source.network,
    toCurrency: target.currency,
    toNetwork: target.network,
  };
}

function orderOf(order: Fields): SwapOrder {
  const status = textOf(order, 'status');
  return {
    id: textOf(order, 'id'),
    state: states[status] ?? 'unknown',
    status,
    depositAddress: textOf(order, 'payinAddress'),
    payoutAddress: textOf(order, 'payoutAddress'),
    refundAddress: textOf(order, 'refundAddress'),
    fromAmount: amountOf(order, 'expectedAmountFrom'),
    toAmount: amountOf(order, 'expectedAmountTo'),
    payoutTxId: typeof order.payoutHash === 'string' && order.payoutHash ? textOf(order, 'payoutHash') : null,
    validUntil: order.validUntil === null || order.validUntil === undefined ? null : timeOf(order, 'validUntil'),
  };
}

/** The object in an answer, every number in it as its text. A refusal is one that they explain with a code; all else
 *  leaves open what has happened. */
function fieldsOf(answer: Posted, what: string): Fields {
  if (answer.statusCode === null) throw new SwapUnavailable(`${what}: ${answer.error ?? 'no answer'}`);
  const fields = parse(answer.body);
  const isRefusal = answer.statusCode === 400 || answer.statusCode === 404 || answer.statusCode === 422;
  if (isRefusal && typeof fields?.error === 'string')
    throw new SwapRefused(fields.error, typeof fields.message === 'string' ? fields.message : fields.error);
  if (answer.error !== null) throw new SwapUnavailable(`${what}: ${answer.error}`);
  if (!fields) throw new SwapUnavailable(`${what}: the answer is no JSON object`);
  return fields;
}

/** JSON.parse rounds numbers; their text has every digit. */
type Source = Readonly<{ source?: string }>;
function parse(body: string): Fields | null {
  try {
    const exact = (_key: string, value: unknown, context?: Source): unknown =>
      typeof value === 'number' ? (context?.source ?? String(value)) : value;
    const value: unknown = JSON.parse(body, exact);
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : null;
  } catch {
    return null;
  }
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || !value || value.length > 256)
    throw new SwapUnavailable(`The swap provider's answer has no ${name}`);
  return value;
}

/** A positive amount, from a number's text or a string; `1.5e-7` is written out. */
function amountOf(fields: Fields, name: string): string {
  const value = fields[name];
  const text =
    typeof value === 'string' && /^\d+(\.\d+)?[eE][+-]?\d{1,2}$/.test(value) ? new Decimal(value).toFixed() : value;
  if (!isAmount(text) || !isPositive(text)) throw new SwapUnavailable(`The swap provider's ${name} is no amount`);
  return text;
}

function timeOf(fields: Fields, name: string): string {
  const at = Date.parse(textOf(fields, name));
  if (Number.isNaN(at)) throw new SwapUnavailable(`The swap provider's ${name} is no time`);
  return new Date(at).toISOString();
}

/** `10-60` minutes: the longer end. */
function secondsOf(forecast: unknown): number | null {
  const match = typeof forecast === 'string' ? /^(?:\d{1,4}-)?(\d{1,4})$/.exec(forecast) : null;
  return match?.[1] ? parseInt(match[1], 10) * 60 : null;
}
