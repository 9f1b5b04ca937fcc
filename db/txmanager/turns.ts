import type { Waiter } from '../../domain/txmanager/turns';
import type { Queryable } from '../query';
import type { IntentRow } from './intents';

/** Who waits for a wallet that has one open transaction at a time. The caller has locked the wallet, unless told.
 *  docs/decisions/0100-turns-at-a-wallet.md */

/** Who waits for this wallet. */
export const waitersFor = (tx: Queryable, network: string, address: string): Promise<Waiter[]> =>
  tx.query<Waiter[]>(
    `SELECT t.intent_id::text AS "intentId", i.owner_kind || '/' || i.owner_id AS owner,
            i.status <> 'planned' AS "isSigned", extract(epoch FROM now() - t.since)::float8 AS "waitedSeconds",
            extract(epoch FROM now() - t.ready_at)::float8 AS "readySeconds",
            extract(epoch FROM now() - t.passed_at)::float8 AS "passedSeconds"
       FROM wallet_turn t JOIN intent i ON i.id = t.intent_id
      WHERE i.network = $1 AND i.from_address = $2 AND i.status IN ('planned', 'stored', 'sent')`,
    [network, address],
  );

/** Notes that an intent waits for nothing but its wallet. While its owner has the wallet it does not wait: others that
 *  begin to wait meanwhile come first. */
export const noteReady = (tx: Queryable, intentId: string): Promise<unknown> =>
  tx.query(
    `INSERT INTO wallet_turn AS t (intent_id)
     SELECT i.id FROM intent i
      WHERE i.id = $1 AND NOT EXISTS (
        SELECT FROM attempt a JOIN intent o ON o.id = a.intent_id
         WHERE a.network = i.network AND a.from_address = i.from_address AND a.valid_from_height IS NOT NULL
           AND a.status IN ('stored', 'sent', 'mined') AND (a.status <> 'mined' OR a.differs_at IS NULL)
           AND o.owner_kind = i.owner_kind AND o.owner_id = i.owner_id)
     ON CONFLICT (intent_id) DO UPDATE SET ready_at = now()`,
    [intentId],
  );

/** Notes that an intent waits for something else: it holds nobody up, and keeps its place. Needs no lock. */
export const noteUnready = (db: Queryable, intentId: string): Promise<unknown> =>
  db.query('UPDATE wallet_turn SET ready_at = NULL WHERE intent_id = $1', [intentId]);

/** Notes that an intent had its turn and could not be signed: it holds nobody up for a while. Needs no lock. */
export const notePassed = (db: Queryable, intentId: string): Promise<unknown> =>
  db.query('UPDATE wallet_turn SET passed_at = now() WHERE intent_id = $1', [intentId]);

/** An intent has the wallet: whatever else of its owner waits for this wallet waits anew, and what has ended does not
 *  wait any more. */
export const endTurn = (
  tx: Queryable,
  { network, from_address: address, owner_kind: kind, owner_id: id }: IntentRow,
): Promise<unknown> =>
  tx.query(
    `DELETE FROM wallet_turn t USING intent i
      WHERE i.id = t.intent_id AND i.network = $1 AND i.from_address = $2
        AND ((i.owner_kind = $3 AND i.owner_id = $4) OR i.status NOT IN ('planned', 'stored', 'sent'))`,
    [network, address, kind, id],
  );
