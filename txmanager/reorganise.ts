import type { EntityManager } from 'typeorm';
import { finalAbove, type FinalAttempt } from '../db/chains/attempts';
import { rewind } from '../db/chains/rewind';
import type { Cursor } from '../db/chains/cursor';
import { notifyConversion } from '../db/conversions/conversions';
import { conversionAt } from '../db/conversions/swaps';
import { reverse } from '../db/ledger/ledger';
import { depositsById, setAllocation } from '../db/payments/deposits';
import { releaseOrphaned } from '../db/recovery/unclaimed';
import type { NetworkId } from '../domain/chains/assets';
import { differingKey } from '../domain/ledger/differing';
import { feeChangeKey } from '../domain/ledger/ledger';
import { outgoingKinds } from './kinds';

/** Takes back what the blocks above `ancestor` had brought: outgoing money is on its way again, deposits and
 *  transactions of ours are as before, and own money and fees that had been booked are reversed. */
export async function rollBack(tx: EntityManager, network: NetworkId, from: Cursor, ancestor: Cursor): Promise<void> {
  for (const mined of await finalAbove(tx, network, ancestor.height)) {
    await reverse(tx, feeChangeKey(mined));
    if (mined.decision !== null) await reverse(tx, differingKey({ ...mined, decision: mined.decision }));
    await unbook(tx, mined);
  }
  for (const { reopen } of outgoingKinds) await reopen?.(tx, network, ancestor.height);
  const capital = await rewind(tx, network, from, ancestor);
  for (const deposit of await depositsById(tx, capital)) {
    await reverse(tx, `capital/${network}/${deposit.tx_id}/${deposit.out_index}`);
    const conversion = await conversionAt(tx, network, deposit.address);
    if (conversion) await notifyConversion(tx, conversion);
  }
  await setAllocation(tx, capital, null);
  await releaseOrphaned(tx, network);
}

/** Takes back what the transaction had booked of its own: the chain has it no more. */
async function unbook(tx: EntityManager, mined: FinalAttempt): Promise<void> {
  if (!mined.booked) return;
  if (mined.success) await outgoingKinds.find(({ kind }) => kind === mined.kind)?.unbook?.(tx, mined);
  else await reverse(tx, `fee/${mined.txId}`);
}
