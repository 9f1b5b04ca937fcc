import type { EntityManager } from 'typeorm';
import { recoveries } from '../../db/recovery/epoch';
import { unclaimedDeposits } from '../../db/recovery/unclaimed';

/** What operators read after a recovery: docs/operations/backup-and-restore.md. */
export async function recoveryReport(tx: EntityManager): Promise<string> {
  const begun = (await recoveries(tx)).map(
    ({ epoch, reason, begun_at: at, unwatched }) =>
      `epoch ${epoch}  ${at.toISOString()}  ${reason}${unwatched ? `; ${unwatched} addresses not watched yet` : ''}`,
  );
  const unclaimed = (await unclaimedDeposits(tx)).map(
    ({ network, address, amount, currency, tx_id: txId }) => `${network}  ${address}  ${amount} ${currency}  ${txId}`,
  );
  return [
    'Recoveries',
    ...(begun.length ? begun : ['none']),
    '',
    'Unclaimed, on addresses that a recovery has forgotten',
    ...(unclaimed.length ? unclaimed : ['nothing']),
  ].join('\n');
}
