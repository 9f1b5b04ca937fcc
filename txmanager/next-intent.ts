import { intentsOwnedBy, type IntentRow } from '../db/txmanager/intents';
import type { EntityManager } from 'typeorm';
import type { NetworkId } from '../domain/chains/assets';
import { type IntentOwner } from '../domain/workflow-ids';

/** An intent that its workflow carries next. */

export type OpenIntent = Readonly<{ id: string; network: NetworkId; kind: string; summary: string }>;
/** What comes next: an intent, a pause because nothing can be planned now, or nothing more. */
export type NextIntent = OpenIntent | Readonly<{ lookAgainInMs: number; reason: string }> | null;
/** The first intent that a workflow has not brought to its end; null where all are booked or dropped. */

export async function firstOpen(tx: EntityManager, owner: IntentOwner, what: string): Promise<NextIntent> {
  const open = (await intentsOwnedBy(tx, owner)).find((intent) => isOpen(intent));
  if (!open) return null;
  const to = open.outputs.map((output) => output.address).join(', ');
  return {
    id: open.id,
    network: open.network as NetworkId,
    kind: open.kind,
    summary: `${open.kind === 'gas' ? 'Gas top-up' : what} of ${open.currency} to ${to}`,
  };
}
export const isOpen = (intent: Pick<IntentRow, 'booked' | 'status'>): boolean =>
  !intent.booked && intent.status !== 'dead';
