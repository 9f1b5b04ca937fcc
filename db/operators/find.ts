import type { Term } from '../../domain/operators/find';
import type { OwnerKind } from '../../domain/workflow-ids';
import type { Kind } from '../../domain/txmanager/kinds';
import type { Role } from '../../domain/access/access';
import { networks } from '../../domain/chains/assets';
import type { IncidentKind } from '../incidents';
import type { DeliveryStatus } from '../webhooks/deliveries';
import type { Queryable } from '../query';

/** What operators look for, over all merchants. Every look-up is one by an index, and every list has an end. */

/** Records that one answer has. */
export const mostRecords = 10;
/** Parts of each kind that a record shows, the first ones. */
const mostParts = 100;
const networkIds = Object.keys(networks);

export type Place = Readonly<{ network: string; address: string }>;
export type RecordKind = 'payment' | 'withdrawal' | 'refund' | 'conversion' | 'payout';
export type FoundRecord = {
  kind: RecordKind;
  id: string;
  merchant_id: string;
  merchant_name: string;
  status: string;
  /** Null where it has none yet, or several. */
  currency: string | null;
  amount: string | null;
  slug: string | null;
  order_id: string | null;
  address: string | null;
  created_at: Date;
};

/** Ids of the records that a text leads to: by their own ids, those of their parts, their addresses or their
 *  transactions. One more than `mostRecords` where there are more. */
export async function findIds(db: Queryable, term: Term, places: readonly Place[]): Promise<string[]> {
  const rows = await db.query<Array<{ id: string }>>(
    `WITH sent AS (
       SELECT i.id, i.owner_kind, i.owner_id, i.payment_id FROM intent i WHERE i.id IN (
         SELECT a.intent_id FROM attempt a WHERE a.network = ANY($4) AND a.tx_id = ANY($3) UNION SELECT $5::bigint)),
     came AS (
       SELECT network, address, tag, payment_id, child_payment_id FROM deposit
        WHERE network = ANY($4) AND tx_id = ANY($3)
       UNION (SELECT d.network, d.address, d.tag, d.payment_id, d.child_payment_id
                FROM unnest($6::text[], $7::text[]) p (network, address)
                JOIN deposit d ON d.network = p.network AND d.address = p.address ORDER BY d.id DESC LIMIT $8)),
     ours AS (
       SELECT a.payment_id, a.conversion_id FROM address a JOIN (
         SELECT network, address, tag FROM came
         UNION SELECT u.*, '' FROM unnest($6::text[], $7::text[]) u (network, address)) p (network, address, tag)
           ON a.network = p.network AND a.address = p.address AND a.tag = p.tag)
     SELECT DISTINCT id::text AS id FROM (
       SELECT $1::char(24)::text AS id
       UNION ALL SELECT batch_id FROM payout_leg WHERE id = $1
       UNION ALL SELECT entity_id FROM event WHERE id = $1
       UNION ALL SELECT e.entity_id FROM delivery d JOIN event e ON e.id = d.event_id WHERE d.id = $1
       UNION ALL SELECT id FROM payment WHERE slug = $2
       UNION ALL (SELECT id FROM payment WHERE order_id = $9 ORDER BY id DESC LIMIT $8)
       UNION ALL (SELECT id FROM payment WHERE merchant_order_id = $9 ORDER BY id DESC LIMIT $8)
       UNION ALL SELECT owner_id FROM sent WHERE owner_kind <> 'sweep-batch'
       UNION ALL SELECT payment_id FROM sent
       UNION ALL (SELECT s.payment_id FROM sent JOIN sweep_share s ON s.intent_id = sent.id LIMIT $8)
       UNION ALL SELECT unnest(ARRAY[payment_id, child_payment_id]) FROM came
       UNION ALL SELECT unnest(ARRAY[payment_id, conversion_id]) FROM ours
       UNION ALL (SELECT id FROM withdrawal WHERE address = ANY($7) ORDER BY created_at DESC LIMIT $8)
       UNION ALL (SELECT id FROM refund WHERE address = ANY($7) ORDER BY created_at DESC LIMIT $8)
       UNION ALL (SELECT batch_id FROM payout_leg WHERE address = ANY($7) LIMIT $8)) found
      WHERE id IS NOT NULL ORDER BY id DESC LIMIT $8`,
    [
      term.id,
      term.slug,
      term.txIds,
      networkIds,
      term.number,
      places.map(({ network }) => network),
      places.map(({ address }) => address),
      mostRecords + 1,
      term.text,
    ],
  );
  return rows.map(({ id }) => id);
}

/** The records among these ids, newest first. */
export const recordsOf = (db: Queryable, ids: readonly string[]): Promise<FoundRecord[]> =>
  db.query<FoundRecord[]>(
    `SELECT found.*, m.name AS merchant_name FROM (
       SELECT 'payment' AS kind, id, merchant_id, status, currency, trim_scale(amount)::text AS amount, slug,
              coalesce(merchant_order_id, order_id) AS order_id, deposit_address AS address, created_at
         FROM payment WHERE id = ANY($1)
       UNION ALL SELECT 'withdrawal', id, merchant_id, status, currency, trim_scale(amount)::text, NULL, NULL, address,
              created_at FROM withdrawal WHERE id = ANY($1)
       UNION ALL SELECT 'refund', id, merchant_id, status, currency, trim_scale(amount)::text, NULL, NULL, address,
              created_at FROM refund WHERE id = ANY($1)
       UNION ALL SELECT 'conversion', id, merchant_id, status, from_currency, trim_scale(from_amount)::text, NULL, NULL,
              NULL, created_at FROM conversion WHERE id = ANY($1)
       UNION ALL SELECT 'payout', id, merchant_id, status, NULL, NULL, NULL, NULL, NULL, created_at
         FROM payout_batch WHERE id = ANY($1)) found
       JOIN merchant m ON m.id = found.merchant_id ORDER BY found.created_at DESC, found.id DESC`,
    [ids],
  );

export type FoundDeposit = {
  id: string;
  network: string;
  txId: string;
  index: number;
  address: string;
  currency: string | null;
  amount: string;
  status: string;
  height: string | null;
  allocation: string | null;
  firstSeenAt: Date;
  confirmedAt: Date | null;
};

/** What came in for a record: to a payment, or as the payout of a conversion. */
export const depositsFor = (db: Queryable, id: string): Promise<FoundDeposit[]> =>
  db.query<FoundDeposit[]>(
    `SELECT d.id::text AS id, d.network, d.tx_id AS "txId", d.out_index AS index, d.address, d.currency,
            trim_scale(d.amount)::text AS amount, d.status, d.height::text AS height, d.allocation,
            d.first_seen_at AS "firstSeenAt", d.confirmed_at AS "confirmedAt"
       FROM deposit d WHERE d.id IN (
         SELECT id FROM deposit WHERE payment_id = $1 UNION SELECT id FROM deposit WHERE child_payment_id = $1
         UNION SELECT c.id FROM address a JOIN deposit c ON c.network = a.network AND c.address = a.address
                WHERE a.conversion_id = $1)
      ORDER BY d.id LIMIT $2`,
    [id, mostParts],
  );

type FoundAttempt = {
  n: number;
  txId: string;
  status: string;
  nonce: number | null;
  height: string | null;
  blockHash: string | null;
  success: boolean | null;
  createdAt: string;
  sentAt: string | null;
};
export type FoundIntent = {
  id: string;
  kind: Kind;
  network: string;
  currency: string;
  status: string;
  ownerKind: OwnerKind | 'lost';
  ownerId: string;
  fromAddress: string;
  booked: boolean;
  createdAt: Date;
  attempts: FoundAttempt[];
};

const attemptsOfI = `(SELECT coalesce(json_agg(json_build_object('n', a.n, 'txId', a.tx_id, 'status', a.status,
    'nonce', a.nonce, 'height', a.height::text, 'blockHash', a.block_hash, 'success', a.success,
    'createdAt', a.created_at, 'sentAt', a.sent_at) ORDER BY a.n), '[]') FROM attempt a WHERE a.intent_id = i.id)`;
const intentColumns = `i.id::text AS id, i.kind, i.network, i.currency, i.status, i.owner_kind AS "ownerKind",
  i.owner_id AS "ownerId", i.from_address AS "fromAddress", i.booked, i.created_at AS "createdAt",
  ${attemptsOfI} AS attempts`;

/** What we send for a record, with every transaction that was signed for it. `owners`: what an intent calls it. */
export const intentsFor = (db: Queryable, id: string, owners: readonly OwnerKind[]): Promise<FoundIntent[]> =>
  db.query<FoundIntent[]>(
    `SELECT ${intentColumns} FROM intent i WHERE i.id IN (
       SELECT id FROM intent WHERE payment_id = $1
       UNION SELECT id FROM intent WHERE owner_kind = ANY($2) AND owner_id = $1
       UNION SELECT intent_id FROM sweep_share WHERE payment_id = $1)
      ORDER BY i.id LIMIT $3`,
    [id, owners, mostParts],
  );

/** The intents of a transaction or a number: some are about no record of a merchant. */
export const intentsNamed = (db: Queryable, term: Term): Promise<FoundIntent[]> =>
  db.query<FoundIntent[]>(
    `SELECT ${intentColumns} FROM intent i WHERE i.id IN (
       SELECT a.intent_id FROM attempt a WHERE a.network = ANY($2) AND a.tx_id = ANY($1) UNION SELECT $3::bigint)
      ORDER BY i.id LIMIT $4`,
    [term.txIds, networkIds, term.number, mostRecords],
  );

export type FoundJournal = {
  id: string;
  key: string;
  entryType: string | null;
  reverses: string | null;
  createdAt: Date;
  postings: Array<{ debit: string; credit: string; asset: string; amount: string }>;
};

/** The journals of these keys, those that a merchant's statement has of this source, and their reversals. */
export const journalsFor = (
  db: Queryable,
  of: Readonly<{ id: string; merchantId: string; keys: readonly string[] }>,
): Promise<FoundJournal[]> =>
  db.query<FoundJournal[]>(
    `WITH RECURSIVE about AS (
       SELECT id FROM journal WHERE key = ANY($1)
       UNION SELECT journal_id FROM ledger_entry WHERE merchant_id = $2 AND source_id = $3
       UNION SELECT j.id FROM about JOIN journal j ON j.reverses = about.id)
     SELECT j.id::text AS id, j.key, j.entry_type AS "entryType", j.reverses::text AS reverses,
            j.created_at AS "createdAt",
            (SELECT coalesce(json_agg(json_build_object('debit', p.debit, 'credit', p.credit, 'asset', p.asset,
               'amount', trim_scale(p.amount)::text) ORDER BY p.id), '[]') FROM posting p WHERE p.journal_id = j.id)
              AS postings
       FROM journal j WHERE j.id IN (SELECT id FROM about) ORDER BY j.id LIMIT $4`,
    [of.keys, of.merchantId, of.id, mostParts],
  );

export type FoundDelivery = {
  id: string;
  eventId: string;
  type: string;
  endpoint: string;
  url: string;
  status: DeliveryStatus;
  attempts: number;
  nextAttemptAt: Date | null;
  createdAt: Date;
};

/** What the merchant was told of a record, and whether it arrived; oldest first. */
export const deliveriesFor = (db: Queryable, id: string): Promise<FoundDelivery[]> =>
  db.query<FoundDelivery[]>(
    `SELECT d.id, d.event_id AS "eventId", e.type, d.endpoint, d.url, d.status,
            d.attempts_before + d.attempts AS attempts, d.next_attempt_at AS "nextAttemptAt",
            d.created_at AS "createdAt"
       FROM event e JOIN delivery d ON d.event_id = e.id WHERE e.entity_id = $1 ORDER BY d.n LIMIT $2`,
    [id, mostParts],
  );

export type FoundIncident = {
  id: string;
  kind: IncidentKind;
  subjectKind: string;
  subjectId: string;
  createdAt: Date;
  resolvedAt: Date | null;
};

/** What operators had to look at: about a record, its deposits or its intents. */
export const incidentsFor = (
  db: Queryable,
  of: Readonly<{ kind: string; id: string; depositIds: readonly string[]; intentIds: readonly string[] }>,
): Promise<FoundIncident[]> =>
  db.query<FoundIncident[]>(
    `SELECT id::text AS id, kind, subject_kind AS "subjectKind", subject_id AS "subjectId", created_at AS "createdAt",
            resolved_at AS "resolvedAt"
       FROM incident WHERE (subject_kind = $1 AND subject_id = $2)
         OR (subject_kind = 'deposit' AND subject_id = ANY($3)) OR (subject_kind = 'intent' AND subject_id = ANY($4))
      ORDER BY incident.id LIMIT $5`,
    [of.kind, of.id, of.depositIds, of.intentIds, mostParts],
  );

export type FoundAddress = {
  network: string;
  address: string;
  role: 'deposit' | 'treasury' | 'gas';
  currency: string | null;
  merchantId: string | null;
  paymentId: string | null;
  conversionId: string | null;
};

/** Which of these are addresses of ours. */
export const addressesOf = (db: Queryable, places: readonly Place[]): Promise<FoundAddress[]> =>
  db.query<FoundAddress[]>(
    `SELECT a.network, a.address, a.role, a.currency, a.merchant_id AS "merchantId", a.payment_id AS "paymentId",
            a.conversion_id AS "conversionId"
       FROM unnest($1::text[], $2::text[]) p (network, address)
       JOIN address a ON a.network = p.network AND a.address = p.address AND a.tag = ''`,
    [places.map(({ network }) => network), places.map(({ address }) => address)],
  );

export type FoundUser = {
  id: string;
  email: string;
  displayName: string;
  role: Role;
  isActive: boolean;
  merchantId: string | null;
  merchantName: string | null;
  lastLoginAt: Date | null;
};

/** The dashboard user of an e-mail address or an id. */
export const usersNamed = (db: Queryable, email: string | null, id: string | null): Promise<FoundUser[]> =>
  db.query<FoundUser[]>(
    `SELECT u.id, u.email, u.display_name AS "displayName", u.role, u.is_active AS "isActive",
            u.merchant_id AS "merchantId", m.name AS "merchantName", u.last_login_at AS "lastLoginAt"
       FROM dashboard_user u LEFT JOIN merchant m ON m.id = u.merchant_id WHERE u.email = $1 OR u.id = $2`,
    [email, id],
  );
