import { endVoidLost, openLost } from '../../db/recovery/lost';
import { expiringOf } from '../../db/txmanager/expiry';
import { attemptsOf } from '../../db/txmanager/intents';
import { DomainError } from '../../domain/errors';
import { nextStep } from '../../domain/txmanager/expiry';
import { lookAtExpiring } from './expiring';
import type { Sender } from './sender';

type Looking = Sender & Readonly<{ log: { warn(fields: object, text: string): void } }>;

/** Finds out what became of transactions that expire and that a recovery has lost, once their time is over: what no
 *  row has sent has no workflow that would, and while it may be in a block its wallet signs nothing. One that a block
 *  has is the follower's to book. What the node cannot tell of one holds up nothing else. Safe to repeat. Throws
 *  NODE_UNREACHABLE where it answers nothing. */
export async function lookAtLost(sender: Looking): Promise<void> {
  const { db, adapter, log } = sender;
  if (!adapter.expiring) return;
  const lost = await openLost(db, adapter.network);
  const tip = lost.length ? await adapter.expiring.finalBlock() : null;
  for (const intent of lost) {
    const attempts = await attemptsOf(db.manager, intent.id);
    if (nextStep(attempts.map(expiringOf), tip!).act !== 'look') continue;
    await lookAtExpiring(sender, intent, attempts).catch((error: unknown) => {
      if (!(error instanceof DomainError) || error.code !== 'NODE_UNREACHABLE') throw error;
      log.warn({ intentId: intent.id, reason: error.message }, 'Lost by a recovery, and the node cannot tell of it');
    });
  }
  // Also of those that an earlier look has ended the last attempt of.
  await endVoidLost(db, adapter.network);
}
