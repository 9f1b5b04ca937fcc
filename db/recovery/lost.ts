import type { EntityManager } from 'typeorm';
import type { Destination } from '../../domain/chains/tags';
import type { AbsenceProof } from '../../domain/txmanager/expiry';
import { leavingKinds } from '../../domain/txmanager/kinds';
import type { IntentOwner, OwnerKind } from '../../domain/workflow-ids';
import { openIncident } from '../incidents';
import type { Queryable } from '../query';
import type { IntentRow } from '../txmanager/intents';

/** Transactions that were signed in the time that a recovery has lost. The signer has them from its record; here each
 *  is an attempt again, so that it is followed and its nonce or coins stay used. It belongs to an intent of the kind
 *  `lost` until the row that had it sent takes it over; what no row has sent is booked as it is. */

/** What the signer records of each signature, outside the database. Deposits and coins are named by outpoint, because
 *  the numbers of rows are lost with the rows. */
export type SignedRecord = Readonly<{
  kind: string;
  ref: string;
  /** Absent, both, in records from before they were kept: they are in `owner`. */
  ownerKind?: OwnerKind;
  ownerId?: string;
  /** Both in one text, for signers of the release before. */
  owner: string;
  network: string;
  currency: string;
  from: string;
  /** The keys that signed: their addresses are ours, whatever the database knows. */
  keys: ReadonlyArray<Readonly<{ address: string; role: string; branch: number; index: number }>>;
  merchantId: string | null;
  maxUnitPrice: string;
  feeBudget: string;
  gasLimit: string | null;
  planned: ReadonlyArray<Readonly<{ address: string; units: string | null }>>;
  deposits: readonly string[];
  /** Payments of a mass payout that it pays. */
  lines: readonly string[];
  /** Payments of a sweep of many. */
  shares: ReadonlyArray<
    Readonly<{ position: number; deposits: readonly string[]; brought: string; net: string | null }>
  >;
  accounts: ReadonlyArray<Readonly<{ address: string; nonce: number; units: string; deposits: readonly string[] }>>;
  isReplacement: boolean;
  nonce: number | null;
  inputs: readonly string[];
  txId: string;
  raw: string;
  unitPrice: string;
  /** Absent in records from before it was kept: none. */
  dataPart?: string;
  maxFeeUnits: string;
  movedUnits: string;
  outputs: ReadonlyArray<Destination & Readonly<{ units: string }>>;
  /** Absent: it never expires. `absences`: what proves void all that was signed for the intent before it. */
  window?: Readonly<{
    fromHeight: number;
    fromHash: string;
    toHeight: number | null;
    toMs: number | null;
    sequence: number | null;
    absences: readonly AbsenceProof[];
  }>;
}>;

/** Where the signer records what it does, outside the database: `keep` is done when it is on disk. */
export type OutsideRecord<One> = Readonly<{
  keep(records: readonly One[]): Promise<void>;
  /** Those since a moment, oldest first. */
  since(moment: Date): One[];
}>;
export type SignatureRecord = OutsideRecord<SignedRecord>;

/** How long before the newest row that the database knows the record is read: clocks differ. */
export const overlapMs = 3_600_000;
/** Records given to the database at once. */
const atOnce = 500;

type Restored = { kind: string; ref: string; network: string; from: string; txId: string };

/** Restores what the record has and the database has not. Wallets that money has left are frozen: operators look
 *  first at what merchants were paid. Answers how many there were. */
export async function restoreSigned(tx: EntityManager, record: SignatureRecord): Promise<number> {
  const [known] = await tx.query<Array<{ newest: Date | null }>>('SELECT max(created_at) AS newest FROM attempt');
  const records = notRolledBack(record.since(new Date((known?.newest?.getTime() ?? 0) - overlapMs)));
  const leaving = leavingKinds();
  let count = 0;
  for (let n = 0; n < records.length; n += atOnce) {
    const some = JSON.stringify(records.slice(n, n + atOnce));
    const [row] = await tx.query<Array<{ restored: Restored[] }>>('SELECT restore_signed($1, $2) AS restored', [
      some,
      leaving,
    ]);
    for (const one of row!.restored) await noteRestored(tx, one, leaving);
    count += row!.restored.length;
  }
  return count;
}

async function noteRestored(tx: EntityManager, one: Restored, leaving: readonly string[]): Promise<void> {
  if (!leaving.includes(one.kind)) return;
  const { kind, ref, network, from, txId } = one;
  await openIncident(tx, {
    kind: 'wallet-frozen',
    subject: { kind: 'wallet', id: `${network}/${from}` },
    distinction: txId,
    details: { reason: `A recovery has lost what it sent: ${kind} ${ref}`, txId },
  });
}

/** Without what was rolled back: its nonce, or its coins, went to another intent later; or, where transactions expire,
 *  the next of its intent was signed without a proof that it is void. */
function notRolledBack(records: readonly SignedRecord[]): SignedRecord[] {
  const places = (one: SignedRecord): string[] =>
    one.nonce === null ? [...one.inputs] : [`${one.network} ${one.from} ${one.nonce}`];
  const nameOf = (one: SignedRecord): string => `${one.kind}/${one.ref}`;
  const last = new Map(records.flatMap((one) => places(one).map((place) => [place, nameOf(one)] as const)));
  const isFollowed = (one: SignedRecord, n: number): boolean => {
    const next = records.slice(n + 1).find((other) => other.window && nameOf(other) === nameOf(one));
    return !next || next.txId === one.txId || next.window!.absences.some(({ txId }) => txId === one.txId);
  };
  return records.filter((one, n) =>
    one.window ? isFollowed(one, n) : places(one).every((place) => last.get(place) === nameOf(one)),
  );
}

/** SQL: no row of ours has the lost intent `i` sent, so nothing will take it over. */
const isOwnerless = `CASE i.lost_owner_kind
  WHEN 'withdrawal' THEN NOT EXISTS (SELECT FROM withdrawal r WHERE r.id = i.lost_owner_id::bpchar)
  WHEN 'refund' THEN NOT EXISTS (SELECT FROM refund r WHERE r.id = i.lost_owner_id::bpchar)
  WHEN 'payout-batch' THEN NOT EXISTS (SELECT FROM payout_batch r WHERE r.id = i.lost_owner_id::bpchar)
  WHEN 'conversion' THEN NOT EXISTS (SELECT FROM conversion r WHERE r.id = i.lost_owner_id::bpchar)
  WHEN 'consolidate' THEN NOT EXISTS (SELECT FROM intent r
    WHERE r.owner_kind = 'consolidate' AND r.owner_id = i.lost_owner_id)
  ELSE NOT EXISTS (SELECT FROM payment r WHERE r.id = i.lost_owner_id::bpchar)
    AND NOT EXISTS (SELECT FROM deposit d WHERE d.network = i.network AND d.payment_id IS NOT NULL
                       AND i.lost->'deposits' ? (d.tx_id || ':' || d.out_index)) END`;

/** Lost transactions that are final, that are not reassigned, and that are not in the books. */
export const lostToBook = async (db: Queryable): Promise<string[]> =>
  (
    await db.query<Array<{ id: string }>>(
      `SELECT i.id FROM intent i WHERE i.owner_kind = 'lost' AND i.status IN ('final', 'failed') AND NOT i.booked
          AND ${isOwnerless} ORDER BY i.id`,
    )
  ).map((row) => row.id);

/** Lost intents of a network whose transactions expire, and may still be in a block. */
export const openLost = (db: Queryable, network: string): Promise<IntentRow[]> =>
  db.query<IntentRow[]>(
    `SELECT * FROM intent i WHERE i.owner_kind = 'lost' AND i.network = $1 AND EXISTS (
       SELECT FROM attempt a WHERE a.intent_id = i.id AND a.valid_from_height IS NOT NULL
          AND a.status IN ('stored', 'sent')) ORDER BY i.id`,
    [network],
  );

/** Ends those that are void and that no row has sent. */
export const endVoidLost = (db: Queryable, network: string): Promise<unknown> =>
  db.query(
    `UPDATE intent i SET status = 'dead', updated_at = now()
      WHERE i.owner_kind = 'lost' AND i.network = $1 AND i.status IN ('planned', 'stored', 'sent') AND ${isOwnerless}
        AND coalesce((SELECT bool_and(a.status = 'expired') FROM attempt a WHERE a.intent_id = i.id), false)`,
    [network],
  );

type LostRow = {
  ref: string;
  network: string;
  currency: string;
  status: string;
  tx_id: string;
  outputs: string;
  was: 'waits' | 'taken' | 'ownerless';
};

const lostRows = `SELECT i.ref, i.network, i.currency, a.status, a.tx_id, a.outputs::text AS outputs,
       CASE WHEN i.status = 'dead' AND a.intent_id <> i.id THEN 'taken'
            WHEN ${isOwnerless} THEN 'ownerless' ELSE 'waits' END AS was
  FROM intent i JOIN attempt a ON a.tx_id = i.lost->>'txId' AND a.network = i.network
 WHERE i.owner_kind = 'lost'`;

/** What was signed in the time that recoveries have lost, oldest first. */
export const lostSignatures = (db: Queryable): Promise<LostRow[]> => db.query<LostRow[]>(`${lostRows} ORDER BY i.id`);
/** The newest of it, newest first. */
export const newestLost = (db: Queryable, limit: number): Promise<LostRow[]> =>
  db.query<LostRow[]>(`${lostRows} ORDER BY i.id DESC LIMIT $1`, [limit]);

/** SQL: `i` was lost of the owner of this kind and id, and that has not taken it over. */
const isOfOwner = `i.owner_kind = 'lost' AND i.lost_owner_kind = $1 AND i.lost_owner_id = $2 AND i.status <> 'dead'`;

/** Whether an owner may have something signed which a recovery has lost and that is not reassigned to it: what may have
 *  left is neither returned nor signed again. It may until the signer has confirmed this incarnation of the database
 *  and has brought its record: nobody knows before. */
export async function maybeSignedAndLost(db: Queryable, { kind, id }: IntentOwner): Promise<boolean> {
  const rows = await db.query<unknown[]>(
    `SELECT FROM intent i WHERE ${isOfOwner}
     UNION ALL SELECT FROM key_epoch WHERE incarnation <> database_incarnation() LIMIT 1`,
    [kind, id],
  );
  return rows.length > 0;
}

/** Why nothing is signed for such owners. */
export const signedBefore = 'something was signed for it before the recovery, and it has not taken that over yet';

type LostIntent = {
  id: string;
  booked: boolean;
  kind: string;
  ref: string;
  currency: string;
  outputs: Array<Destination & { units: string }>;
  /** The intent of its row, where it is planned. */
  twin: string | null;
};
const lostColumns = `i.id, i.booked, i.lost->>'kind' AS kind, i.lost->>'ref' AS ref, i.currency,
  i.lost->'outputs' AS outputs,
  (SELECT t.id FROM intent t WHERE t.kind = i.lost->>'kind' AND t.ref = i.lost->>'ref') AS twin`;

/** What was lost of an owner, gas first, as it was signed. `network`: on it alone. */
export const lostOf = (tx: EntityManager, { kind, id }: IntentOwner, network?: string): Promise<LostIntent[]> =>
  tx.query<LostIntent[]>(
    `SELECT ${lostColumns} FROM intent i WHERE ${isOfOwner} AND i.network = coalesce($3, i.network) ORDER BY i.id`,
    [kind, id, network ?? null],
  );

/** Lost sweeps of a payment's deposits, with the gas that was bought for them. */
export const lostSweepsOf = (tx: EntityManager, paymentId: string): Promise<LostIntent[]> =>
  tx.query<LostIntent[]>(
    `SELECT ${lostColumns} FROM intent i
      WHERE i.owner_kind = 'lost' AND i.status <> 'dead' AND (i.lost_owner_kind, i.lost_owner_id) IN (
        SELECT s.lost_owner_kind, s.lost_owner_id FROM intent s JOIN deposit d ON d.network = s.network
         WHERE s.owner_kind = 'lost' AND s.status <> 'dead' AND s.lost->>'kind' = 'sweep'
           AND coalesce(d.child_payment_id, d.payment_id) = $1 AND s.lost->'deposits' ? (d.tx_id || ':' || d.out_index))
      ORDER BY i.id`,
    [paymentId],
  );

/** Gives a lost intent to its row: the id of the row's intent; null while one of its deposits is not in the chain. */
export async function giveLost(tx: EntityManager, id: string, paymentId: string | null): Promise<string | null> {
  const [row] = await tx.query<Array<{ id: string | null }>>('SELECT take_over_lost($1, $2) AS id', [id, paymentId]);
  return row!.id;
}
