import { mustBeThere, type Place } from './places';

/** Each rule of a conversion, and the test that holds the product to it. A row that names a test that is not there
 *  fails. */
type Row = readonly [section: string, rule: string, ...where: Place[]];

const at = (test: string): Place => ['api/conversions', test];
const elsewhere = (test: string): Place => ['api/swaps', test];
const chains = (test: string): Place => ['e2e/swaps', test];
const figures = (test: string): Place => ['domain/conversion', test];
const absent =
  "for (const field of ['toAmount', 'exchangeRate', 'commissionRate', 'commissionAmount', 'netFromAmount'])";

const rows: readonly Row[] = [
  ['2.4', 'the record has these fields and no other', at('debits, credits and completes at once')],
  ['2.4', 'fromAmount is always there, what a quote brings is not before one', at(absent)],
  ['2.4', 'absent after a rate drift', at('with nothing quoted, and leaves a cancelled row')],
  ['2.4', 'absent after a failure before pricing', at('is kept as failed, without a quote')],
  ['2.4', 'absent after an interruption', at('free again when what ran was interrupted')],
  [
    '2.4',
    'creditAmountStr is what was credited, less after a short fill',
    chains("'short'"),
    elsewhere('short: what came is credited once'),
  ],
  [
    '2.4',
    'priceProtectionBand of the accepted quote',
    at('debits everything, credits nothing yet, and says processing'),
  ],
  ['2.4', 'merchantMessage tells why it ended', at('merchantMessage: refused.body.error.message')],
  ['2.4', 'idempotencyKey is told where it was given', at("not.toHaveProperty('idempotencyKey')")],
  ['2.4', 'nothing of who executes it is told', at('Everything about who executes it stays here')],

  ['2.5', 'the quote has these fields and no other', at('has the figures of an execution, and moves nothing')],
  ['2.5', 'external rate is toAmount / netFromAmount', at('toBeCloseTo(0.0491 / 0.9955, 12)')],
  ['2.5', 'commissionRate is what is charged, floors included', at('tells the part of the fee that small amounts pay')],
  ['2.5', 'commission up, net and output down', figures('the parts add up, are never negative, and create nothing')],
  ['2.5', 'external: the same', figures('an execution elsewhere adds up too')],
  ['2.5', 'no round trip gains', figures('there and back never gains'), at('and nobody gains')],
  ['2.5', 'validUntil is 60 s on', at('Date.parse(validUntil) - Date.now() - 60_000')],
  ['2.5', 'band and time of an external quote', at('priceProtectionPct: 0.8')],
  [
    '2.5',
    'feeBreakdown from 0.01 points above the base on',
    figures('tells the parts of the fee from 0.01 points above the base on'),
  ],

  ['3.2', 'internal: 201 carries completed', at("expect([done.status, done.body.status]).toEqual([201, 'completed'])")],
  [
    '3.2',
    'external: all is debited, nothing credited, 201 carries processing',
    at('debits everything, credits nothing yet, and says processing'),
  ],
  [
    '3.2',
    'external: settles to completed',
    elsewhere('debits, sends once, and credits exactly what came'),
    chains('pays out exactly what is credited'),
  ],
  [
    '3.2',
    'external: fails, and all is back, commission included',
    elsewhere('nothing is sent, and all of it is back'),
    chains("'refund', 'failed', 'failed-then-completed'"),
  ],
  [
    '3.2',
    'a drift at execution is cancelled, an earlier one leaves no row',
    at('leaves a cancelled row'),
    at("expect((await get(shop, '')).body.total).toBe(0)"),
  ],

  ['4.4', 'a key needs its scope and no factor', at('are for keys with their scope')],
  ['4.4', 'a session needs one factor', at('is refused without one, with a wrong one, and with one too many')],
  ['4.4', 'a passkey with its challenge is one', at('may bring a passkey, whose challenge a drift does not spend')],
  [
    '4.4',
    'currencies are known and differ',
    at("[{ toCurrency: 'ETH' }, 400, 'SAME_CURRENCY']"),
    at("[{ toCurrency: 'DOGE' }, 400, 'VALIDATION_ERROR']"),
  ],
  ['4.4', 'fromAmount is text or a number', at('takes numbers and any case too')],
  ['4.4', 'idempotencyKey has at most 256 characters', at("'k'.repeat(257)")],
  ['4.4', 'without a key the same happens twice', at('happens twice where no key says otherwise')],
  ['4.4', 'quotedRate is above zero', at("[{ quotedRate: 0 }, 400, 'VALIDATION_ERROR']")],
  [
    '4.4',
    'drift 1: the rate, before the factor is spent',
    at('does not spend its OTP on a drift'),
    at('by 2 % refuses what was quoted before'),
  ],
  ['4.4', 'drift 2: the output, one-sided', at('in one’s favour stops at the rate, not at the output')],
  [
    '4.4',
    'drift 3: internal looks at the market again',
    at('since the stored rate is noticed at execution'),
    at('100 that quoted before the market moved by 2 % are each refused'),
  ],
  ['4.4', 'drift 3: external does not', at('has no second look at the market, only what was accepted')],
  [
    '4.4',
    'key 1: replays what is completed',
    at('replays what it has completed'),
    at('replays what it has executed though'),
    at('100 with one key move the money once'),
  ],
  ['4.4', 'key 2: the drift guard comes first', at('is told before a replay')],
  ['4.4', 'key 3: still running', at('still running is in progress')],
  [
    '4.4',
    'key 4: has moved money',
    at('that has moved money for something else is consumed'),
    at('does not take its key again'),
  ],
  ['4.4', 'key 5: a 409 executes nothing', at("'409 CONVERSION_IN_PROGRESS'")],
  [
    '4.4',
    'get: ids told apart as far as they should be',
    at('tell malformed, unresolvable, unknown and foreign ids apart'),
  ],
  ['4.4', 'get: also while switched off', at('stops quotes and executions, and leaves the reads')],
  ['4.4', 'get: NO_MERCHANT_CONTEXT', at("[400, 'NO_MERCHANT_CONTEXT']")],
  ['4.4', 'quote: amounts of 30 digits either side', at('takes amounts of 30 digits either side as text')],
  ['4.4', 'quote: its figures carry forward', at('fromAmount: seen.fromAmountStr')],
  [
    '4.4',
    'quote: a refusal suggests an amount that is taken',
    at('suggests an amount where it refuses, and that amount is quoted'),
  ],
  ['4.4', 'best-route: at most 8, richest first, none under 1 USD; cheapest first', at('find the cheapest balance')],
  [
    '4.4',
    'best-route: disabled in envelope A, NO_SCOPE',
    at("error: { code: 'CONVERSIONS_DISABLED', message }"),
    at("[400, 'NO_SCOPE']"),
  ],
  [
    '4.4',
    'liquidity: fails closed, and false is quoted but not executed',
    at('say which targets can be backed, and nothing of a frozen one'),
  ],

  ['7.2', 'VALIDATION_ERROR', at('names the property that is missing')],
  ['7.2', 'CONVERSION_FAILED', at("code: 'CONVERSION_FAILED', message: 'The balance does not cover this conversion'")],
  ['7.2', 'QUOTE_FAILED', at("toEqual([400, 'QUOTE_FAILED'])")],
  ['7.2', 'INVALID_ID, INVALID_CONVERSION_ID, CONVERSION_NOT_FOUND', at("[400, 'INVALID_CONVERSION_ID']")],
  ['7.2', 'USER_NOT_FOUND', at('of an account that is gone is told so')],
  ['7.2', 'CONVERSIONS_DISABLED', at("{ error: 'CONVERSIONS_DISABLED', message }")],
  ['7.2', 'RATE_DRIFT is flat, with driftPct and newQuote', at("['driftPct', 'error', 'message', 'newQuote']")],
  ['7.2', 'CONVERSION_IN_PROGRESS', at("[409, 'CONVERSION_IN_PROGRESS']")],
  ['7.2', 'IDEMPOTENCY_KEY_CONSUMED', at("'IDEMPOTENCY_KEY_CONSUMED'")],
  ['7.2', 'a failed factor is flat, 429 when locked', at('that guesses is locked out')],

  ['8', 'calls a minute', at('may be asked for 30 times a minute, best-route 3 times, an execution 5 times')],

  ['I14', 'one balance is never overspent', at('100 on one balance never spend more than it has')],
  [
    'J9',
    'refused where the treasury could not back it',
    at('many into one asset never owe more than the treasury holds'),
  ],
  ['J9', 'no position passes its limit', at('many leave no position beyond its limit in what is %s')],
  [
    'J10, J11',
    'chain, ledger and record agree to the last digit',
    chains('pays out exactly what is credited, and gets exactly what was charged'),
    chains('takes %s, and brings bitcoin'),
  ],
];

it.each(rows.map(([section, rule, ...where]) => ({ section, rule, where })))('$section: $rule', ({ where }) =>
  mustBeThere(where),
);
