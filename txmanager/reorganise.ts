import type { EntityManager } from 'typeorm';
import { reopenLegs } from '../commands/payouts/reopen';
import { reopenWithdrawals } from '../commands/withdrawals/reopen';
import { reopenRefunds } from '../commands/refunds/reopen';
import { finalAbove } from '../db/chains/attempts';
import { rewind } from '../db/chains/chain';
import type { Cursor } from '../db/chains/cursor';
import { conversionAt, tellConversion } from '../db/conversions/swaps';
import { reverse, unbook } from '../db/ledger/ledger';
import { depositsById, setHome } from '../db/payments/deposits';
import type { NetworkId } from '../domain/chains/assets';
import { feeChangeKey } from '../domain/ledger/ledger';

/** What the blocks above `ancestor` had brought is taken back: refunds, withdrawals and mass payouts are on their way again, deposits and
 *  transactions of ours stand as before, and own money and fees that had been booked are mirrored. */

export async function takeBack(tx: EntityManager, network: NetworkId, from: Cursor, ancestor: Cursor): Promise<void> {
  for (const mined of await finalAbove(tx, network, ancestor.height)) {
    await reverse(tx, feeChangeKey(mined));
    await unbook(tx, mined);
  }
  await reopenRefunds(tx, network, ancestor.height);
  await reopenWithdrawals(tx, network, ancestor.height);
  await reopenLegs(tx, network, ancestor.height);
  const capital = await rewind(tx, network, from, ancestor);
  for (const deposit of await depositsById(tx, capital)) {
    await reverse(tx, `capital/${network}/${deposit.tx_id}/${deposit.out_index}`);
    const conversion = await conversionAt(tx, network, deposit.address);
    if (conversion) await tellConversion(tx, conversion);
  }
  await setHome(tx, capital, null);
}
