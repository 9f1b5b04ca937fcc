import type { EntityManager } from 'typeorm';
import { assetOf, networks, type NetworkId } from '../../domain/chains/assets';
import { workOfTransfer } from '../../domain/chains/costs';
import { DomainError } from '../../domain/errors';
import { fit, toUnits } from '../../domain/money';
import type { GasWallet } from '../../domain/treasury/lanes';
import { spendableAt } from '../txmanager/intents';
import { blockedAfterSeconds, heldUpColumn, heldUpJoins, laneOf } from './lanes';

/** The gas wallets of an account chain, by index, with what each can spend beyond what is signed and planned.
 *  `toppedUp`: the address that gas is for. Throws UPSTREAM_UNAVAILABLE before the signer has registered its keys. */
export async function gasWallets(
  tx: EntityManager,
  network: NetworkId,
  toppedUp: string | null = null,
): Promise<GasWallet[]> {
  const { native } = networks[network];
  const rows = await tx.query<
    Array<Pick<GasWallet, 'address' | 'heldUp' | 'isOwn'> & { lane: string; planned: string }>
  >(
    `SELECT t.address, ${laneOf('t')} AS lane,
            ${heldUpColumn},
            EXISTS (SELECT FROM address l WHERE l.network = t.network AND l.address = $3 AND l.role = 'treasury'
                       AND l.branch = t.branch AND l.key_index = t.key_index AND ${laneOf('l')} IS NOT NULL) AS "isOwn",
            coalesce(p.planned, 0)::text AS planned
       FROM address t
       ${heldUpJoins('$1', '$2')}
       LEFT JOIN (
         SELECT i.from_address,
                sum((SELECT sum((o->>'units')::numeric) FROM jsonb_array_elements(i.outputs) o)
                    + i.max_unit_price * coalesce(i.gas_limit, $5::numeric)) AS planned
           FROM intent i WHERE i.network = $1 AND i.status = 'planned' AND i.currency = $4
          GROUP BY 1) p ON p.from_address = t.address
      WHERE t.network = $1 AND t.role = 'gas' AND ${laneOf('t')} IS NOT NULL ORDER BY t.key_index`,
    [network, blockedAfterSeconds(network), toppedUp, native, workOfTransfer(native).toString()],
  );
  if (!rows.length)
    throw new DomainError(
      'UPSTREAM_UNAVAILABLE',
      `No gas address on ${network}: the signer has not registered its keys`,
    );
  const { decimals } = assetOf(native);
  const found: GasWallet[] = [];
  for (const { planned, ...row } of rows) {
    const at = { network, address: row.address, currency: native, native };
    const { arrived, goneUnits } = await spendableAt(tx, at);
    const free = toUnits(fit(arrived, decimals, 'down'), decimals) - BigInt(goneUnits) - BigInt(fit(planned, 0, 'up'));
    found.push({ ...row, lane: row.lane as GasWallet['lane'], free });
  }
  return found;
}
