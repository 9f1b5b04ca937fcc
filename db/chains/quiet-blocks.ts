import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../../domain/chains/assets';
import type { Block } from '../../domain/chains/chain';
import { failPoint } from '../fail-point';
import { CursorLost, moveCursor, type Cursor } from './cursor';
import { rememberBlocks } from './remembered';

/** Quiet blocks do not concern us: `applyBlock` and `noteTraces` would write nothing for them but the place where the
 *  follower stands. One transaction passes many, with the same few statements however many they are. */

/** Which of the passed blocks are remembered. `allAbove`: every one above this height is. */
export type Memory = Readonly<{ allAbove: number; reorgWindow: number }>;

/** Passes the blocks before the first one that concerns us, in the caller's transaction. Returns the heights of the
 *  blocks that concern us, as far as the rows tell before the first of them is taken. Must be called after all of them
 *  were read: every address that a payer knew by then is in the database. Throws CursorLost. */
export async function passQuietBlocks(
  tx: EntityManager,
  network: NetworkId,
  from: Cursor,
  blocks: readonly Block[],
  { allAbove, reorgWindow }: Memory,
): Promise<ReadonlySet<number>> {
  const isOff = await lockCursor(tx, network, from);
  const concerning = new Set(await concerningUs(tx, network, blocks));
  for (const { height, traces } of blocks) if (traces?.state === 'failed') concerning.add(height);
  const turned = blocks.find(({ traces }) => traces?.state === (isOff ? 'read' : 'off'));
  if (turned) concerning.add(turned.height);
  const first = blocks.findIndex(({ height }) => concerning.has(height));
  const quiet = first < 0 ? blocks : blocks.slice(0, first);
  const last = quiet.at(-1);
  if (!last) return concerning;
  await moveCursor(tx, network, from, { height: last.height, hash: last.hash });
  await rememberBlocks(tx, network, worthRemembering(quiet, allAbove), reorgWindow);
  await failPoint('follower.beforeCommit');
  return concerning;
}

/** Locks the cursor until the end of the transaction. Returns whether the traces of the network are off. */
async function lockCursor(tx: EntityManager, network: NetworkId, { height, hash }: Cursor): Promise<boolean> {
  const [row] = await tx.query<Array<{ isOff: boolean }>>(
    `SELECT traces_off_since IS NOT NULL AS "isOff" FROM chain_cursor
      WHERE network = $1 AND height = $2 AND hash = $3 FOR UPDATE`,
    [network, height, hash],
  );
  if (!row) throw new CursorLost(`The cursor of ${network} is no longer at ${height}`);
  return row.isOff;
}

/** Heights of the blocks that pay an address of ours, hold a transaction of ours, or spend a coin that a deposit is or
 *  spends. */
async function concerningUs(tx: EntityManager, network: NetworkId, blocks: readonly Block[]): Promise<number[]> {
  const receivers = new Set(blocks.flatMap(({ transfers }) => transfers.filter(isPaying).map(({ to }) => to)));
  const txIds = blocks.flatMap((block) => block.txIds);
  const spent = blocks.flatMap((block) => [...block.spent.keys()]);
  if (!receivers.size && !txIds.length && !spent.length) return [];
  const rows = await tx.query<Array<{ kind: 'receiver' | 'sent' | 'coin'; name: string }>>(
    `SELECT 'receiver' AS kind, address AS name FROM address
      WHERE network = $1 AND address = ANY($2::text[]) AND tag = ''
     UNION ALL SELECT 'sent', tx_id FROM attempt WHERE network = $1 AND tx_id = ANY($3::text[])
     UNION ALL SELECT 'coin', tx_id || ':' || out_index FROM deposit WHERE network = $1 AND tx_id = ANY($4::text[])
     UNION ALL SELECT 'coin', i.coin FROM deposit d, unnest(d.inputs) AS i (coin)
      WHERE d.network = $1 AND d.status IN ('pool', 'orphaned') AND d.inputs && $5::text[]`,
    [network, [...receivers], txIds, [...new Set(spent.map(transactionOf))], spent],
  );
  const named = (kind: string): ReadonlySet<string> =>
    new Set(rows.filter((row) => row.kind === kind).map(({ name }) => name));
  const [ours, sent, coins] = [named('receiver'), named('sent'), named('coin')];
  return blocks
    .filter(
      (block) =>
        block.transfers.some((transfer) => isPaying(transfer) && ours.has(transfer.to)) ||
        block.txIds.some((txId) => sent.has(txId)) ||
        (coins.size && [...block.spent.keys()].some((outpoint) => coins.has(outpoint))),
    )
    .map(({ height }) => height);
}

const isPaying = ({ units }: Block['transfers'][number]): boolean => units > 0n;
const transactionOf = (outpoint: string): string => outpoint.slice(0, outpoint.lastIndexOf(':'));

/** Beside those above a height: the last one, before it fewer and fewer, and all without traces, because balances are
 *  looked at there. */
function worthRemembering(blocks: readonly Block[], allAbove: number): Block[] {
  return blocks.filter(({ height, traces }, index) => {
    const distance = blocks.length - 1 - index;
    return height > allAbove || !distance || Number.isInteger(Math.log2(distance)) || traces?.state === 'off';
  });
}
