import { expireAttempt, expiringOf } from '../../db/txmanager/expiry';
import type { AttemptRow, IntentRow } from '../../db/txmanager/intents';
import { afterLook, faultOfProof, nextStep } from '../../domain/txmanager/expiry';
import { freeze } from './conflict';
import { openIncident } from '../../db/incidents';
import type { Sender } from './sender';

/** `send`: its bytes may go, once more. `stuck`: all that was signed is void; ask the signer for another attempt. */
type Look = Readonly<{ state: 'send' } | { state: 'waiting' | 'stuck' | 'frozen'; reason: string }>;

/** Finds out what became of an intent whose attempts expire, and ends the one that a proof makes void. That it is mined
 *  is the follower's to book, as of every transaction. Safe to repeat. Throws NODE_UNREACHABLE (retried without end).
 *  Invariants: 5, step 9. */
export async function lookAtExpiring(
  sender: Sender,
  intent: IntentRow,
  attempts: readonly AttemptRow[],
): Promise<Look> {
  const { db, adapter } = sender;
  const node = adapter.expiring;
  if (!node) throw new Error(`Intent ${intent.id} expires, and transactions of ${adapter.network} never do`);
  const rows = attempts.map(expiringOf);
  const step = nextStep(rows, await node.finalBlock());
  if (step.act === 'stop') {
    await freeze(sender, intent, step.reason);
    return { state: 'frozen', reason: step.reason };
  }
  if (step.act === 'sign') return { state: 'stuck', reason: 'all that was signed has expired' };
  if (step.act === 'end') return { state: 'waiting', reason: 'it is in a final block' };
  const row = rows[step.n - 1]!;
  const attempt = attempts[step.n - 1]!;
  const { txId, window } = row;
  const fate = await node.fateOf({ txId, window, signedOn: attempt.valid_from_hash! });
  if (fate.state === 'mined') return { state: 'waiting', reason: `it is in block ${fate.height}` };
  if (fate.isOffChain) await noteOffChain(sender, intent, attempt);
  if (fate.state === 'open' && fate.isOffChain)
    return { state: 'waiting', reason: `block ${attempt.valid_from_hash}, which it was signed on, is not final` };
  if (fate.state === 'open')
    return step.act === 'send'
      ? { state: 'send' }
      : { state: 'waiting', reason: `it may be in a block: ${fate.reason}` };
  if (afterLook(row, fate).status !== 'expired') {
    const fault = faultOfProof(row, fate.proof);
    return { state: 'waiting', reason: `nothing proves that no block has it: ${fault}` };
  }
  const isEnded = await expireAttempt(db, attempt.id, fate.proof);
  if (!isEnded) return { state: 'waiting', reason: 'our rows say that it is in a block' };
  return { state: 'stuck', reason: `it expired, and no block through ${fate.proof.through.height} has it` };
}

/** It was signed on a block that is none of the final chain: no block takes it, and a node has called something final
 *  that was not. Its time ends it; that its node was wrong is for people to look into. */
const noteOffChain = ({ db }: Sender, intent: IntentRow, attempt: AttemptRow): Promise<unknown> =>
  openIncident(db, {
    kind: 'signed-off-chain',
    subject: { kind: 'intent', id: intent.id },
    distinction: attempt.tx_id,
    details: {
      intentId: intent.id,
      txId: attempt.tx_id,
      wallet: attempt.from_address,
      height: attempt.valid_from_height,
      blockHash: attempt.valid_from_hash,
    },
  });
