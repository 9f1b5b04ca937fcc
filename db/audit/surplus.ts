import type { EntityManager } from 'typeorm';
import type { Currency, NetworkId } from '../../domain/chains/assets';
import { add, compare, isPositive, subtract } from '../../domain/money';
import { storeFoundByBalance } from '../chains/found-by-balance';
import { unexplainedJournal } from '../../domain/ledger/unexplained';
import { ensure, reverse } from '../ledger/ledger';
import type { Queryable } from '../query';

/** What the chain holds beyond the ledger. It freezes nothing, because anybody can send us money by a way that nothing
 *  tells of. docs/decisions/0005. */

/** An address that holds more than its rows say, at a final block. Whole units, decimal strings. */
export type SurplusPlace = Readonly<{ address: string; held: string; beyond: string }>;
export type Surplus = Readonly<{
  network: NetworkId;
  currency: Currency;
  height: number;
  /** What is unexplained of the asset in all; positive. */
  unexplained: string;
  /** The newest deposit that the comparison knew. */
  lastDeposit: string;
  places: readonly SurplusPlace[];
}>;

/** One act at a time books or reverses what is unexplained of an asset: a comparison, the follower, two operators. */
const lockComparison = (tx: Queryable, currency: string): Promise<unknown> =>
  tx.query('SELECT FROM reconciliation WHERE currency = $1 FOR UPDATE', [currency]);

/** Keys of what was booked without an operator. */
const prefix = (currency: string): string => `auto/${currency}/`;

/** What the ledger has as unexplained; of it, what was booked without an operator. */
async function bookedSoFar(tx: Queryable, currency: string): Promise<{ all: string; auto: string }> {
  const [row] = await tx.query<Array<{ all: string; auto: string }>>(
    `SELECT trim_scale(coalesce(sum(CASE WHEN p.credit = 'Q:unexplained' THEN p.amount ELSE -p.amount END), 0))::text
              AS "all",
            trim_scale(coalesce(sum(p.amount) FILTER (
              WHERE starts_with(j.key, 'unexplained/' || $2) AND journal_stands(j.key)), 0))::text AS auto
       FROM posting p JOIN journal j ON j.id = p.journal_id
      WHERE p.asset = $1 AND (p.credit = 'Q:unexplained' OR p.debit = 'Q:unexplained')`,
    [currency, prefix(currency)],
  );
  return row!;
}

/** What is on a deposit address becomes a deposit of its payment. Returns how much. */
async function giveToPayments(tx: EntityManager, { network, currency, height, places }: Surplus): Promise<string> {
  const [block] = await tx.query<Array<{ hash: string }>>(
    'SELECT hash FROM chain_block WHERE network = $1 AND height = $2',
    [network, height],
  );
  let given = '0';
  if (!block) return given;
  for (const { address, held, beyond } of places) {
    const look = { network, address, currency, held, block: { height, hash: block.hash } };
    if ((await storeFoundByBalance(tx, look)) !== null) given = add(given, beyond);
  }
  return given;
}

/** Books what our own wallets hold beyond their rows, as long as all that is booked so stays within `bound`. Returns
 *  how much; nothing where a deposit has come to them since the comparison, which may be this money. */
async function bookWallets(tx: EntityManager, surplus: Surplus, left: string, bound: string): Promise<string> {
  const { network, currency, height, lastDeposit, places } = surplus;
  const wallets = await tx.query<Array<{ address: string; isNewer: boolean }>>(
    `SELECT a.address, EXISTS (SELECT FROM deposit d WHERE d.network = a.network AND d.address = a.address
                                  AND d.height <= $3 AND d.id > $4) AS "isNewer"
       FROM address a WHERE a.network = $1 AND a.role <> 'deposit' AND a.address = ANY($2)`,
    [network, places.map(({ address }) => address), height, lastDeposit],
  );
  if (wallets.some(({ isNewer }) => isNewer)) return '0';
  const own = places.filter(({ address }) => wallets.some((wallet) => wallet.address === address));
  const booked = await bookedSoFar(tx, currency);
  const inWallets = subtract(add('0', ...own.map(({ beyond }) => beyond)), booked.all);
  // More than the wallets explain is a fault in the books, and more than the bound is for two operators.
  if (!isPositive(left) || compare(left, inWallets) > 0 || compare(add(booked.auto, left), bound) > 0) return '0';
  // The same amount at the same block again, where a booking was taken back in between, is the same journal.
  await ensure(
    tx,
    unexplainedJournal({
      key: `${prefix(currency)}${height}/${left}`,
      currency,
      amount: left,
      details: { currency, comparedAt: height, wallets: own.map(({ address }) => address) },
    }),
  );
  return left;
}

/** Gives a surplus to whom it belongs. What is left is for operators. */
export async function takeSurplus(
  tx: EntityManager,
  surplus: Surplus,
  bound: string,
): Promise<{ given: string; booked: string }> {
  await lockComparison(tx, surplus.currency);
  const given = await giveToPayments(tx, surplus);
  const booked = await bookWallets(tx, surplus, subtract(surplus.unexplained, given), bound);
  return { given, booked };
}

/** Money on a wallet of ours has been identified in a block: what was booked as unexplained by a comparison of that
 *  block or a later one, by rule or by operators, is taken back first. What is still unexplained then is for the next
 *  comparison. A booked loss stays. */
export async function reverseUnexplained(tx: EntityManager, currency: Currency, height: number): Promise<void> {
  await lockComparison(tx, currency);
  const booked = await tx.query<Array<{ key: string }>>(
    `SELECT j.key FROM posting p JOIN journal j ON j.id = p.journal_id
      WHERE p.credit = 'Q:unexplained' AND p.asset = $1 AND starts_with(j.key, 'unexplained/')
        AND (j.details->>'comparedAt')::bigint >= $2 AND journal_stands(j.key) ORDER BY j.id DESC`,
    [currency, height],
  );
  for (const { key } of booked) await reverse(tx, key);
}
