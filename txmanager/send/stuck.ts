import { networks, type NetworkId } from '../../domain/chains/assets';
import { lowestOpenNonces, type AttemptRow } from '../../db/txmanager/intents';
import type { Sender } from './sender';

/** Whose price no longer gets it mined, and how many attempts it has. */
export type Stuck = Readonly<{ id: string; attempts: number }>;

/** Blocks without our transaction after which its price counts as too low. */
const stuckAfterBlocks = 10;

/** How long a transaction may be in no block before its price counts as too low. */
export const patienceMs = ({ adapter }: Sender): number =>
  stuckAfterBlocks * networks[adapter.network as NetworkId].blockSeconds * 1000;

/** Those of them that cannot be mined now, whatever they pay, with the earlier nonce of their wallet that is in no
 *  block. */
export async function openBefore(
  { db, adapter }: Sender,
  attempts: ReadonlyArray<Pick<AttemptRow, 'id' | 'nonce' | 'from_address'>>,
): Promise<ReadonlyMap<string, number>> {
  const inOrder = attempts.filter((attempt) => attempt.nonce !== null);
  if (!inOrder.length) return new Map();
  const wallets = inOrder.map((attempt) => attempt.from_address);
  const lowest = await lowestOpenNonces(db.manager, adapter.network, wallets);
  const behind = inOrder.filter((attempt) => (lowest.get(attempt.from_address) ?? attempt.nonce!) < attempt.nonce!);
  return new Map(behind.map((attempt) => [attempt.id, lowest.get(attempt.from_address)!]));
}

/** Did the chain go on without our transaction? A halted chain leaves nothing stuck. */
export async function hasMovedOn({ db }: Sender, attempt: Pick<AttemptRow, 'network' | 'sent_at'>): Promise<boolean> {
  const [row] = (await db.query(
    `SELECT count(*)::int AS blocks FROM chain_block WHERE network = $1 AND block_time > $2`,
    [attempt.network, attempt.sent_at],
  )) as Array<{ blocks: number }>;
  return (row?.blocks ?? 0) >= stuckAfterBlocks;
}
