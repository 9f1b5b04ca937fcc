import type { EntityManager } from 'typeorm';
import { prepared } from '../../db/query';
import type { IntentRow } from '../../db/txmanager/intents';
import { DomainError } from '../../domain/errors';
import type { InsideFacts, Obligation, ServedIntent } from '../obligation';
import { outgoingKinds } from './index';
import type { OutgoingKind } from './kind';

/** `obligation` null: it stays inside. `fault`: it says that it leaves, and no row of its workflow has it sent. */
export type Served = Readonly<{ obligation: Obligation | null; fault: string | null }>;

/** The obligations of intents, locked before the intents themselves, kind by kind. */
export async function lockObligations(
  tx: EntityManager,
  intentIds: readonly string[],
): Promise<ReadonlyMap<string, Served>> {
  const intents = await prepared(tx, 'served-intents').query<ServedIntent[]>(
    'SELECT id, kind, ref, owner_kind, owner_id FROM intent WHERE id = ANY($1::bigint[]) ORDER BY id',
    [intentIds],
  );
  const served = new Map<string, Served>(
    intents.map(({ id, kind }) => [id, { obligation: null, fault: `Intent ${id}: there is no kind ${kind}` }]),
  );
  for (const kind of outgoingKinds) {
    const some = intents.filter((intent) => intent.kind === kind.kind);
    if (some.length) for (const [id, one] of await servedBy(tx, kind, some)) served.set(id, one);
  }
  for (const id of intentIds) if (!served.has(id)) throw new Error(`No intent ${id}`);
  return served;
}

async function servedBy(
  tx: EntityManager,
  { obligation: read, owner }: OutgoingKind,
  intents: readonly ServedIntent[],
): Promise<Array<[id: string, served: Served]>> {
  if (!read) return intents.map(({ id }) => [id, { obligation: null, fault: null }]);
  const isOwned = (one: ServedIntent): boolean => !owner || (one.owner_kind === owner && one.owner_id === one.ref);
  const obligations = await read(tx, intents.filter(isOwned));
  return intents.map(({ id, kind, ref }) => {
    const obligation = obligations.get(id) ?? null;
    return [id, { obligation, fault: obligation ? null : `Intent ${id}: nothing wants ${kind} ${ref}` }];
  });
}

/** The obligation of one intent; null for what stays inside. Throws INTENT_MISMATCH where it has a fault. */
export async function lockObligation(tx: EntityManager, intentId: string): Promise<Obligation | null> {
  const { obligation, fault } = (await lockObligations(tx, [intentId])).get(intentId)!;
  if (fault !== null) throw new DomainError('INTENT_MISMATCH', fault);
  return obligation;
}

/** What kinds without an obligation say of these intents, by intent. */
export async function insideOf(
  tx: EntityManager,
  intents: readonly IntentRow[],
): Promise<ReadonlyMap<string, InsideFacts>> {
  const found = new Map<string, InsideFacts>();
  for (const { kind, inside } of outgoingKinds) {
    const some = intents.filter((intent) => intent.kind === kind);
    if (inside && some.length) for (const [id, facts] of await inside(tx, some)) found.set(id, facts);
  }
  return found;
}
