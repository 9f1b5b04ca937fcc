import { Type } from 'typebox';
import {
  conversionStatuses,
  executionModes,
  viewConversion,
  viewQuote,
  type ConversionStatus,
} from '../../domain/conversions/conversion';
import { assetsOn } from '../../domain/chains/assets';
import { DomainError, errorTable } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { amountPattern, Decimal } from '../../domain/money';
import { liquidity, listConversions as list, readConversion } from '../../db/conversions/conversions';
import { isSwitchedOn } from '../../db/access/switches';
import { bestRoute } from '../../commands/conversions/best-route';
import { cheaperTargets } from '../../commands/conversions/cheaper-targets';
import { executeConversion as execute } from '../../commands/conversions/execute';
import { checkConversionsEnabled, quoteConversion as quote, type QuoteDeps } from '../../commands/conversions/quote';
import { askOf, currencyOf } from '../../domain/conversions/ask';
import { factorProps } from '../access/step-up';
import { momentOf } from '../http/dates';
import { isLive, type ApiDeps } from '../http/deps';
import { executorOf } from './executor';
import { route } from '../http/route';
import { exact, line, livemode, named, pageOf, paging, time } from '../http/schemas';

/** Balances into each other. Contract: 2.4, 2.5, 4.4, G8. */

const tag = 'Conversions';
const quoteDeps = ({ db, config, external }: ApiDeps): QuoteDeps => ({
  db,
  rateMaxAgeSeconds: config.RATE_MAX_AGE_SECONDS,
  external,
});
const mode = Type.String({
  enum: [...executionModes],
  description: 'Decided by the platform; may change between two quotes.',
});
const number = (description: string) => Type.Number({ description });
const seconds = Type.Optional(
  Type.Union([Type.Integer(), Type.Null()], {
    description: 'External only: until it arrives; null when not reported.',
  }),
);
const reportedSeconds = Type.Optional(
  Type.Integer({ description: 'External only: until it arrives, where that is reported.' }),
);

const quoteSchema = named('Quote', {
  fromCurrency: Type.String(),
  toCurrency: Type.String(),
  fromAmount: number('In the source currency.'),
  exchangeRate: number('Target per source. Carry it forward as quotedRate.'),
  commissionRate: number('Effectively charged: commissionAmount / fromAmount, floors included.'),
  commissionAmount: number('In the source currency, rounded up.'),
  netFromAmount: number('fromAmount less commissionAmount.'),
  toAmount: number('What arrives; external: at least.'),
  fromAmountStr: exact('Carry it forward as fromAmount.'),
  toAmountStr: exact('Carry it forward as quotedToAmount.'),
  validUntil: time,
  executionMode: mode,
  feeBreakdown: Type.Optional(
    Type.Object(
      { platformFeePct: Type.Number(), providerFeePct: Type.Number() },
      { description: 'Only where the effective fee is above the base; both add up to commissionRate × 100.' },
    ),
  ),
  priceProtectionPct: Type.Optional(number('External only: by how much less may arrive.')),
  estimatedSeconds: seconds,
});

export const conversionSchema = named('Conversion', {
  _id: Type.String(),
  merchantId: Type.String(),
  fromCurrency: Type.String(),
  toCurrency: Type.String(),
  fromAmount: Type.Number(),
  toAmount: Type.Optional(number('This and the next four: absent where it ended before there was a quote.')),
  exchangeRate: Type.Optional(Type.Number()),
  commissionRate: Type.Optional(Type.Number()),
  commissionAmount: Type.Optional(Type.Number()),
  netFromAmount: Type.Optional(Type.Number()),
  status: Type.String({ enum: [...conversionStatuses] }),
  stateVersion: Type.Integer({ description: 'Grows with each change; drop older ones.' }),
  livemode,
  executionMode: mode,
  creditAmountStr: Type.Optional(exact('External only: what was credited. Reconcile on it.')),
  priceProtectionBand: Type.Optional(number('External only: of the accepted quote.')),
  merchantMessage: Type.Optional(Type.String({ description: 'Why it ended as it did.' })),
  idempotencyKey: Type.Optional(Type.String({ description: 'Where one was given.' })),
  requestedAt: time,
  completedAt: Type.Optional(time),
  createdAt: time,
  updatedAt: time,
});

const pair = {
  fromCurrency: line(32, 'Source ticker, any case.'),
  toCurrency: line(32, 'Target ticker, any case.'),
};
const amountText = Type.String({ pattern: amountPattern, description: 'Positive decimal; what is too fine is cut.' });

export const quoteConversion = route({
  name: 'quoteConversion',
  method: 'get',
  path: '/api/v1/conversions/quote',
  summary: 'Quote a conversion',
  description: 'Moves nothing. Good for 60 seconds, within 1 %.',
  tag,
  envelope: 'B',
  refusals: 'A',
  query: Type.Object({ ...pair, fromAmount: amountText }),
  success: { status: 200, schema: quoteSchema, description: 'The quote.' },
  errors: ['CONVERSIONS_DISABLED', 'SAME_CURRENCY', 'QUOTE_FAILED', 'RATE_UNAVAILABLE'],
  async answer({ query }, deps) {
    const ask = askOf(query, deps.config.LIGHTNING_PAYMENTS);
    await checkConversionsEnabled(deps.db);
    const quoted = await quote(quoteDeps(deps), ask);
    return { data: viewQuote(quoted.quote, quoted.terms.now) };
  },
});

export const executeConversion = route({
  name: 'executeConversion',
  method: 'post',
  path: '/api/v1/conversions',
  summary: 'Convert a balance',
  description:
    'Internal: 201 carries `completed`. External: `processing`; ask for the conversion until it is `completed` or ' +
    '`failed`. With quotedRate or quotedToAmount nothing is executed at terms more than 1 % worse, and 409 ' +
    'RATE_DRIFT carries a new quote; internal conversions are checked against the market in any case. The same ' +
    'idempotencyKey answers the first conversion, also where a new one would be refused; a session brings its factor ' +
    'again, which is not used then. After a 409 about the key, look the conversion up by it.',
  tag,
  envelope: 'B',
  refusals: 'A',
  body: Type.Object({
    ...pair,
    fromAmount: Type.Union([amountText, Type.Number({ exclusiveMinimum: 0 })], { description: 'Prefer the string.' }),
    idempotencyKey: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\ud800-\\udfff]*$' }),
    ),
    quotedRate: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'The exchangeRate that was accepted.' })),
    quotedToAmount: Type.Optional(
      Type.String({ pattern: amountPattern, description: 'The toAmountStr that was accepted.' }),
    ),
    otpCode: factorProps.totpCode,
    passkeyResponse: factorProps.passkeyResponse,
    challengeKey: factorProps.challengeKey,
  }),
  marksRepeats: true,
  success: { status: 201, schema: conversionSchema, description: 'The conversion, new or the first with this key.' },
  refusalData: { RATE_DRIFT: { driftPct: number('By how much the market moved, in percent.'), newQuote: quoteSchema } },
  errors: [
    'CONVERSIONS_DISABLED',
    'SAME_CURRENCY',
    'RATE_DRIFT',
    'CONVERSION_FAILED',
    'KEY_LIMIT',
    'CONVERSION_IN_PROGRESS',
    'IDEMPOTENCY_KEY_CONSUMED',
    'MFA_REQUIRED',
    'MFA_SETUP_REQUIRED',
    'CONVERSION_FACTOR_WRONG',
    'CONVERSION_FACTOR_NOT_ENROLLED',
    'CONVERSION_FACTOR_LOCKED',
    'USER_NOT_FOUND',
    'RATE_UNAVAILABLE',
  ],
  async answer(call, deps) {
    const { body, merchant } = call;
    const { otpCode, passkeyResponse, challengeKey } = body;
    const by = executorOf(deps, call, { totpCode: otpCode, passkeyResponse, challengeKey });
    const ask = askOf(body as typeof body & { fromAmount: string | number }, deps.config.LIGHTNING_PAYMENTS);
    const { db, freshRates, logger } = deps;
    const { row, replayed } = await execute(
      { ...quoteDeps(deps), db, freshRates, warn: (fields, text) => logger.warn(fields, text) },
      {
        ask,
        accepted: {
          rate: body.quotedRate === undefined ? undefined : new Decimal(body.quotedRate).toFixed(),
          toAmount: body.quotedToAmount,
        },
        idempotencyKey: body.idempotencyKey ?? null,
        merchantId: merchant.id,
        by,
      },
    );
    const headers: Record<string, string> = replayed ? { 'Idempotency-Replayed': 'true' } : {};
    return { data: viewConversion(row, isLive(deps)), headers };
  },
});

export const listConversions = route({
  name: 'listConversions',
  method: 'get',
  path: '/api/v1/conversions',
  summary: 'List conversions, newest first',
  tag,
  envelope: 'B',
  refusals: 'A',
  query: Type.Object({
    status: Type.Optional(Type.String({ enum: [...conversionStatuses] })),
    fromCurrency: Type.Optional(line(32, 'Ticker.')),
    toCurrency: Type.Optional(line(32, 'Ticker.')),
    idempotencyKey: Type.Optional(line(256, 'Finds what a key has executed.')),
    dateFrom: Type.Optional(Type.String({ description: 'Created at or after.' })),
    dateTo: Type.Optional(Type.String({ description: 'Created before.' })),
    ...paging,
  }),
  success: {
    status: 200,
    schema: Type.Object({ items: Type.Array(conversionSchema), total: Type.Integer() }),
    description: 'One page, and how many there are in all.',
  },
  errors: [],
  async answer({ merchant, query }, deps) {
    const filter = {
      status: query.status as ConversionStatus | undefined,
      fromCurrency: query.fromCurrency,
      toCurrency: query.toCurrency,
      idempotencyKey: query.idempotencyKey,
      dateFrom: momentOf(query.dateFrom, 'dateFrom'),
      dateTo: momentOf(query.dateTo, 'dateTo'),
    };
    const { items, total } = await list(deps.db, merchant.id, filter, pageOf(query));
    return { data: { items: items.map((row) => viewConversion(row, isLive(deps))), total } };
  },
});

export const getConversion = route({
  name: 'getConversion',
  method: 'get',
  path: '/api/v1/conversions/{conversionId}',
  summary: 'Get a conversion',
  description: 'Also while conversions are switched off.',
  tag,
  envelope: 'B',
  refusals: 'A',
  params: Type.Object({ conversionId: Type.String({ description: '24-hex conversion id.' }) }),
  success: { status: 200, schema: conversionSchema, description: 'The conversion.' },
  errors: ['INVALID_ID', 'INVALID_CONVERSION_ID', 'CONVERSION_NOT_FOUND'],
  async answer({ merchant, params: { conversionId } }, deps) {
    if (!/^[0-9a-f]{24}$/i.test(conversionId)) throw new DomainError('INVALID_ID');
    // No id of ours is written with capital letters.
    if (!isId(conversionId)) throw new DomainError('INVALID_CONVERSION_ID');
    const row = await readConversion(deps.db, merchant.id, conversionId);
    if (!row) throw new DomainError('CONVERSION_NOT_FOUND');
    return { data: viewConversion(row, isLive(deps)) };
  },
});

export const bestConversionRoute = route({
  name: 'bestConversionRoute',
  method: 'get',
  path: '/api/v1/conversions/best-route',
  summary: 'Which balance gets to a currency at the least cost',
  description: 'A real quote for each of your balances: at most 8, richest first, none worth less than 1 USD.',
  tag,
  envelope: 'B',
  refusals: 'A',
  query: Type.Object({ toCurrency: pair.toCurrency }),
  success: {
    status: 200,
    schema: Type.Object({
      toCurrency: Type.String(),
      options: Type.Array(
        Type.Object({
          fromCurrency: Type.String(),
          toCurrency: Type.String(),
          availableFrom: exact('The whole balance.'),
          fromAmount: exact('The same, cut to the currency’s digits.'),
          toAmount: exact('What arrives.'),
          feePct: number('Percent, four decimals.'),
          feeUsd: Type.Number(),
          receiveUsd: Type.Number(),
          executionMode: mode,
          estimatedSeconds: reportedSeconds,
        }),
        { description: 'Cheapest first.' },
      ),
      unavailable: Type.Array(Type.Object({ fromCurrency: Type.String(), reason: Type.String() })),
      bestSavingUsd: number('What the last option costs beyond the first.'),
    }),
    description: 'The options.',
  },
  errors: ['BEST_ROUTE_DISABLED', 'NO_SCOPE'],
  async answer({ merchant, query }, deps) {
    const toCurrency = currencyOf(query.toCurrency, 'toCurrency');
    await checkConversionsEnabled(deps.db, 'BEST_ROUTE_DISABLED');
    return { data: await bestRoute(quoteDeps(deps), merchant.id, toCurrency) };
  },
});

export const cheaperConversionTargets = route({
  name: 'cheaperConversionTargets',
  method: 'get',
  path: '/api/v1/conversions/cheaper-targets',
  summary: 'Which currencies an amount turns into for less',
  tag,
  envelope: 'B',
  refusals: 'A',
  query: Type.Object({ ...pair, fromAmount: amountText }),
  success: {
    status: 200,
    schema: Type.Object({
      fromCurrency: Type.String(),
      baseline: Type.Object({ toCurrency: Type.String(), feePct: Type.Number(), feeUsd: Type.Number() }),
      targets: Type.Array(
        Type.Object({
          toCurrency: Type.String(),
          toAmount: exact('What arrives.'),
          feePct: Type.Number(),
          feeUsd: Type.Number(),
          savingUsd: Type.Number(),
          executionMode: mode,
          estimatedSeconds: reportedSeconds,
        }),
        { description: 'The same asset on other networks first, then by what is saved.' },
      ),
    }),
    description: 'What the wanted target costs, and what costs less.',
  },
  errors: ['CONVERSIONS_DISABLED', 'SAME_CURRENCY', 'QUOTE_FAILED', 'RATE_UNAVAILABLE'],
  async answer({ query }, deps) {
    const ask = askOf(query, deps.config.LIGHTNING_PAYMENTS);
    await checkConversionsEnabled(deps.db);
    return { data: await cheaperTargets(quoteDeps(deps), ask) };
  },
});

export const conversionLiquidity = route({
  name: 'conversionLiquidity',
  method: 'get',
  path: '/api/v1/conversions/liquidity',
  summary: 'Which targets can be backed now',
  description: 'What is false can be quoted, but not executed internally. What is not known is false.',
  tag,
  envelope: 'B',
  refusals: 'A',
  success: {
    status: 200,
    schema: Type.Object({ liquidity: Type.Record(Type.String(), Type.Boolean()) }),
    description: 'By ticker.',
  },
  errors: [],
  async answer(_call, { db, config, logger }) {
    const own = assetsOn(config.networks).map(({ currency }) => currency);
    const known = await liquidity(db, own).catch((error: unknown) => {
      logger.warn({ err: error }, 'Liquidity not read');
      return new Map<string, boolean>();
    });
    return {
      data: { liquidity: Object.fromEntries(own.map((currency) => [currency, known.get(currency) ?? false])) },
    };
  },
});

export const conversionsEnabled = route({
  name: 'conversionsEnabled',
  method: 'get',
  path: '/api/v1/conversions/enabled',
  summary: 'Whether conversions are offered',
  tag,
  envelope: 'B',
  refusals: 'A',
  success: {
    status: 200,
    schema: Type.Object({
      enabled: Type.Boolean(),
      executionMode: mode,
      message: Type.Optional(Type.String({ description: 'Why not.' })),
    }),
    description: 'The platform’s switch; executionMode is that of pairs without a setting of their own.',
  },
  errors: [],
  async answer(_call, { db }) {
    const enabled = await isSwitchedOn(db, 'conversions');
    const message = enabled ? undefined : errorTable.CONVERSIONS_DISABLED.message;
    return { data: { enabled, executionMode: 'internal', message } };
  },
});
