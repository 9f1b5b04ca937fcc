import { assetOf, baseUnits, isByLightning, payableAsset, type Asset, type Currency } from '../chains/assets';
import { nativeCost, outgoingWork } from '../chains/costs';
import { faultOfTag, isCarried, normalTag, tagIn, type Destination } from '../chains/tags';
import { lightningAddressIn, wayFee } from '../lightning/receiver';
import { add, compare, divide, fit, isAmount, isPositive, subtract, times } from '../money';
import { shown } from '../payments/shown';
import { messageOf, type WaitCause } from '../txmanager/waits';

/** Many lines paid out of the balance at once, to addresses that are on the whitelist. Contract: 2.10, 3.3, 4.7, G10.
 *  */

export const batchStatuses = [
  'awaiting_approval',
  'queued',
  'processing',
  'completed',
  'partially_completed',
  'failed',
  'cancelled',
] as const;
export type BatchStatus = (typeof batchStatuses)[number];
export const lineStatuses = ['pending', 'processing', 'broadcast', 'completed', 'failed', 'refunded'] as const;
export type LineStatus = (typeof lineStatuses)[number];
export type PayoutEventType = `mass_payout.${
  'created' | 'processing' | 'broadcast' | 'leg_completed' | 'leg_failed' | 'completed' | 'failed' | 'cancelled'}`;

/** Contract: 8. */
export const maxPayoutRows = 500;
/** Transfers of a payout that are under way at once on an account chain: nodes keep about this many of one sender. They
 *  are planned, signed and sent together: what is paid once for each piece is more than what smaller ones save. */
export const payoutWindow = 64;

/** As it was asked for. */
export type PayoutRow = Readonly<{ currency: string; address: string; amount: string; destinationTag?: string }>;

/** Of one row that can be paid. `amount` leaves the balance, `net` arrives. */
type PayoutLine = Readonly<{
  rowIndex: number;
  currency: Currency;
  address: string;
  destinationTag: string | null;
  amount: string;
  networkFee: string;
  net: string;
}>;
export type ValidatedRow =
  | (PayoutLine & Readonly<{ row: PayoutRow; error: null }>)
  | Readonly<{ row: PayoutRow; rowIndex: number; error: string }>;

/** What rows are validated by. */
export type PayoutTerms = Readonly<{
  /** Whether money leaves by Lightning. */
  byLightning: boolean;
  /** Native base units per unit of work, and units of the currency per whole native unit; undefined: nobody knows
   *  now. */
  priceOf: (currency: Currency) => Readonly<{ unitPrice: string; nativeRate: string }> | undefined;
  /** Whom a row names: a tag in its address is taken out of it. Or what is wrong with that, in words. */
  receiverOf: (asset: Asset, given: Destination) => Destination | string;
  /** The one spelling of an address; null: not one of this network, or one of ours. */
  normalise: (asset: Asset, address: string) => string | null;
  /** Why an address of the network cannot be paid; null: nothing is known against it. */
  refusalOf: (asset: Asset, address: string) => string | null;
  isListed: (currency: Currency, address: string, destinationTag: string | null) => boolean;
  /** What can be spent; absent: nothing. */
  balances: Readonly<Record<Currency, string>>;
  /** How many of our coins pay all rows of a currency; absent: one. */
  coins: Readonly<Record<Currency, number>>;
}>;

export type ValidatedBatch = Readonly<{
  rows: readonly ValidatedRow[];
  lines: readonly PayoutLine[];
  totalsByCurrency: Readonly<Record<Currency, string>>;
  feeByCurrency: Readonly<Record<Currency, string>>;
  balanceByCurrency: Readonly<Record<Currency, string>>;
  overBalanceCurrencies: readonly Currency[];
  /** Why it cannot be submitted; none: it can. */
  reasons: readonly SubmitReason[];
}>;

/** `code`: of the refusal that submitting would meet, or what is wrong with the rows. */
export type SubmitReason = Readonly<{ code: string; message: string }>;

function submitReasons(rowCount: number, validCount: number, overBalance: readonly Currency[]): SubmitReason[] {
  const invalid = rowCount - validCount;
  const found: ReadonlyArray<readonly [isSo: boolean, code: string, message: string]> = [
    [rowCount === 0, 'NO_ROWS', 'There is no row to pay'],
    [rowCount > maxPayoutRows, 'TOO_MANY_ROWS', `A mass payout has at most ${maxPayoutRows} rows`],
    [invalid > 0, 'INVALID_ROWS', `Rows that cannot be paid: ${invalid} of ${rowCount}`],
    [overBalance.length > 0, 'INSUFFICIENT_BALANCE', `The balance does not cover ${overBalance.join(', ')}`],
  ];
  return found.flatMap(([isSo, code, message]) => (isSo ? [{ code, message }] : []));
}

/** What one of `count` lines costs that are sent together: the network's price and nothing else, in the currency,
 *  rounded up. */
export function payoutFee(
  currency: Currency,
  count: number,
  price: Readonly<{ unitPrice: string; nativeRate: string }>,
  coins = 1,
): string {
  const { decimals, contract } = assetOf(currency);
  const cost = nativeCost(currency, price.unitPrice, outgoingWork(currency, count, coins));
  const all = contract === null ? cost : times(cost, price.nativeRate, 60, 'up');
  return divide(all, String(count), decimals, 'up');
}

type Candidate = Omit<PayoutLine, 'networkFee' | 'net'> & Readonly<{ row: PayoutRow }>;

/** Whom a row names, without blanks around it. */
export const receiverIn = ({ address, destinationTag }: PayoutRow): Destination => ({
  address: address.trim(),
  ...tagIn({ tag: destinationTag?.trim() || undefined }),
});

/** The asset of a row; undefined: nothing is paid in it. */
export const assetIn = (row: PayoutRow, byLightning: boolean): Asset | undefined =>
  payableAsset(row.currency.trim().toUpperCase(), byLightning);

/** By Lightning: the address in the one spelling in which it is stored; or what is wrong with it, in words. An invoice
 *  is of one line, and lasts an hour: no whitelist has it, and it does not wait for an approval. */
export const lightningReceiver = ({ address, tag }: Destination): Destination | string => {
  const read = lightningAddressIn(address);
  if (read === null) return 'By Lightning, a mass payout pays Lightning addresses of the whitelist alone';
  return { address: read, ...tagIn({ tag }) };
};

function candidateOf(row: PayoutRow, rowIndex: number, terms: PayoutTerms): Candidate | string {
  const asset = assetIn(row, terms.byLightning);
  if (!asset) return `Unsupported currency ${row.currency}`;
  const { currency, decimals } = asset;
  const receiver = terms.receiverOf(asset, receiverIn(row));
  if (typeof receiver === 'string') return receiver;
  const address = terms.normalise(asset, receiver.address);
  if (address === null)
    return terms.refusalOf(asset, receiver.address) ?? `Not an address that ${currency} can be sent to`;
  const tag = receiver.tag ?? null;
  const fault = faultOfTag(asset, tag);
  if (fault) return fault;
  if (!isCarried(asset)) return `${currency} cannot be sent yet`;
  const destinationTag = tag && normalTag(asset, tag);
  if (row.amount !== row.amount.trim()) return 'The amount has blanks around it';
  if (!isAmount(row.amount)) return 'The amount is not a decimal number';
  const amount = fit(row.amount, decimals, 'down');
  if (!isPositive(amount)) return 'The amount is too small';
  if (!terms.isListed(currency, address, destinationTag))
    return `The address is not on the withdrawal whitelist for ${currency}`;
  // By Lightning the fee is a share of the amount.
  if (!isByLightning(currency) && !terms.priceOf(currency))
    return `${currency} cannot be priced now, try again shortly`;
  return { row, rowIndex, currency, address, destinationTag, amount };
}

const sums = (lines: readonly PayoutLine[], of: (line: PayoutLine) => string): Record<Currency, string> => {
  const all: Record<Currency, string> = {};
  for (const line of lines) all[line.currency] = add(all[line.currency] ?? '0', of(line));
  return all;
};

/** Validates every row of a batch, and the batch. Amounts are rounded down to what the chain can carry, fees up; what
 *  arrives is the rest. */
export function validateBatch(rows: readonly PayoutRow[], terms: PayoutTerms): ValidatedBatch {
  const candidates = rows.map((row, rowIndex) => candidateOf(row, rowIndex, terms));
  const counts = new Map<Currency, number>();
  for (const one of candidates)
    if (typeof one !== 'string' && !isByLightning(one.currency))
      counts.set(one.currency, (counts.get(one.currency) ?? 0) + 1);
  const fees = new Map(
    [...counts].map(([currency, count]) => [
      currency,
      payoutFee(currency, count, terms.priceOf(currency)!, terms.coins[currency]),
    ]),
  );
  const validated = candidates.map((one, rowIndex): ValidatedRow => {
    if (typeof one === 'string') return { row: rows[rowIndex]!, rowIndex, error: one };
    const networkFee = isByLightning(one.currency) ? wayFee(one.amount) : fees.get(one.currency)!;
    const net = subtract(one.amount, networkFee);
    const { dust } = assetOf(one.currency);
    if (!isPositive(net) || compare(net, dust) < 0)
      return { row: one.row, rowIndex, error: `After the network fee of ${networkFee} less than ${dust} is left` };
    return { ...one, networkFee, net, error: null };
  });
  const lines = validated.filter((row) => row.error === null);
  const totalsByCurrency = sums(lines, (line) => line.amount);
  const currencies = Object.keys(totalsByCurrency);
  const balanceByCurrency = Object.fromEntries(currencies.map((one) => [one, terms.balances[one] ?? '0']));
  const overBalanceCurrencies = currencies.filter(
    (one) => compare(totalsByCurrency[one]!, balanceByCurrency[one]!) > 0,
  );
  return {
    rows: validated,
    lines,
    totalsByCurrency,
    feeByCurrency: sums(lines, (line) => line.networkFee),
    balanceByCurrency,
    overBalanceCurrencies,
    reasons: submitReasons(rows.length, lines.length, overBalanceCurrencies),
  };
}

export type LineCounts = Readonly<Record<LineStatus, number>>;

/** Where a batch stands by its lines. Once nothing is under way: how it ended. */
export function batchStatusOf(counts: LineCounts): BatchStatus {
  const { pending, processing, broadcast, completed, failed, refunded } = counts;
  if (pending + processing + broadcast > 0)
    return processing + broadcast + completed + failed > 0 ? 'processing' : 'queued';
  if (completed > 0) return failed + refunded > 0 ? 'partially_completed' : 'completed';
  return refunded > 0 ? 'cancelled' : 'failed';
}

export type BatchRow = {
  id: string;
  merchant_id: string;
  status: BatchStatus;
  state_version: number;
  label: string | null;
  idempotency_key: string | null;
  rows_hash: string;
  row_count: number;
  totals: Record<Currency, string>;
  fees: Record<Currency, string>;
  created_by: string;
  created_by_id: string;
  /** Above a limit, and until it is known to be below: approved by somebody else than created_by_id. */
  needs_second_person: boolean;
  approved_by: string | null;
  approved_by_id: string | null;
  /** null: a second person must approve it. */
  approved_at: Date | null;
  /** Everything that will be sent has been. */
  sent_at: Date | null;
  cancelled_at: Date | null;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
};
export type PayoutLineRow = {
  id: string;
  batch_id: string;
  merchant_id: string;
  row_index: number;
  currency: Currency;
  network: string;
  address: string;
  destination_tag: string | null;
  amount: string;
  network_fee: string;
  /** What of `network_fee` is above its quote, because of what the address takes; null: nothing. */
  added_fee: string | null;
  net_amount: string;
  status: LineStatus;
  state_version: number;
  intent_id: string | null;
  tx_id: string | null;
  merchant_message: string | null;
  updated_at: Date;
};

/** A batch as lists and events show it; GET adds its lines. Contract: G10. */
export const viewBatch = (row: BatchRow, counts: LineCounts, livemode: boolean) => ({
  _id: row.id,
  status: row.status,
  stateVersion: row.state_version,
  livemode,
  label: row.label,
  rowCount: row.row_count,
  totalsByCurrency: row.totals,
  feeByCurrency: row.fees,
  counts,
  createdBy: row.created_by,
  approvedBy: row.approved_by,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  completedAt: row.completed_at?.toISOString() ?? null,
});

/** What a line pays, in base units. */
export const unitsOf = (line: Pick<PayoutLineRow, 'currency' | 'net_amount'>): bigint =>
  baseUnits(line.currency, line.net_amount);

/** A line with what keeps it from being signed. */
export type ShownLine = PayoutLineRow & Readonly<{ waits_for?: WaitCause | null }>;

export const viewLine = (row: ShownLine) => ({
  _id: row.id,
  rowIndex: row.row_index,
  currency: row.currency,
  address: row.address,
  destinationTag: row.destination_tag,
  amount: fit(row.amount, 18, 'down'),
  networkFee: fit(row.network_fee, 18, 'up'),
  netToDestination: fit(row.net_amount, 18, 'down'),
  status: row.status,
  txId: row.tx_id,
  merchantMessage: messageOf(row),
  updatedAt: row.updated_at.toISOString(),
});

/** What a row that cannot be paid shows of its amount: the number that it begins with, or 0. Contract: 2.10. */
function parsed(text: string): number {
  const [digits] = /^\s*[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,3})?/.exec(text) ?? ['0'];
  const number = shown(digits);
  return Number.isFinite(number) ? number : 0;
}

/** A row as the validator shows it. Contract: 2.10. */
export const viewRow = (result: ValidatedRow) => ({
  rowIndex: result.rowIndex,
  currency: result.row.currency,
  address: result.row.address,
  ...(result.error === null
    ? {
        amount: shown(result.amount, 'down'),
        networkFee: shown(result.networkFee, 'up'),
        netToDestination: shown(result.net, 'down'),
        valid: true,
      }
    : {
        amount: parsed(result.row.amount),
        networkFee: null,
        netToDestination: null,
        valid: false,
        error: result.error,
      }),
});
