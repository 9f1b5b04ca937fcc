import type { EntityManager } from 'typeorm';
import { balanceTxId } from '../../domain/chains/balance-deposit';
import { assetOf, networks, type NetworkId } from '../../domain/chains/assets';
import { add, compare, fromUnits, smaller, subtract } from '../../domain/money';
import type { Transfer } from '../../domain/chains/chain';
import { changedRows, type Queryable } from '../query';
import { lookAtBalance, type Holder } from './balance-looks';
import { notifyOwners } from './notify';

/** Money on a deposit address that no transfer tells of: sent by a contract where nothing is traced, by a block's
 *  reward, or in a block whose trace failed. On account chains alone: outputs are always read. */

/** Is what was found there nobody's, until two operators give it to the payment of its address? */
export const isFoundUnclaimed = (network: string): boolean => {
  const entry = networks[network as NetworkId];
  return entry?.kind === 'account' && entry.isFoundUnclaimed === true;
};

/** A holding as a node told it, of a block that we remember. `held`: whole units, a decimal string. */
export type BalanceLook = Holder & Readonly<{ held: string; block: Readonly<{ height: number; hash: string }> }>;

/** What an address holds at a block by our rows: deposits in force, less what transactions of ours took. Decimal
 *  string; null while one of them is not final, for nobody knows yet what it took. A deposit found by balance counts at
 *  every height: its money may have been there before. `except`: a deposit that is not counted. */
export async function expectedHolding(
  db: Queryable,
  { network, address, currency }: Holder,
  height: number,
  except: string | null = null,
): Promise<string | null> {
  const isNative = networks[network].native === currency;
  const [row] = await db.query<Array<{ arrived: string; gone: string; open: number }>>(
    `SELECT coalesce((SELECT sum(d.amount) FROM deposit d
               WHERE d.network = $1 AND d.address = $2 AND d.currency = $3 AND d.status IN ('mined', 'confirmed')
                 AND (d.height <= $4 OR d.found_by = 'balance')
                 AND d.id IS DISTINCT FROM $5::bigint), 0)::text AS arrived,
            trim_scale((coalesce(own.units, 0) + coalesce(shared.units, 0)) / power(10::numeric, $6))::text AS gone,
            (coalesce(own.open, 0) + coalesce(shared.open, 0))::int AS open
       FROM (SELECT sum(CASE WHEN i.currency <> $3
                                OR EXISTS (SELECT FROM attempt_account c WHERE c.attempt_id = a.id) THEN 0
                             WHEN a.moves IS NOT NULL THEN units_from(a.moves, $2)
                             WHEN a.success IS DISTINCT FROM false THEN a.moved_units ELSE 0 END
                        + CASE WHEN $7 THEN coalesce(a.fee_units, a.max_fee_units) ELSE 0 END) AS units,
                    count(*) FILTER (WHERE a.status = 'mined' AND (a.differs_at IS NULL OR a.moves IS NULL)
                                       AND ($7 OR i.currency = $3)) AS open
               FROM attempt a JOIN intent i ON i.id = a.intent_id
              WHERE a.network = $1 AND a.from_address = $2 AND a.status IN ('mined', 'final')
                AND a.height <= $4) own,
            (SELECT sum(CASE WHEN a.moves IS NOT NULL THEN units_from(a.moves, $2)
                             WHEN a.success IS DISTINCT FROM false THEN c.units ELSE 0 END) AS units,
                    count(*) FILTER (WHERE a.status = 'mined' AND (a.differs_at IS NULL OR a.moves IS NULL)
                                       AND a.success IS DISTINCT FROM false) AS open
               FROM attempt_account c JOIN attempt a ON a.id = c.attempt_id JOIN intent i ON i.id = a.intent_id
              WHERE c.network = $1 AND c.address = $2 AND i.currency = $3 AND a.status IN ('mined', 'final')
                AND a.height <= $4) shared`,
    [network, address, currency, height, except, assetOf(currency).decimals, isNative],
  );
  if (row!.open) return null;
  const left = subtract(row!.arrived, row!.gone);
  // Below zero: what has left was that deposit's, which a recovery reads again after its sweep.
  return except !== null || compare(left, '0') > 0 ? left : '0';
}

/** Stores what a deposit address holds beyond its rows as a deposit, and notifies its payment; where that is
 *  nobody's, it has none. It counts like every other deposit, at the time of its block: it matures, is verified
 *  again by balance, and a reorganisation takes it. Safe to repeat: what is stored is expected from then on. Returns
 *  its id, or null where nothing is beyond the rows, where the block is not the one that we remember, or where it is
 *  too early to tell: then it is looked at again. */
export async function storeFoundByBalance(tx: EntityManager, look: BalanceLook): Promise<string | null> {
  const { network, address, block } = look;
  const [owner] = await tx.query<Array<{ payment_id: string | null }>>(
    `SELECT a.payment_id FROM address a
      WHERE a.network = $1 AND a.address = $2 AND a.tag = '' AND a.role = 'deposit'
        AND EXISTS (SELECT FROM chain_block b WHERE b.network = $1 AND b.height = $3 AND b.hash = $4)
        FOR UPDATE OF a`,
    [network, address, block.height, block.hash],
  );
  if (!owner) return null;
  const expected = await expectedHolding(tx, look, block.height);
  if (expected === null) await lookAtBalance(tx, look, 'not-final', networks[network].reorgWindow);
  if (expected === null || compare(look.held, expected) <= 0) return null;
  const surplus = subtract(look.held, expected);
  const paymentId = isFoundUnclaimed(network) ? null : owner.payment_id;
  const id = (await returnOrphan(tx, look, surplus)) ?? (await insert(tx, look, paymentId, surplus));
  await notifyOwners(tx, [id]);
  return id;
}

async function insert(
  tx: EntityManager,
  { network, address, currency, block }: BalanceLook,
  paymentId: string | null,
  amount: string,
): Promise<string> {
  const [row] = await tx.query<Array<{ id: string }>>(
    `INSERT INTO deposit AS d (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
                          is_dust, status, block_hash, height, first_seen_at, first_seen_height, mined_at, found_by)
     SELECT b.network, $3, 0, $4, 'deposit', $5, $6, $7, $7, $8, 'mined', b.hash, b.height,
            least(clock_timestamp(), b.block_time), b.height, b.block_time, 'balance'
       FROM chain_block b WHERE b.network = $1 AND b.height = $2
     ON CONFLICT (network, tx_id, out_index) DO UPDATE
       SET amount = d.amount + EXCLUDED.amount, stated_amount = d.amount + EXCLUDED.amount WHERE d.status = 'mined'
     RETURNING id`,
    [
      network,
      block.height,
      balanceTxId(block.hash, address, currency),
      address,
      paymentId,
      currency,
      amount,
      compare(amount, assetOf(currency).dust) < 0,
    ],
  );
  return row!.id;
}

/** The same money again, after a reorganisation took its block: one row, so that its journals stay one. */
async function returnOrphan(
  tx: EntityManager,
  { network, address, currency, block }: BalanceLook,
  amount: string,
): Promise<string | null> {
  const [row] = await changedRows<{ id: string }>(
    tx,
    `UPDATE deposit d SET status = 'mined', block_hash = b.hash, height = b.height, mined_at = b.block_time
       FROM chain_block b
      WHERE b.network = $1 AND b.height = $2 AND d.id = (
        SELECT id FROM deposit WHERE network = $1 AND address = $3 AND currency = $4 AND amount = $5
           AND found_by = 'balance' AND status = 'orphaned' ORDER BY id LIMIT 1)
      RETURNING d.id`,
    [network, block.height, address, currency, amount],
  );
  return row?.id ?? null;
}

/** Whether the money of a transfer that was read late has been found by balance: at its height or above it, on its
 *  address. It gets its name then, and is no deposit of its own. */
export async function identify(
  tx: EntityManager,
  network: NetworkId,
  { txId, index, to, currency, units }: Transfer,
  height: number,
): Promise<boolean> {
  if (currency === null) return false;
  const [known] = await tx.query<unknown[]>(
    'SELECT FROM identified_transfer WHERE network = $1 AND tx_id = $2 AND out_index = $3 LIMIT 1',
    [network, txId, index],
  );
  if (known) return true;
  const found = await tx.query<Array<{ id: string; rest: string }>>(
    `SELECT d.id, (d.amount - coalesce((SELECT sum(t.amount) FROM identified_transfer t
                                         WHERE t.deposit_id = d.id), 0))::text AS rest
       FROM deposit d WHERE d.network = $1 AND d.address = $2 AND d.currency = $3 AND d.height >= $4
        AND d.found_by = 'balance' AND d.status IN ('mined', 'confirmed') ORDER BY d.id FOR UPDATE OF d`,
    [network, to, currency, height],
  );
  const amount = fromUnits(units, assetOf(currency).decimals);
  if (compare(add('0', ...found.map(({ rest }) => rest)), amount) < 0) return false;
  let left = amount;
  for (const { id, rest } of found) {
    const part = smaller(rest, left);
    if (compare(part, '0') <= 0) continue;
    await tx.query(
      `INSERT INTO identified_transfer (network, tx_id, out_index, height, deposit_id, amount)
       VALUES ($1, $2, $3, $4, $5, $6)`,
      [network, txId, index, height, id, part],
    );
    left = subtract(left, part);
  }
  await notifyOwners(
    tx,
    found.map(({ id }) => id),
  );
  return true;
}

/** After a reorganisation: what was found by balance in blocks that are gone is looked for in those that came. */
export const lookAgain = (tx: Queryable, network: NetworkId, orphanIds: readonly string[]): Promise<unknown> =>
  tx.query(
    `INSERT INTO balance_due (network, address, currency, reason, until_height)
     SELECT DISTINCT d.network, d.address, d.currency, 'reorganisation', c.height + $3
       FROM deposit d JOIN chain_cursor c ON c.network = d.network
      WHERE d.network = $1 AND d.id = ANY($2::bigint[]) AND d.found_by = 'balance' AND d.role = 'deposit'
     ON CONFLICT (network, address, currency) DO UPDATE SET until_height = EXCLUDED.until_height, looked_height = NULL`,
    [network, orphanIds, networks[network].reorgWindow],
  );
