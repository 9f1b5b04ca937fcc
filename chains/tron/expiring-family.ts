import type { ExpiringFamily, ExpiringPlan, ExpiringTransfer, TermsAnswer } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { tronCodec } from './codec';
import type { AskedTronTransfer, CostAnswer } from './costs';
import type { TronNode } from './node';
import type { TronChain, TronPlan } from './plan';
import { readTransaction } from './read-back';

/** What TRON brings to the signer. docs/decisions/0060-signing-what-expires.md */

/** Milliseconds that a transaction lives, from the time of the newest final block, which is a minute old. Its proof of
 *  absence reads every block of it. */
const lifeMs = 600_000;
/** So much of it must be left by the time of the newest block: a block refuses what has expired, and a signature that
 *  no block can take any more only holds its wallet up. */
const leastLifeMs = 120_000;

const mismatch = (reason: string): DomainError => new DomainError('INTENT_MISMATCH', `Transfer on TRON: ${reason}`);

function tronPlanOf({ from, key, currency, to, tag, units, on, last, sequence, feeLimit }: ExpiringPlan): TronPlan {
  if (tag !== undefined) throw mismatch('nothing carries a destination tag');
  if (sequence !== null) throw mismatch('accounts have no sequence');
  if (!('time' in last)) throw mismatch('it ends by a height');
  return {
    ...{ from, key, currency, to, units, feeLimit },
    reference: on.hash,
    // The chain's time, and never ours: the same plan gives the same bytes.
    timestamp: on.time,
    expiresAt: last.time,
  };
}

/** The least amount that takes as many bytes as this one: seven bits each. */
const leastOfLength = (units: bigint): bigint => 1n << BigInt(7 * Math.ceil(units.toString(2).length / 7) - 7);

/** What a transfer of all that is left takes: what is left after its fee has as many bytes, or fewer. An address that
 *  holds hardly more than the least amount of that length waits until its free bandwidth is back. */
async function costOfAll(node: Terms, { units, ...transfer }: AskedTronTransfer): Promise<CostAnswer> {
  if (units <= 0n) return { state: 'short', reason: `nothing is left on ${transfer.from}` };
  const answer = await node.costOf({ ...transfer, units: leastOfLength(units) });
  if (answer.state !== 'done' || units > answer.cost.most) return answer;
  return { state: 'short', reason: `a fee of ${answer.cost.most} sun leaves nothing of the ${units} that are left` };
}

/** Counted from the newest final block, so that any node proves it void by the same blocks; and nothing is signed while
 *  final blocks lag so far that hardly any of its life is left. */
async function termsOf(node: Terms, { isAll, ...asked }: ExpiringTransfer): Promise<TermsAnswer> {
  const { from, to, currency, units, mostUnits: cap } = asked;
  const most = cap === undefined ? {} : { mostUnits: cap };
  const answer = await (isAll
    ? costOfAll(node, { from, to, currency, units })
    : node.costOf({ from, to, currency, units, ...most }));
  if (answer.state === 'short' || answer.state === 'unclear') return { state: answer.state, reason: answer.reason };
  if (answer.state !== 'done') return { state: 'fails', reason: answer.reason };
  const on = await node.expiring.finalBlock();
  const behind = (await node.head()).time - Math.floor(on.time / 1000);
  if (behind * 1000 > lifeMs - leastLifeMs)
    return { state: 'unclear', reason: `final blocks are ${behind} seconds behind the newest one` };
  const { feeLimit, most: mostUnits } = answer.cost;
  return { state: 'done', terms: { on, last: { time: on.time + lifeMs }, sequence: null, feeLimit, mostUnits } };
}

type Terms = Pick<TronNode, 'costOf' | 'expiring' | 'head'>;

export function tronFamily(chain: TronChain, node: Terms): ExpiringFamily {
  const codec = tronCodec(chain);
  const currencyAt = (contract: string | null): string => {
    const found = [...chain.assets].find(([, asset]) => asset.contract === contract);
    if (!found) throw mismatch(`${contract} is no contract of ours`);
    return found[0];
  };
  return {
    sign(seed, plan) {
      const { txId, raw } = codec.sign(seed, tronPlanOf(plan));
      return { txId, raw };
    },
    read(raw) {
      const { txId, from, contract, to, units, feeLimit, expiresAt, signer } = readTransaction(raw);
      if (signer !== from) throw mismatch(`the bytes are signed by ${signer}, not by ${from}`);
      return {
        ...{ txId, from, currency: currencyAt(contract), to, tag: null, units, feeLimit },
        last: { time: expiresAt },
        sequence: null,
      };
    },
    node: { fateOf: (signed) => node.expiring.fateOf(signed), termsOf: (transfer) => termsOf(node, transfer) },
  };
}
