import type { Currency } from '../../domain/chains/assets';
import { RpcError } from '../json-rpc';
import { readAccount, tokenBalance } from './accounts';
import { hexOf } from './address';
import { isDone, type BlockAnswer, type InfoAnswer } from './answers';
import { readNewest, readWithInfos, type Reading, type View } from './blocks';
import type { Ask } from './http';
import { assetIn, type TronChain } from './plan';
import { ownTransfer, tokenMoves } from './transfers';

/** Nodes know what an address holds after their newest block, and after the newest final one, and keep no state of
 *  earlier blocks. What the few blocks since then have changed is taken back. */

/** Blocks that are read for that at the most. */
const mostBlocks = 100;
/** How often a balance is asked for while new blocks come. */
const mostTries = 5;

export const holdingNow = async (
  ask: Ask,
  chain: TronChain,
  { address, currency, view }: Readonly<{ address: string; currency: Currency; view: View }>,
): Promise<bigint> => {
  const { contract } = assetIn(chain, currency);
  if (contract !== null) return tokenBalance(ask, contract, address, view);
  return (await readAccount(ask, address, view))?.balance ?? 0n;
};

type Made = Readonly<{ block: BlockAnswer; infos: readonly InfoAnswer[] }>;
type Holder = Readonly<{ address: string; currency: Currency }>;

/** By how much a block has changed a holding; null where it has a transaction of the address that is no transfer and
 *  no call, which none of ours is. TRX that contracts have sent count as there before: they credit nothing. */
function changeIn({ block, infos }: Made, { address, currency }: Holder, { native, tokens }: Reading): bigint | null {
  let change = 0n;
  if (currency !== native) {
    for (const move of infos.filter(isDone).flatMap((info) => tokenMoves(info, tokens))) {
      if (move.currency !== currency) continue;
      if (move.to === address) change += move.units;
      if (move.from === address) change -= move.units;
    }
    return change;
  }
  const results = new Map(infos.map((info) => [info.txId, info]));
  const own = hexOf(address);
  for (const tx of block.transactions) {
    const info = results.get(tx.txId)!;
    const moved = isDone(info) ? ownTransfer(tx, native) : [];
    for (const { to, units } of moved) if (to === address) change += units;
    if (tx.owner !== own) continue;
    if (tx.type !== 'TransferContract' && tx.type !== 'TriggerSmartContract') return null;
    change -= info.fee;
    for (const { units } of moved) change -= units;
  }
  return change;
}

const untold = (why: string): RpcError => new RpcError(0, why, 'A holding');

/** What an address held after the block of a height. Throws RpcError where the node does not know that any more, or
 *  not yet. */
export function holdingsOf(
  ask: Ask,
  chain: TronChain,
  reading: Reading,
): (address: string, currency: Currency, height: number) => Promise<bigint> {
  // Of one newest block alone: those below it are its ancestors.
  let read: Readonly<{ newest: string; blocks: Map<number, Promise<Made | null>> }> = { newest: '', blocks: new Map() };
  const blockBelow = (newest: BlockAnswer, height: number, view: View): Promise<Made | null> => {
    if (read.newest !== newest.id) read = { newest: newest.id, blocks: new Map() };
    const known = read.blocks.get(height) ?? readWithInfos(ask, height, view);
    read.blocks.set(height, known);
    known.catch(() => read.blocks.delete(height));
    return known;
  };
  async function takenBack(held: bigint, from: BlockAnswer, height: number, view: View, of: Holder): Promise<bigint> {
    let units = held;
    let below = from.id;
    for (let n = from.height; n > height; n -= 1) {
      const made = await blockBelow(from, n, view);
      if (made?.block.id !== below) throw untold(`Block ${n} was replaced while it was read`);
      const change = changeIn(made, of, reading);
      if (change === null) throw untold(`${of.address} has a transaction of another kind in block ${n}`);
      units -= change;
      below = made.block.parentId;
    }
    return units;
  }
  return async (address, currency, height) => {
    let newest = await readNewest(ask, 'walletsolidity');
    const view = height <= newest.height ? 'walletsolidity' : 'wallet';
    if (view === 'wallet') newest = await readNewest(ask, view);
    for (let tries = 0; tries < mostTries; tries += 1) {
      if (newest.height < height) throw untold(`The node is at ${newest.height}, and has no block ${height}`);
      if (newest.height - height > mostBlocks) throw untold(`The node has no state of block ${height} any more`);
      const held = await holdingNow(ask, chain, { address, currency, view });
      const after = await readNewest(ask, view);
      if (after.id === newest.id) return takenBack(held, newest, height, view, { address, currency });
      newest = after;
    }
    throw untold('Blocks come faster than the node answers');
  };
}
