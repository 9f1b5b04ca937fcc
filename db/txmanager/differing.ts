import type { EntityManager } from 'typeorm';
import type { Destination } from '../../domain/chains/tags';
import type { ChainAccount } from '../../domain/ledger/lost';
import { correctionsOf, type Decision, type Moved } from '../../domain/txmanager/differing';
import type { Kind } from '../../domain/txmanager/kinds';
import { sourcesOf } from '../../domain/txmanager/outcome';
import { ownAddresses } from './sign-facts';

/** Transfers of ours that moved something else than was signed. */

type Part = Readonly<{ address: string; units: string }>;

/** One in a final block. `accounts`: of a batch, what each account was to give. `isFromDeposits`, `paysMerchant`: as
 *  `Undecided` has them. */
export type DifferingTransfer = Readonly<{
  attemptId: string;
  intentId: string;
  kind: Kind;
  ref: string;
  merchantId: string | null;
  network: string;
  currency: string;
  from: string;
  outputs: ReadonlyArray<Destination & { units: string }>;
  accounts: readonly Part[];
  txId: string;
  blockHash: string;
  moves: readonly Moved[];
  decision: Decision | null;
  isFromDeposits: boolean;
  paysMerchant: boolean;
}>;

/** That of an intent, locked; null where it has none in a final block that is not at its end. */
export async function lockDiffering(tx: EntityManager, intentId: string): Promise<DifferingTransfer | null> {
  const [row] = await tx.query<
    Array<Omit<DifferingTransfer, 'blockHash' | 'moves'> & { blockHash: string | null; moves: Moved[] | null }>
  >(
    `SELECT a.id::text AS "attemptId", i.id::text AS "intentId", i.kind, i.ref, i.merchant_id AS "merchantId",
            i.network, i.currency, a.from_address AS "from", a.outputs, a.tx_id AS "txId",
            a.block_hash AS "blockHash", a.moves, a.decision,
            coalesce((SELECT jsonb_agg(jsonb_build_object('address', c.address, 'units', c.units::text))
                        FROM attempt_account c WHERE c.attempt_id = a.id), '[]') AS accounts,
            EXISTS (SELECT FROM refund r WHERE r.id = i.ref AND r.source = 'deposit') AS "isFromDeposits",
            EXISTS (
              SELECT FROM payment p WHERE p.custody = 'external' AND p.settlement_address = i.outputs->0->>'address'
                 AND p.id IN (SELECT i.payment_id UNION ALL
                   SELECT s.payment_id FROM sweep_share s WHERE s.intent_id = i.id AND s.dropped_at IS NULL))
              AS "paysMerchant"
       FROM attempt a JOIN intent i ON i.id = a.intent_id
      WHERE a.intent_id = $1 AND a.status = 'mined' AND a.differs_at IS NOT NULL
        FOR UPDATE OF a`,
    [intentId],
  );
  if (!row?.moves || row.blockHash === null) return null;
  return { ...row, moves: row.moves, blockHash: row.blockHash };
}

/** Two operators have said what it has paid: the follower ends it with its next look. A trigger refuses it without two
 *  confirmations of the request. */
export const keepDecision = (
  tx: EntityManager,
  attemptId: string,
  by: Readonly<{ decision: Decision; requestId: string }>,
): Promise<unknown> =>
  tx.query('UPDATE attempt SET decision = $2, decided_by = $3 WHERE id = $1', [attemptId, by.decision, by.requestId]);

/** What the books must say beside the usual journals of this decision, by account of our own addresses. */
export async function correctionsFor(
  tx: EntityManager,
  {
    network,
    from,
    outputs,
    accounts,
    moves,
  }: Pick<DifferingTransfer, 'network' | 'from' | 'outputs' | 'accounts' | 'moves'>,
  decision: Decision,
): Promise<ReadonlyMap<ChainAccount, bigint>> {
  const given = sourcesOf({ from, outputs, accounts });
  const sources = new Set(given.map(({ address }) => address));
  const places = await ownAddresses(tx, network, [
    ...new Set([...sources, ...moves.map(({ to }) => to), ...outputs.map(({ address }) => address)]),
  ]);
  const accountOf = new Map<string, ChainAccount>(places.map(({ address, role }) => [address, `A:${role}`]));
  return correctionsOf(
    { decision, moves, given, gotten: outputs },
    // Of an address that a recovery has forgotten.
    (address) => accountOf.get(address) ?? (sources.has(address) ? 'A:deposit' : null),
  );
}
