import type { EntityManager } from 'typeorm';
import { noteReady, noteUnready } from '../../db/txmanager/turns';
import { turnAgainInMs } from '../../domain/txmanager/turns';
import type { SignFacts, SignVerdict } from './policy';
import type { Signed } from './signer';

/** What the signer writes down of who waits for a wallet. docs/decisions/0100-turns-at-a-wallet.md */

type Waiting = Extract<SignVerdict, { state: 'waiting' }>;

/** The answer for what the policy lets wait. What waits for its wallet alone takes its place there, or keeps it. What
 *  waits for something of its own holds nobody up meanwhile. A wait for the network changes nothing: it passes by
 *  itself, for all of a wallet alike. */
export async function waitInTurn(
  tx: EntityManager,
  { planned: { id }, facts: { expiry } }: Readonly<{ planned: { id: string }; facts: SignFacts }>,
  { reason, cause, behind }: Waiting,
): Promise<Signed> {
  if (behind !== undefined) {
    await noteReady(tx, id);
    return { state: 'waiting', reason, lookAgainInMs: turnAgainInMs(behind) };
  }
  if (expiry !== null && cause !== 'network') await noteUnready(tx, id);
  return { state: 'waiting', reason };
}
