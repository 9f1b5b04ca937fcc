import { Type, type Static } from 'typebox';
import type { DataSource } from 'typeorm';
import type { Merchant } from '../../domain/access/access';
import { ratedAs } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { entrySources, entryTypes, type EntrySource, type EntryType } from '../../domain/ledger/entry';
import { liabilityParts, treeFormat } from '../../domain/ledger/merkle';
import { add, negate, times } from '../../domain/money';
import { fiatDecimals, fiatValue } from '../../domain/pricing/quote';
import { balancesOf, type BalanceEntry } from '../../db/ledger/balances';
import { entriesOf, exportEntries, statementOf, type EntryFilter, type EntryRow } from '../../db/ledger/ledger-entries';
import { proofOf } from '../../db/ledger/liabilities';
import { ratesIn, type FreshRate } from '../../db/pricing/rates';
import { sendCsv } from '../http/csv';
import { momentOf } from '../http/dates';
import { sendFile, type MerchantFileCall } from '../http/file';
import type { ApiDeps } from '../http/deps';
import { route, type Answer } from '../http/route';
import { exact, limit, line, named, oldFormat, pageOf, time } from '../http/schemas';
import { statementPdf, type Statement } from './statement';

const tag = 'Ledger';
const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

export const listBalances = route({
  name: 'listBalances',
  method: 'get',
  path: '/api/v1/ledger/balances',
  summary: 'Balance of every currency',
  tag,
  envelope: 'B',
  success: {
    status: 200,
    schema: Type.Object({
      balances: Type.Array(
        Type.Object({
          currency: Type.String(),
          balance: exact('Spendable.'),
          reserved: exact('Held by what is on its way out.'),
          available: exact('Equals balance: a hold moves money out of it.'),
          pending: exact('Net of payments confirmed and not settled.'),
          fiatCurrency: Type.String({ description: 'Your display currency.' }),
          fiatAmount: nullable('Balance and reserved together in fiat, rounded down. Exact decimal string.'),
          fiatRate: nullable('Fiat per unit. Exact decimal string; null where there is no fresh rate.'),
          fiatRateAt: Type.Union([time, Type.Null()], { description: 'From when the rate is.' }),
        }),
      ),
    }),
    description: 'One entry per currency.',
  },
  errors: [],
  async answer({ merchant }, { db, config }) {
    const fiat = merchant.displayCurrency;
    const [balances, rates] = await Promise.all([
      balancesOf(db, merchant.id),
      ratesIn(db, fiat, config.RATE_MAX_AGE_SECONDS),
    ]);
    return { data: { balances: balances.map((entry) => worth(entry, fiat, rates.get(ratedAs(entry.currency)))) } };
  },
});

/** A balance with what it is worth at `rate`, where there is one. */
const worth = (entry: BalanceEntry, fiat: string, rate: FreshRate | undefined) => ({
  ...entry,
  fiatCurrency: fiat,
  fiatAmount: rate ? fiatValue(add(entry.balance, entry.reserved), rate.value, fiat) : null,
  fiatRate: rate?.value ?? null,
  fiatRateAt: rate?.taken_at.toISOString() ?? null,
});

const entrySchema = named('LedgerEntry', {
  id: Type.String({ description: '24-hex id.' }),
  seq: Type.Integer({ description: 'Grows with time, with gaps.' }),
  currency: Type.String(),
  type: Type.String({ enum: [...entryTypes] }),
  amount: exact('What was added to the balance; negative: taken from it.'),
  balanceAfter: exact('The balance of the currency after it: the sum of every amount up to here.'),
  reservedAfter: exact('What is reserved after it.'),
  fiatAmount: nullable('The amount in fiat when it was posted. Exact decimal string.'),
  fiatCurrency: nullable('Your display currency then; of a payment, the one it was priced in.'),
  fiatRate: nullable('Fiat per unit. Exact decimal string; null where there was no fresh rate.'),
  sourceType: Type.String({ enum: [...entrySources] }),
  sourceId: nullable('What brought it about.'),
  txId: nullable('The transaction on the chain.'),
  reversalOf: nullable('Id of the entry that it undoes.'),
  description: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
});
type Entry = Static<typeof entrySchema>;

const nouns: Readonly<Record<EntrySource, string>> = {
  payment: 'payment',
  refund: 'refund',
  conversion: 'conversion',
  withdrawal: 'withdrawal',
  massPayout: 'mass payout',
  adjustment: 'adjustment',
};
const words: Readonly<Record<EntryType, (row: EntryRow) => string>> = {
  payment_credit: () => 'Payment credited, net of fees',
  conversion_debit: () => 'Converted from this currency',
  conversion_credit: () => 'Converted to this currency',
  conversion_refund: () => 'Conversion failed, amount returned',
  reserve: (row) => `Reserved for a ${nouns[row.source_type]}`,
  release: (row) => `Reserve of a ${nouns[row.source_type]} released`,
  withdrawal: (row) => `Withdrawal final: ${left(row)}`,
  payout_leg: (row) => `Payout final: ${left(row)}`,
  refund: (row) => `Refund final: ${left(row)}`,
  network_fee: () => 'Network fee',
  settlement_out: () => 'Sent to your settlement address',
  reversal: (row) => `Reversal, ${nouns[row.source_type]}`,
  adjustment: () => 'Adjustment',
};
const left = ({ reserved_change, asset }: EntryRow): string => `${negate(reserved_change)} ${asset} left the reserve`;

const present = (row: EntryRow): Entry => ({
  id: row.id,
  seq: parseInt(row.seq, 10),
  currency: row.asset,
  type: row.type,
  amount: row.amount,
  balanceAfter: row.balance_after,
  reservedAfter: row.reserved_after,
  fiatAmount:
    row.fiat_rate === null ? null : times(row.amount, row.fiat_rate, fiatDecimals[row.fiat_currency!] ?? 2, 'down'),
  fiatCurrency: row.fiat_currency,
  fiatRate: row.fiat_rate,
  sourceType: row.source_type,
  sourceId: row.source_id,
  txId: row.tx_id,
  reversalOf: row.reversal_of,
  description: words[row.type](row),
  createdAt: row.created_at.toISOString(),
});

const head = Object.keys(entrySchema.properties) as Array<keyof Entry>;
const lineOf = (entry: Entry): string[] => head.map((name) => String(entry[name] ?? ''));

/** Lines of one PDF; more belong in a spreadsheet. */
const mostLines = 10_000;

/** A period of the account statement as it is printed. Throws STATEMENT_TOO_LONG. */
async function statement(
  db: DataSource,
  merchant: Merchant,
  filter: EntryFilter & { type?: string; sourceType?: string },
): Promise<Statement> {
  const found = await statementOf(db, merchant.id, filter, mostLines);
  if (!found) throw new DomainError('STATEMENT_TOO_LONG');
  const [from, to] = [filter.dateFrom?.toISOString(), filter.dateTo?.toISOString()];
  const shown = [
    filter.type && `type ${filter.type}`,
    filter.sourceType && `source ${filter.sourceType}`,
    filter.sourceId && `${filter.sourceType ? 'id' : 'source'} ${filter.sourceId}`,
    filter.cursor && `seq below ${filter.cursor}`,
  ].filter((one) => !!one);
  return {
    merchant,
    period: `From ${from ?? 'the beginning'} to ${to ?? 'now'}`,
    filter: shown.length ? shown.join(', ') : null,
    madeAt: new Date(),
    sections: found.totals.map((total) => ({
      ...total,
      lines: found.lines
        .filter((row) => row.asset === total.currency)
        .map(present)
        .map((entry) => ({
          ...entry,
          createdAt: entry.createdAt.slice(0, 19).replace('T', ' '),
          fiat: entry.fiatAmount === null ? '' : `${entry.fiatAmount} ${entry.fiatCurrency}`,
          source: `${entry.sourceType} ${entry.sourceId ?? ''}`,
        })),
    })),
  };
}

const filterProperties = {
  currency: Type.Optional(Type.String({ maxLength: 32, pattern: '^[A-Za-z0-9_]+$', description: 'Ticker.' })),
  type: Type.Optional(Type.String({ enum: [...entryTypes] })),
  sourceType: Type.Optional(Type.String({ enum: [...entrySources] })),
  sourceId: Type.Optional(line(100, 'Id of the payment, withdrawal or whatever brought it about.')),
  dateFrom: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, inclusive.' })),
  dateTo: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601, exclusive.' })),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,18}$', description: '`nextCursor` of the page before.' })),
};
type FilterQuery = Partial<Record<keyof typeof filterProperties, string>>;
const filterOf = (query: FilterQuery) => ({
  ...query,
  currency: query.currency?.toUpperCase(),
  dateFrom: momentOf(query.dateFrom, 'dateFrom'),
  dateTo: momentOf(query.dateTo, 'dateTo'),
});
type Filter = ReturnType<typeof filterOf>;

const entriesFile = (call: MerchantFileCall<Merchant>, deps: ApiDeps, filter: Filter): Promise<Answer> =>
  sendCsv(call, deps, {
    name: 'ledger',
    head,
    amounts: ['amount', 'fiatAmount'],
    async *batches() {
      for await (const rows of exportEntries(deps.db, call.merchant.id, filter))
        yield rows.map((row) => lineOf(present(row)));
    },
  });

const statementFile = (call: MerchantFileCall<Merchant>, deps: ApiDeps, filter: Filter): Promise<Answer> =>
  sendFile(call, deps, {
    ...{ name: 'statement', extension: 'pdf', type: 'application/pdf' },
    async *chunks() {
      yield* statementPdf(await statement(deps.db, call.merchant, filter));
    },
  });

export const exportLedger = route({
  name: 'exportLedger',
  method: 'get',
  path: '/api/v1/ledger/history.csv',
  summary: 'Every change of the balances as a file',
  description:
    "All that the filter finds, newest first. A cell that a spreadsheet would take for a formula begins with `'`.",
  tag,
  envelope: 'B',
  query: Type.Object(filterProperties),
  success: { status: 200, type: 'text/csv', headers: ['Content-Disposition'], description: 'One line per entry.' },
  errors: [],
  answer: (call, deps) => entriesFile(call, deps, filterOf(call.query)),
});

export const exportStatement = route({
  name: 'exportStatement',
  method: 'get',
  path: '/api/v1/ledger/history.pdf',
  summary: 'A statement of the balances',
  description:
    'Per currency the opening balance, every line, oldest first, and the closing balance; 10,000 lines at most.',
  tag,
  envelope: 'B',
  query: Type.Object(filterProperties),
  success: { status: 200, type: 'application/pdf', headers: ['Content-Disposition'], description: 'The statement.' },
  errors: ['STATEMENT_TOO_LONG'],
  answer: (call, deps) => statementFile(call, deps, filterOf(call.query)),
});

export const ledgerHistory = route({
  name: 'ledgerHistory',
  method: 'get',
  path: '/api/v1/ledger/history',
  summary: 'Every change of the balances',
  description:
    'Append-only. `amount` adds up to `balanceAfter`, per currency, at every `seq`. A reserve moves from the balance ' +
    'to what is reserved; when it leaves for good, `amount` is 0 and `reservedAfter` falls. The same as files: ' +
    '`/api/v1/ledger/history.csv`, and `/api/v1/ledger/history.pdf` for a statement.',
  tag,
  envelope: 'B',
  query: Type.Object({ ...filterProperties, limit, format: oldFormat('csv', 'pdf') }),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(entrySchema),
      hasMore: Type.Boolean(),
      nextCursor: nullable('Null at the end.'),
    }),
    orElse: ['text/csv', 'application/pdf'],
    description: 'Newest first.',
  },
  errors: ['STATEMENT_TOO_LONG'],
  async answer(call, deps) {
    const { query, merchant } = call;
    const filter = filterOf(query);
    if (query.format === 'csv') return entriesFile(call, deps, filter);
    if (query.format === 'pdf') return statementFile(call, deps, filter);
    const { limit } = pageOf(query);
    const rows = await entriesOf(deps.db, merchant.id, filter, limit + 1);
    const items = rows.slice(0, limit).map(present);
    const hasMore = rows.length > limit;
    return { data: { items, hasMore, nextCursor: hasMore ? String(items.at(-1)!.seq) : null } };
  },
});

const hash = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const getLiabilityProof = route({
  name: 'getLiabilityProof',
  method: 'get',
  path: '/api/v1/ledger/liability-proof',
  summary: 'Prove that your balances are in what the service says it owes',
  description:
    'Your leaves of the latest tree with their paths to the root. Compare the root with the published one; ' +
    '`docs/verify-liability.mjs` ' +
    'checks the rest without the service. The format is described in `docs/liabilities.md`.',
  tag,
  envelope: 'B',
  success: {
    status: 200,
    schema: Type.Object({
      format: Type.Literal(treeFormat),
      root: hash,
      createdAt: Type.String({ format: 'date-time' }),
      assets: Type.Array(
        Type.Object({ currency: Type.String(), root: hash, total: exact('Owed to all merchants together.') }),
      ),
      leaves: Type.Array(
        Type.Object({
          leaf: Type.Object({
            merchantId: Type.String(),
            currency: Type.String(),
            ...Object.fromEntries(liabilityParts.map((part) => [part, exact('Owed to you.')])),
            salt: Type.String(),
          }),
          path: Type.Array(Type.Object({ side: Type.String({ enum: ['left', 'right'] }), hash, sum: Type.String() })),
        }),
        { description: 'One per currency in which you are owed something.' },
      ),
    }),
    description: 'The proof.',
  },
  errors: ['LIABILITY_TREE_NOT_FOUND'],
  async answer({ merchant }, { db }) {
    const proof = await proofOf(db, merchant.id);
    if (!proof) throw new DomainError('LIABILITY_TREE_NOT_FOUND');
    const { root, assets, leaves, createdAt } = proof;
    return { data: { format: treeFormat, root, createdAt: createdAt.toISOString(), assets, leaves } };
  },
});
