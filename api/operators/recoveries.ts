import type { EntityManager } from 'typeorm';
import { recoveries } from '../../db/recovery/epoch';
import { lostSignatures } from '../../db/recovery/lost';
import { unclaimedDeposits } from '../../db/recovery/unclaimed';

const fates = {
  taken: 'its row has taken it over',
  waits: 'its row takes it over',
  ownerless: 'nobody knows what it was for: it is booked as a loss, as far as it left',
} as const;

/** What operators read after a recovery: docs/operations/backup-and-restore.md. */
export async function recoveryReport(tx: EntityManager): Promise<string> {
  const begun = (await recoveries(tx)).map(
    ({ epoch, reason, begun_at: at, unwatched }) =>
      `epoch ${epoch}  ${at.toISOString()}  ${reason}${unwatched ? `; ${unwatched} addresses not watched yet` : ''}`,
  );
  const unclaimed = (await unclaimedDeposits(tx)).map(
    ({ network, address, amount, currency, tx_id: txId }) => `${network}  ${address}  ${amount} ${currency}  ${txId}`,
  );
  const lost = (await lostSignatures(tx)).map(
    ({ ref, network, status, currency, outputs, tx_id: txId, was }) =>
      `${ref}  ${status} on ${network}  ${currency} ${outputs}  ${txId}; ${fates[was]}`,
  );
  return [
    'Recoveries',
    ...(begun.length ? begun : ['none']),
    '',
    'Signed in the time that a recovery has lost',
    ...(lost.length ? lost : ['nothing']),
    '',
    'Unclaimed, on addresses that a recovery has forgotten',
    ...(unclaimed.length ? unclaimed : ['nothing']),
  ].join('\n');
}
