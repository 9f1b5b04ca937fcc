import type { ExpiringNode } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { isDone } from './answers';
import { readAt, readNewest } from './blocks';
import { fateOf } from './fate';
import type { Ask } from './http';
import { heightIn } from './plan';
import { readInfo } from './sightings';

/** What the transaction manager asks of TRON about transactions that expire. */
export const expiringNode = (ask: Ask, checkChain: () => Promise<void>): ExpiringNode => ({
  async finalBlock() {
    await checkChain();
    const { height, id, time } = await readNewest(ask, 'walletsolidity');
    return { height, hash: id, time };
  },
  async fateOf({ txId, window: { from, last }, signedOn }) {
    if (!('time' in last)) throw new RangeError(`${txId} ends by a height, and TRON ends by a time`);
    if (heightIn(signedOn) !== from) throw new RangeError(`${txId} is signed on block ${signedOn}, not on ${from}`);
    const fate = await fateOf(ask, { txId, reference: signedOn, expiresAt: last.time });
    if (fate.state === 'open') return fate;
    const { height, blockHash } = fate;
    const lost = (what: string): DomainError =>
      new DomainError('NODE_UNREACHABLE', `The node lacks ${what}, which it has just told of`);
    if (fate.state === 'mined') {
      const info = await readInfo(ask, txId, 'walletsolidity');
      if (info?.height !== height) throw lost(`the result of ${txId}`);
      return { state: 'mined', isFinal: true, success: isDone(info), feeUnits: info.fee, height, blockHash };
    }
    const [block, solid] = await Promise.all([
      readAt(ask, height, 'walletsolidity'),
      readNewest(ask, 'walletsolidity'),
    ]);
    if (block?.id !== blockHash) throw lost(`block ${blockHash}`);
    const through = { height, hash: blockHash, time: block.time };
    // Before the height that it was signed on no block can have it.
    const proof = { txId, from: Math.min(from, height), through, finalHeight: solid.height };
    return { state: 'absent', proof, ...(fate.isOffChain ? { isOffChain: true } : {}) };
  },
});
