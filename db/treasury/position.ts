import type { EntityManager } from 'typeorm';
import { assetOf, assetsOn, networks, type NetworkId } from '../../domain/chains/assets';
import { gasFor } from '../../domain/chains/costs';
import { DomainError } from '../../domain/errors';
import { fromUnits } from '../../domain/money';
import { gasFloat } from '../../domain/treasury/treasury';
import { wholeUnitPrice } from '../chains/fees';
import { freeSql } from '../conversions/conversions';
import { lanesOf, type Lane } from '../txmanager/blockers';
import { holdings, owedByAsset, type Holding } from './treasury';

/** What the treasury holds against what is owed, from totals that are kept: nothing here reads the whole ledger. */

/** The newest comparison of an asset's books with its chain, at a final block. */
type Compared = Readonly<{ at: Date; height: string; ledger: string; chain: string; unexplained: string }>;

/** `treasury`: on addresses of our own, as it is booked. `owed`: by what it is owed for. `free`: what converting may
 *  give; nothing of a frozen asset. */
export type AssetPosition = Readonly<{
  currency: string;
  treasury: string;
  owedInAll: string;
  owed: Readonly<Record<string, string>>;
  free: string;
  compared: Compared | null;
  addresses: readonly Holding[];
}>;

export async function assetPositions(tx: EntityManager, on: readonly NetworkId[]): Promise<AssetPosition[]> {
  const currencies = assetsOn(on).map(({ currency }) => currency);
  const held = await tx.query<Array<{ asset: string; treasury: string; owed: string; free: string }>>(
    `SELECT asset, trim_scale(treasury::numeric)::text AS treasury, trim_scale(owed::numeric)::text AS owed,
            trim_scale(free::numeric)::text AS free FROM (${freeSql}) held`,
    [currencies],
  );
  const compared = await tx.query<Array<Compared & { currency: string }>>(
    `SELECT currency, at, height::text AS height, trim_scale(ledger)::text AS ledger, trim_scale(chain)::text AS chain,
            trim_scale(unexplained)::text AS unexplained FROM reconciliation WHERE currency = ANY($1)`,
    [currencies],
  );
  const owed = await owedByAsset(tx);
  const positions: AssetPosition[] = [];
  for (const { asset: currency, treasury, owed: owedInAll, free } of held)
    positions.push({
      currency,
      treasury,
      owedInAll,
      owed: owed(currency),
      free,
      compared: compared.find((one) => one.currency === currency) ?? null,
      addresses: await holdings(tx, currency),
    });
  return positions;
}

/** A hot wallet or a gas wallet, with its native coins. `gasWanted`: what a gas wallet should have at the price of now;
 *  null where it pays for no tokens, or no price is fresh. */
export type HotWallet = Lane & Readonly<{ native: string; balance: string; gasWanted: string | null }>;

/** Hot wallets of account chains. `positions`: of the same networks. */
export async function hotWallets(
  tx: EntityManager,
  on: readonly NetworkId[],
  positions: readonly AssetPosition[],
): Promise<HotWallet[]> {
  const accountChains = on.filter((id) => networks[id].kind === 'account');
  const wanted = new Map<string, string | null>();
  for (const network of accountChains) wanted.set(network, await gasWanted(tx, network));
  return (await lanesOf(tx, accountChains)).map((lane) => {
    const { native } = networks[lane.network as NetworkId];
    const of = positions.find(({ currency }) => currency === native);
    const here = of?.addresses.find(({ address, role }) => address === lane.address && role === lane.role);
    return {
      ...lane,
      native,
      balance: here?.held ?? '0',
      gasWanted: lane.role === 'gas' ? (wanted.get(lane.network) ?? null) : null,
    };
  });
}

async function gasWanted(tx: EntityManager, id: NetworkId): Promise<string | null> {
  const network = networks[id];
  const hasTokens = assetsOn([id]).some(({ contract }) => contract !== null);
  if (network.kind !== 'account' || !hasTokens) return null;
  const price = await wholeUnitPrice(tx, id).catch((error: unknown) => {
    if (error instanceof DomainError) return null;
    throw error;
  });
  return price === null
    ? null
    : fromUnits(BigInt(gasFor(network, price, gasFloat).units), assetOf(network.native).decimals);
}
