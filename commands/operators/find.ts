import type { DataSource } from 'typeorm';
import type { ChainCodec } from '../../domain/chains/chain';
import { readTerm, type Term } from '../../domain/operators/find';
import { keysOfConversion, keysOfDeposit, keysOfHold, keysOfIntent } from '../../domain/operators/journal-keys';
import { ownerWorkflow, workflowIds, type OwnerKind } from '../../domain/workflow-ids';
import { listedMerchant, type ListedMerchant } from '../../db/access/merchants';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { normalEmail } from '../../db/access/users';
import {
  addressesOf,
  deliveriesFor,
  depositsFor,
  findIds,
  incidentsFor,
  intentsFor,
  intentsNamed,
  journalsFor,
  mostRecords,
  recordsOf,
  usersNamed,
  type FoundAddress,
  type FoundDelivery,
  type FoundDeposit,
  type FoundIncident,
  type FoundIntent,
  type FoundJournal,
  type FoundRecord,
  type FoundUser,
  type Place,
  type RecordKind,
} from '../../db/operators/find';
import type { Queryable } from '../../db/query';

/** Everything about a payment, a withdrawal, a refund, a conversion or a mass payout, from any text that names it. */

/** An intent, and the workflow that processes it; null: what a recovery has lost is processed by none. */
type LedIntent = Readonly<{ intent: FoundIntent; workflowId: string | null }>;
const led = (intent: FoundIntent): LedIntent => {
  const { ownerKind: kind, ownerId: id } = intent;
  return { intent, workflowId: kind === 'lost' ? null : ownerWorkflow({ kind, id }).workflowId };
};

export type RecordStory = Readonly<{
  record: FoundRecord;
  /** The workflow that leads it, first, and those that send for it. */
  workflowIds: readonly string[];
  deposits: readonly FoundDeposit[];
  intents: readonly LedIntent[];
  journals: readonly FoundJournal[];
  deliveries: readonly FoundDelivery[];
  incidents: readonly FoundIncident[];
}>;

export type Found = Readonly<{
  records: readonly RecordStory[];
  /** More records than these fit; a narrower search finds the rest. */
  isCut: boolean;
  /** What a transaction or a number is of, with those that are about no merchant's record. */
  intents: readonly LedIntent[];
  addresses: readonly FoundAddress[];
  merchants: readonly ListedMerchant[];
  users: readonly FoundUser[];
}>;

type Codecs = Readonly<Record<string, Pick<ChainCodec, 'network' | 'normalise'>>>;
const nothing: Found = { records: [], isCut: false, intents: [], addresses: [], merchants: [], users: [] };

/** Looks for what an operator has typed. A search by e-mail address is about a person, so it is in the audit log. */
export async function find(db: DataSource, codecs: Codecs, given: string, actor: Actor): Promise<Found> {
  const term = readTerm(given);
  if (term.email !== null) {
    const email = normalEmail(term.email);
    await recordAct(db, actor, { merchantId: null, action: 'platform.searched', target: email });
    return { ...nothing, users: await usersNamed(db, email, null) };
  }
  const places = placesOf(codecs, term);
  const ids = await findIds(db, term, places);
  const records = await recordsOf(db, ids);
  const stories: RecordStory[] = [];
  for (const record of records.slice(0, mostRecords)) stories.push(await storyOf(db, record));
  return {
    records: stories,
    isCut: ids.length > mostRecords,
    intents: (await intentsNamed(db, term)).map(led),
    addresses: await addressesOf(db, places),
    merchants: term.id === null ? [] : await listedMerchant(db, term.id),
    users: term.id === null ? [] : await usersNamed(db, null, term.id),
  };
}

/** Every network on which the text is an address, in the spelling that is stored. */
const placesOf = (codecs: Codecs, { text }: Term): Place[] =>
  Object.values(codecs).flatMap((codec) => {
    const address = codec.normalise(text);
    return address === null ? [] : [{ network: codec.network, address }];
  });

/** What an intent, an incident and a workflow call a record of each kind. */
const namesOf: Readonly<Record<RecordKind, Readonly<{ owner: OwnerKind; subject: string }>>> = {
  payment: { owner: 'sweep', subject: 'payment' },
  withdrawal: { owner: 'withdrawal', subject: 'withdrawal' },
  refund: { owner: 'refund', subject: 'refund' },
  conversion: { owner: 'conversion', subject: 'conversion' },
  payout: { owner: 'payout-batch', subject: 'payout-batch' },
};

async function storyOf(db: Queryable, record: FoundRecord): Promise<RecordStory> {
  const { kind, id, merchant_id: merchantId } = record;
  const { owner, subject } = namesOf[kind];
  const deposits = await depositsFor(db, id);
  const intents = await intentsFor(db, id, [owner]);
  const [depositIds, intentIds] = [deposits, intents].map((list) => list.map((one) => one.id));
  return {
    record,
    workflowIds: workflowsOf(record, intents),
    deposits,
    intents: intents.map(led),
    journals: await journalsFor(db, { id, merchantId, keys: keysOf(record, deposits, intents) }),
    deliveries: await deliveriesFor(db, id),
    incidents: await incidentsFor(db, { kind: subject, id, depositIds: depositIds!, intentIds: intentIds! }),
  };
}

function workflowsOf({ kind, id }: FoundRecord, intents: readonly FoundIntent[]): string[] {
  const own =
    kind === 'payment' ? workflowIds.payment(id) : ownerWorkflow({ kind: namesOf[kind].owner, id }).workflowId;
  const senders = intents.flatMap((intent) => led(intent).workflowId ?? []);
  return [...new Set([own, ...senders])];
}

function keysOf(
  { kind, id }: FoundRecord,
  deposits: readonly FoundDeposit[],
  intents: readonly FoundIntent[],
): string[] {
  const parts = [...deposits.flatMap(keysOfDeposit), ...intents.flatMap((intent) => keysOfIntent(intent, id))];
  if (kind === 'conversion') return [...parts, ...keysOfConversion(id)];
  return kind === 'refund' || kind === 'withdrawal' ? [...parts, ...keysOfHold(kind, id)] : parts;
}
