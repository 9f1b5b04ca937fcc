import type { Currency } from '../../domain/chains/assets';
import type { AskedTransfer, ChainNode, ExpiringNode } from '../../domain/chains/chain';
import type { NodeLogin } from '../node-http';
import { readPrices, type Prices } from './accounts';
import { chainCheck, readAt, readBlock, readNewest, seconds } from './blocks';
import { tronCodec, type TronCodec } from './codec';
import { costAtMost, costOf, type AskedTronTransfer, type CostAnswer } from './costs';
import { expiringNode } from './expiring';
import { fateOf, type Fate } from './fate';
import { holdingNow, holdingsOf } from './holdings';
import { tronHttp, type Ask } from './http';
import type { TronChain, TronPlan } from './plan';
import { lookUp, sourcesOf, verify } from './sightings';
import { broadcast } from './sending';
import { nativeOf, tokensOf } from './transfers';

/** What the family shares with the other families' nodes, and what it has instead of nonces, gas and past states. */
export type TronNode = Pick<
  ChainNode,
  'head' | 'finalHeight' | 'readBlock' | 'blockHash' | 'lookUp' | 'verify' | 'sources' | 'broadcast'
> &
  Readonly<{
    /** The newest final block's id and time (Unix milliseconds): what a plan refers to and counts its life from. */
    reference(): Promise<Readonly<{ reference: string; time: number }>>;
    /** What an address holds now, in final blocks or in all. */
    holding(address: string, currency: Currency, view: 'newest' | 'final'): Promise<bigint>;
    /** The same after a block of late. Throws RpcError where nobody can tell. */
    holdingAt(address: string, currency: Currency, height: number): Promise<bigint>;
    /** Id of the final block of a height; null where none of it is final. */
    finalHash(height: number): Promise<string | null>;
    /** `unfinal`: blocks that are not final yet. `isForked`: the view of all blocks has another one than the newest
     *  final block. The two may come from two machines. */
    views(): Promise<Readonly<{ unfinal: number; isForked: boolean }>>;
    /** `mostUnits`: what it may burn at the most. */
    costOf(transfer: AskedTronTransfer & Readonly<{ mostUnits?: bigint }>): Promise<CostAnswer>;
    /** What it burns where nothing is free or staked, or what must be brought for it, and by which prices. */
    costAtMost(
      transfer: AskedTronTransfer & Pick<AskedTransfer, 'topUp'>,
    ): Promise<Readonly<{ prices: Prices; answer: CostAnswer }>>;
    prices(): Promise<Prices>;
    expiring: ExpiringNode;
    fateOf(signed: Readonly<{ txId: string }> & Pick<TronPlan, 'reference' | 'expiresAt'>): Promise<Fate>;
  }>;

/** Paths of final blocks go to another port of a node of one's own: 8091 beside 8090. Solidity HTTP API,
 *  developers.tron.network. */
function asking(login: NodeLogin, solid: NodeLogin = login): Ask {
  const [full, final] = [tronHttp(login), tronHttp(solid)];
  return (path, body, shape) => (path.startsWith('/walletsolidity/') ? final : full)(path, body, shape);
}

/** A FullNode with its HTTP API. `solid`: where its view of final blocks is, if not at the same place. */
export function tronNode(
  chain: TronChain,
  { login, solid }: Readonly<{ login: NodeLogin; solid?: NodeLogin }>,
): TronCodec & TronNode {
  const ask = asking(login, solid);
  const codec = tronCodec(chain);
  const reading = { native: nativeOf(chain), tokens: tokensOf(chain) };
  const checkChain = chainCheck(ask, chain);
  return {
    ...codec,
    head: async () => {
      await checkChain();
      const { height, id, time } = await readNewest(ask, 'wallet');
      return { height, hash: id, time: seconds(time) };
    },
    finalHeight: async () => {
      await checkChain();
      return (await readNewest(ask, 'walletsolidity')).height;
    },
    reference: async () => {
      await checkChain();
      const { id, time } = await readNewest(ask, 'walletsolidity');
      return { reference: id, time };
    },
    readBlock: (height) => readBlock(ask, height, reading),
    blockHash: async (height) => (await readAt(ask, height))?.id ?? null,
    lookUp: (txId) => lookUp(ask, reading, txId),
    verify: (transfer, hash) => verify(ask, reading, transfer, hash),
    sources: (transfer) => sourcesOf(ask, transfer),
    holding: (address, currency, at) =>
      holdingNow(ask, chain, { address, currency, view: at === 'final' ? 'walletsolidity' : 'wallet' }),
    holdingAt: holdingsOf(ask, chain, reading),
    finalHash: async (height) => {
      const newest = await readNewest(ask, 'walletsolidity');
      return height > newest.height ? null : ((await readAt(ask, height, 'walletsolidity'))?.id ?? null);
    },
    views: async () => {
      const [head, final] = await Promise.all([readNewest(ask, 'wallet'), readNewest(ask, 'walletsolidity')]);
      const same = final.height > head.height ? null : await readAt(ask, final.height);
      return { unfinal: head.height - final.height, isForked: same !== null && same.id !== final.id };
    },
    costOf: (transfer) => costOf(ask, codec, chain, transfer),
    costAtMost: (transfer) => costAtMost(ask, codec, chain, transfer),
    prices: () => readPrices(ask),
    broadcast: (raw) => broadcast(ask, raw),
    fateOf: (signed) => fateOf(ask, signed),
    expiring: expiringNode(ask, checkChain),
  };
}
