import type { DataSource, EntityManager } from 'typeorm';
import {
  assetOf,
  assets,
  networks,
  type AccountNetwork,
  type NetworkId,
  type UtxoNetwork,
} from '../../domain/chains/assets';
import { gasFor, sweepWork } from '../../domain/chains/costs';
import type { Config } from '../../domain/config';
import { newId } from '../../domain/ids';
import { limitsFor } from '../../domain/txmanager/fee-limits';
import { fromUnits } from '../../domain/money';
import { coinsToJoin, coinsToMove, gasFloat } from '../../domain/treasury/treasury';
import { lockCoinsFor, planIntent } from '../../db/txmanager/intents';
import { gasWallets } from '../../db/treasury/gas';
import { isFreshFee, wholeUnitPrice } from '../../db/chains/fees';
import { freeCoins, lockTreasury, mergeHeld } from '../../db/treasury/treasury';
import {
  openIncidentAgain,
  resolveCaps,
  resolveIncident,
  resolveNewDestinations,
  resolveOverdue,
  resolveRefusals,
  resolveUnseen,
} from '../../db/incidents';
import { noteOverdue } from '../../db/lightning/overdue';
import { fillLanes } from '../../txmanager/float';
import { requestConsolidation } from '../../txmanager/kinds/consolidation';
import { resolveShortfalls } from '../../txmanager/shortfalls';

/** Keeps the treasury able to pay. */
export const treasuryMaintenanceActivities = ({
  db,
  config,
}: Readonly<{ db: DataSource; config: Pick<Config, 'networks'> }>) => ({
  /** One look at each network that is on, that our keys are registered on and whose price is known. Safe to repeat. */
  async maintainTreasury(): Promise<void> {
    for (const network of config.networks.map((id) => networks[id])) {
      await watchPrice(db, network.id);
      const [ready] = (await db.query(
        `SELECT FROM network_fee f JOIN address a ON a.network = f.network AND a.role = 'treasury' AND a.key_index = 0
          WHERE f.network = $1 AND ${isFreshFee('f')}`,
        [network.id],
      )) as unknown[];
      if (!ready) continue;
      if (network.kind === 'utxo') await db.transaction((tx) => joinCoins(tx, network));
      else {
        await db.transaction((tx) => watchGas(tx, network));
        await db.transaction((tx) => fillLanes(tx, network));
      }
    }
    await db.transaction(resolveShortfalls);
    await db.transaction(resolveRefusals);
    await db.transaction(resolveUnseen);
    await db.transaction(resolveCaps);
    await db.transaction(resolveNewDestinations);
    await db.transaction(noteOverdue);
    await db.transaction(resolveOverdue);
    await mergeHeld(db);
  },
});

/** Once the last estimate is too old nothing is quoted and nothing is signed: says so. */
async function watchPrice(db: DataSource, network: NetworkId): Promise<void> {
  const [fee] = (await db.query(
    `SELECT f.unit_price::text AS price, f.taken_at AS "takenAt", ${isFreshFee('f')} AS "isFresh"
       FROM network_fee f WHERE f.network = $1`,
    [network],
  )) as Array<{ price: string; takenAt: Date; isFresh: boolean }>;
  // Before the first one nothing has begun.
  if (!fee) return;
  const details = { network, lastUnitPrice: fee.price, lastTakenAt: fee.takenAt };
  const incident = { kind: 'fee-estimate-missing', subject: { kind: 'network', id: network }, details } as const;
  await (fee.isFresh ? resolveIncident(db, incident) : openIncidentAgain(db, incident));
}

/** Coins of an earlier seed move to the newest, and small coins become one while fees are low; one transaction at a
 *  time. */
async function joinCoins(tx: EntityManager, network: UtxoNetwork): Promise<void> {
  const hot = await lockTreasury(tx, network.id);
  const price = BigInt(await wholeUnitPrice(tx, network.id));
  const open = await tx.query<unknown[]>(
    `SELECT FROM intent WHERE network = $1 AND kind = 'consolidate' AND NOT booked AND status <> 'dead' LIMIT 1`,
    [network.id],
  );
  if (open.length) return;
  const earlier = coinsToMove(await freeCoins(tx, network.id, { ofEarlier: true }), price, network);
  const small = { below: network.joining.smallCoin };
  const coins = earlier.length ? earlier : coinsToJoin(await freeCoins(tx, network.id, small), price, network);
  if (!coins.length) return;
  const ref = newId();
  const depositIds = coins.map((coin) => coin.id);
  const { maxPrice } = network.joining;
  const limits = limitsFor(
    ((price > maxPrice ? price : maxPrice) * 2n).toString(),
    sweepWork(network.native, coins.length),
  );
  const id = await planIntent(tx, {
    kind: 'consolidate',
    ref,
    network: network.id,
    currency: network.native,
    from_address: hot,
    outputs: [{ address: hot, units: null }],
    deposit_ids: depositIds,
    max_unit_price: limits.maxUnitPrice,
    fee_budget: limits.feeBudget,
    payment_id: null,
    merchant_id: null,
    owner_kind: 'consolidate',
    owner_id: ref,
  });
  await lockCoinsFor(tx, { id: id!, deposit_ids: depositIds });
  await requestConsolidation(tx, ref, network.native);
}

/** Tokens cannot move without gas: says of each gas wallet that it runs low, before there is none. */
async function watchGas(tx: EntityManager, network: AccountNetwork): Promise<void> {
  if (!assets.some((asset) => asset.network === network.id && asset.contract !== null)) return;
  const { decimals } = assetOf(network.native);
  const wanted = BigInt(gasFor(network, await wholeUnitPrice(tx, network.id), gasFloat).units);
  for (const { address, free, lane } of await gasWallets(tx, network.id)) {
    const incident = {
      kind: 'gas-float-low',
      subject: { kind: 'network', id: network.id },
      distinction: address,
      details: { address, free: fromUnits(free, decimals), wanted: fromUnits(wanted, decimals) },
    } as const;
    await (lane === 'used' && free < wanted ? openIncidentAgain(tx, incident) : resolveIncident(tx, incident));
  }
}
