/** What the parts below the transaction manager must know of a kind of outgoing money: names alone. A kind's plans,
 *  bookings and reorganisations are in txmanager/kinds, in the same order. */
export type KindFacts = Readonly<{
  /** Its money leaves the service: a second transaction would pay twice. */
  leaves: boolean;
  /** Whose addresses its intents spend from. */
  spends: 'treasury' | 'deposits' | 'gas';
  /** A payment's settlement books it, as `<kind>/<intent>`; others are booked when their transaction is final. */
  isSettled: boolean;
  /** Its name in the outbound limits; null: no limit counts it. */
  limit: string | null;
  /** The table with its rows, where one intent pays one row, which moves by guarded updates. */
  record: string | null;
  /** The same rows as far as they hold a merchant's money until their end, as a FROM clause. The audit reads
   *  `merchant_id`, `currency`, `gross_amount`, `net_amount`, `address`, `destination_tag`, `tx_id` and `status` of
   *  each. */
  holdsIn: string | null;
  /** The rows whose receiver bears the network fee: their table, and SQL that tells them from the others. */
  borne: Readonly<{ table: string; where: string }> | null;
  /** Its rows, where an invoice of Lightning may pay them: their table, and SQL that says how the row `o` stands, in
   *  the words of withdrawals. */
  invoiced: Readonly<{ table: string; status: string }> | null;
  /** Why operators may not say that a transfer of it that moved something else than was signed has failed; null: they
   *  may. See differing.ts. */
  onlyPaid: string | null;
  /** What a merchant's statement calls the source of such a hold, and the entry when the money has arrived. */
  statement: Readonly<{ sourceType: string; arrived: string }> | null;
}>;

const inside = {
  leaves: false,
  limit: null,
  record: null,
  holdsIn: null,
  borne: null,
  invoiced: null,
  onlyPaid: 'it moves money between addresses of ours, and owes nobody anything: what did not arrive is a loss already',
  statement: null,
} as const;

export const kinds = {
  gas: { ...inside, spends: 'gas', isSettled: false },
  sweep: { ...inside, spends: 'deposits', isSettled: true },
  refund: {
    leaves: true,
    spends: 'treasury',
    isSettled: false,
    limit: 'refund',
    record: 'refund',
    holdsIn: `refund WHERE source = 'balance'`,
    borne: { table: 'refund', where: `fee_bearer = 'payer'` },
    invoiced: { table: 'refund', status: 'o.status' },
    onlyPaid: null,
    statement: { sourceType: 'refund', arrived: 'refund' },
  },
  withdrawal: {
    leaves: true,
    spends: 'treasury',
    isSettled: false,
    limit: 'withdrawal',
    record: 'withdrawal',
    holdsIn: 'withdrawal',
    borne: { table: 'withdrawal', where: `fee_mode = 'deduct'` },
    invoiced: { table: 'withdrawal', status: 'o.status' },
    onlyPaid: null,
    statement: { sourceType: 'withdrawal', arrived: 'withdrawal' },
  },
  consolidate: { ...inside, spends: 'treasury', isSettled: false },
  /** Our deposit at a swap provider. The conversion holds the merchant's money, not the deposit. */
  fund: {
    ...inside,
    leaves: true,
    spends: 'treasury',
    isSettled: false,
    record: 'conversion',
    onlyPaid: 'a swap provider answers for its deposit: where it gives nothing, end-conversion gives the money back',
  },
  /** A line of a mass payout. Its holds are in the audit apart: limits count the batch, and many lines may share a
   *  transaction. */
  leg: {
    leaves: true,
    spends: 'treasury',
    isSettled: false,
    limit: 'mass_payout',
    record: null,
    holdsIn: null,
    borne: { table: 'payout_leg', where: 'true' },
    invoiced: {
      table: 'payout_leg',
      // Its mass payout is approved, not the line.
      status: `CASE WHEN o.status = 'refunded' THEN 'cancelled' WHEN o.status = 'pending' AND (
        SELECT b.approved_at FROM payout_batch b WHERE b.id = o.batch_id) IS NULL THEN 'awaiting_approval'
        ELSE o.status END`,
    },
    onlyPaid: null,
    statement: { sourceType: 'massPayout', arrived: 'payout_leg' },
  },
  /** Signed in the time that a recovery has lost. Never planned: an intent that is planned again takes it over. */
  lost: {
    ...inside,
    spends: 'deposits',
    isSettled: false,
    onlyPaid: 'no row has it sent: what left is a loss, however it is called',
  },
} as const satisfies Readonly<Record<string, KindFacts>>;

type Kinds = typeof kinds;
export type Kind = keyof Kinds;
type KindWith<Fact> = { [K in Kind]: Kinds[K] extends Fact ? K : never }[Kind];
export type LeavingKind = KindWith<{ leaves: true }>;
/** Kinds that hold a merchant's money until it has arrived. */
export type HoldingKind = KindWith<{ statement: object }>;
/** Kinds whose rows our Lightning node may pay. */
export type InvoicedKind = KindWith<{ invoiced: object }>;
export type LimitName = NonNullable<Kinds[Kind]['limit']>;
export type RecordTable = NonNullable<Kinds[Kind]['record']>;

/** A kind of which nothing is known here has neither fact. */
const factsOf = (kind: string): KindFacts | null => (Object.hasOwn(kinds, kind) ? kinds[kind as Kind] : null);
/** It brings an address of ours what its transactions cost. */
export const isTopUp = ({ kind }: Readonly<{ kind: string }>): boolean => factsOf(kind)?.spends === 'gas';
/** It moves the money of many payments, each of which has a share in it. */
export const isOfMany = ({ kind, payment_id }: Readonly<{ kind: string; payment_id: string | null }>): boolean =>
  payment_id === null && factsOf(kind)?.isSettled === true;

const namesWith = (isSo: (facts: KindFacts) => boolean): Kind[] =>
  (Object.keys(kinds) as Kind[]).filter((kind) => isSo(kinds[kind]));
export const invoicedKinds = namesWith((facts) => facts.invoiced !== null) as InvoicedKind[];
/** Kinds whose money leaves, which a second transaction would send twice. */
export const leavingKinds = (): Kind[] => namesWith((facts) => facts.leaves);
/** Kinds that bring addresses of ours what their transactions cost. */
export const topUpKinds = (): Kind[] => namesWith((facts) => facts.spends === 'gas');
/** Kinds that spend nothing of the treasury. */
export const kindsOutsideTreasury = (): Kind[] => namesWith((facts) => facts.spends !== 'treasury');
