import type { EntityManager } from 'typeorm';
import { intentsOwnedBy, type IntentRow } from '../db/txmanager/intents';
import type { NetworkId } from '../domain/chains/assets';
import { isTopUp } from '../domain/txmanager/kinds';
import type { IntentOwner } from '../domain/workflow-ids';
import { kindOf } from './kinds';

/** An intent that its workflow processes next. */
export type OpenIntent = Readonly<{ id: string; network: NetworkId; kind: string; summary: string }>;
/** What comes next: an intent, a pause because nothing can be planned now, or nothing more. */
export type NextIntent = OpenIntent | Readonly<{ lookAgainInMs: number; reason: string }> | null;

/** The first intent that a workflow has not brought to its end; null where all are booked or dropped. Gas comes
 *  before what it pays for, also where it was planned later: a sweep that was reassigned may need another top-up. */
export async function firstOpen(tx: EntityManager, owner: IntentOwner): Promise<OpenIntent | null> {
  const all = (await intentsOwnedBy(tx, owner)).filter((intent) => isOpen(intent));
  const open = all.find(isTopUp) ?? all[0];
  if (!open) return null;
  const summary = await kindOf(open).summary(tx, open);
  return { id: open.id, network: open.network as NetworkId, kind: open.kind, summary };
}
export const isOpen = (intent: Pick<IntentRow, 'booked' | 'status'>): boolean =>
  !intent.booked && intent.status !== 'dead';
