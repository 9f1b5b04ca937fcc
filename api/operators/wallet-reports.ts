import type { DataSource } from 'typeorm';
import { networks } from '../../domain/chains/assets';
import type { TreasuryLine } from '../../db/treasury/treasury';
import { lanesOf } from '../../db/txmanager/blockers';

/** What a shell prints of our own wallets. */

const roleText = (role: string, lane: string | null): string => {
  const name = role === 'treasury' && lane !== null ? 'lane' : role;
  return lane === 'dropped' ? `dropped ${name}` : name;
};

export async function laneList(db: DataSource): Promise<string> {
  const accountChains = Object.values(networks).flatMap(({ id, kind }) => (kind === 'account' ? [id] : []));
  const lanes = await lanesOf(db, accountChains);
  const text = lanes.map((lane) => {
    const what = `${roleText(lane.role, lane.lane)}${lane.lane === null ? '' : ` ${lane.keyIndex}`}`;
    const name = `${lane.network}  ${what}  ${lane.address}  next nonce ${lane.nextNonce}`;
    const frozen = lane.frozenReason === null ? '' : `\n  frozen: ${lane.frozenReason}`;
    const others =
      lane.role === 'gas' ? 'gas is bought by the other gas wallets' : 'payments are planned from the other lanes';
    const blocked = lane.isBlocked ? `\n  blocked: ${others}` : '';
    if (lane.intentId === null) return `${name}${frozen}`;
    return (
      `${name}${frozen}${blocked}` +
      `\n  ${lane.nonce === null ? 'what expires' : `nonce ${lane.nonce}`} is in no block: intent ${lane.intentId}, ` +
      `${lane.kind} ${lane.ref}, ` +
      `${lane.txId}, price ${lane.unitPrice} of ${lane.maxUnitPrice}, signed ${lane.signedAt?.toISOString()}` +
      `${lane.isReplaced ? ', is being replaced' : ''}; ${lane.behind} behind it`
    );
  });
  return text.join('\n') || 'No wallet of ours has sent anything';
}

const amounts = (some: Readonly<Record<string, string>>): string =>
  Object.entries(some)
    .map(([name, amount]) => `${name} ${amount}`)
    .join('  ') || 'nothing';
export const wordsOf = (line: TreasuryLine): string =>
  [
    line.currency,
    `  ledger   ${amounts(line.accounts)}`,
    `  owed     ${amounts(line.owed)}`,
    `  surplus  ${line.surplus}`,
    ...line.addresses.map(
      ({ address, role, lane, free, taken }) =>
        `  ${roleText(role, lane)}  ${address}  free ${free}${taken === '0' ? '' : `, taken ${taken}`}`,
    ),
  ].join('\n');
