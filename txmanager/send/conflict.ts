import type { AttemptRow, IntentRow } from '../../db/txmanager/intents';
import type { Sender } from './sender';
import { freezeWallet } from '../../db/txmanager/frozen-wallets';

/** Blocks between the two looks that prove that nothing of ours is on a nonce or an input. */
const secondLookBlocks = 3;

/** Every attempt of ours that spends the same nonce or one of the same inputs. */
const rivalsOf = ({ db }: Sender, attempt: AttemptRow): Promise<AttemptRow[]> =>
  db.query<AttemptRow[]>(
    `SELECT * FROM attempt WHERE network = $1 AND (($2::int IS NOT NULL AND from_address = $3 AND nonce = $2)
        OR inputs && $4::text[]) ORDER BY id`,
    [attempt.network, attempt.nonce, attempt.from_address, attempt.inputs],
  ) as Promise<AttemptRow[]>;

async function scannedHeight({ db, adapter }: Sender): Promise<number> {
  const [row] = (await db.query('SELECT height::int AS height FROM chain_cursor WHERE network = $1', [
    adapter.network,
  ])) as Array<{ height: number }>;
  return row?.height ?? 0;
}

export async function freeze({ db }: Sender, intent: IntentRow, reason: string): Promise<void> {
  const wallet = { network: intent.network, address: intent.from_address };
  await db.transaction((tx) => freezeWallet(tx, wallet, { intentId: intent.id, reason }));
}

/** The node refused the bytes. One of ours mined or in the pool is followed; nothing of ours, twice, three blocks
 *  apart, means that somebody else used the nonce or the coins: the wallet is frozen and never signs for it again. */
export async function resolveConflict(
  sender: Sender,
  intent: IntentRow,
  attempt: AttemptRow,
  reason: string,
): Promise<'waiting' | 'frozen'> {
  const { db, adapter } = sender;
  for (const rival of await rivalsOf(sender, attempt)) {
    const sighting = await adapter.lookUp(rival.tx_id);
    if (sighting.state !== 'unknown') {
      await db.query('UPDATE attempt SET missing_at_height = NULL WHERE id = $1', [attempt.id]);
      return 'waiting';
    }
  }
  const height = await scannedHeight(sender);
  const firstMissed = attempt.missing_at_height === null ? null : parseInt(attempt.missing_at_height, 10);
  if (firstMissed === null) {
    await db.query('UPDATE attempt SET missing_at_height = $2 WHERE id = $1', [attempt.id, height]);
    return 'waiting';
  }
  if (height < firstMissed + secondLookBlocks) return 'waiting';
  await freeze(sender, intent, `None of our transactions holds its nonce or inputs: ${reason}`);
  return 'frozen';
}
