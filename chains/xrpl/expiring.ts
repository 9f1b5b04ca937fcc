import type { ExpiringNode } from '../../domain/chains/chain';
import type { Ask } from './answers';
import { readHead } from './ledgers';
import { lookUp } from './sightings';

/** What the transaction manager asks of the XRP Ledger about transactions that expire. Every validated ledger is
 *  final. */
export const expiringNode = (ask: Ask): ExpiringNode => ({
  async finalBlock() {
    const { height, hash, time } = await readHead(ask);
    return { height, hash, time: time * 1000 };
  },
  async fateOf({ txId, window: { from, last } }) {
    if (!('height' in last)) throw new RangeError(`${txId} ends by a time, and the XRP Ledger ends by ledgers`);
    const sighting = await lookUp(ask, txId, { first: from, last: last.height });
    if (sighting.state === 'pending') return { state: 'open', reason: 'no validated ledger has it yet' };
    if (sighting.state === 'unknown') return { state: 'open', reason: sighting.reason };
    if (sighting.state === 'validated') {
      const { height, ledgerHash: blockHash, success, feeDrops: feeUnits } = sighting;
      return { state: 'mined', isFinal: true, success, feeUnits, height, blockHash };
    }
    const { height, hash, time } = sighting.through;
    const proof = { txId, from, through: { height, hash, time: time * 1000 }, finalHeight: sighting.headHeight };
    return { state: 'absent', proof };
  },
});
