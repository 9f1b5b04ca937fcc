import type { EntityManager } from 'typeorm';
import { recheckLimits } from '../../commands/limits/outbound-check';
import { lockStopsAndFreezes } from '../../db/access/merchant-stop';
import type { LimitUseKey, LimitUseRow } from '../../db/limits/outbound';
import { depositsById, type DepositRow } from '../../db/payments/deposits';
import { expiringOf, expiringWallet, refusedAmong, validitiesOf, type Validity } from '../../db/txmanager/expiry';
import { lowestOpenNonces, type AttemptRow, type IntentRow } from '../../db/txmanager/intents';
import { waitersFor } from '../../db/txmanager/turns';
import {
  accountsBeside,
  attemptsOfAll,
  frozenAmong,
  lockIntents,
  lockWallet,
  sharedPayments,
  sharesOfAll,
  signReads,
  type Estimate,
  type OwnAddressRow,
  type WalletRow,
} from '../../db/txmanager/sign-facts';
import { unlistedAmong } from '../../db/wallets/whitelist';
import { insideOf, lockObligations, type Served } from '../kinds/obligations';
import type { InsideFacts } from '../obligation';
import type { ExpiringAttempt } from '../../domain/txmanager/expiry';
import { ownersBefore } from '../../domain/txmanager/turns';
import { isDerived } from './derived';
import type { Look } from './look';
import type { ExpiryFacts } from './expiry-policy';
import { maySign, movablePart, type BatchFacts, type SignFacts, type SignVerdict } from './policy';
import { codecOf, familyOf, networkKind, type Signer } from './signer';

/** The one loader of what the policy decides by: of one intent as of many of a wallet, in a number of statements that
 *  does not grow with theirs. In the order of the locks: rows, intents, whitelist, merchants, freezes, limits, wallet.
 *  docs/decisions/0036-one-loader-of-signing-facts.md */

/** For the first signature, or for one more. */
type Asking = 'first' | 'next';

/** An intent, its row and its attempts, locked; the attempts of those that have a first signature alone. */
export type Asked = Served & Readonly<{ planned: IntentRow; attempts: readonly AttemptRow[] }>;

/** Locks intents, with their rows before them. */
export async function lockAsked(tx: EntityManager, ids: readonly string[], asking: Asking): Promise<Asked[]> {
  const served = await lockObligations(tx, ids);
  const intents = await lockIntents(tx, ids);
  // That there is one is all that a first signature asks.
  const found = asking === 'first' ? [] : await attemptsOfAll(tx, ids);
  const attempts = Map.groupBy(found, (attempt) => attempt.intent_id);
  return intents.map((planned) => ({
    planned,
    ...served.get(planned.id)!,
    attempts: attempts.get(planned.id) ?? [],
  }));
}

/** The verdict on an intent, and what was read for it. `intent`: of a batch what can be moved. `from`: the address that
 *  it pays from, where that is ours. */
export type Answer = Asked &
  Readonly<{
    facts: SignFacts;
    verdict: Exclude<SignVerdict, { state: 'ask' }>;
    intent: IntentRow;
    wallet: WalletRow | null;
    price: Estimate | null;
    from: OwnAddressRow | null;
  }>;

type Loaded = Asked & Readonly<{ facts: SignFacts; intent: IntentRow; from: OwnAddressRow | null }>;

type Read = Readonly<{ loaded: Loaded[]; limitUses: readonly LimitUseRow[] }>;

/** May these be signed now? All of one wallet. `asking`: whether for their first signature, or for the next. `looks`:
 *  what the signer's node said of each intent whose transactions expire. */
export async function verdictsOn(
  signer: Signer,
  tx: EntityManager,
  asked: readonly Asked[],
  asking: Asking,
  looks: ReadonlyMap<string, Look> = new Map(),
): Promise<Answer[]> {
  const [first] = asked;
  if (!first) return [];
  const { network, from_address: address } = first.planned;
  if (asked.some(({ planned }) => planned.network !== network || planned.from_address !== address))
    throw new Error(`Intents of more than one wallet are not asked about together: ${first.planned.id} and others`);
  const read = await readFacts(signer, tx, asked, asking);
  const { evaluated, wallet, price } = await askWallet(tx, await askLimits(tx, read), looks);
  return evaluated.map((one) => ({ ...one, verdict: maySign(one.facts) as Answer['verdict'], wallet, price }));
}

/** What the policy looks at before the limits and the wallet. */
async function readFacts(signer: Signer, tx: EntityManager, asked: readonly Asked[], asking: Asking): Promise<Read> {
  const intents = asked.map(({ planned }) => planned);
  const deposits = await depositsAmong(tx, intents);
  const inside = await insideOf(tx, intents);
  const rows = asking === 'first' ? asked.flatMap(({ obligation }) => (obligation ? [obligation.row] : [])) : [];
  const payees = rows.flatMap((row) => row.payees);
  const unlisted = new Set((await unlistedAmong(tx, payees)).map((payee) => payee.id));
  const owners = new Map(asked.map((one) => [one.planned.id, ownersOf(one, inside.get(one.planned.id))]));
  // Another price for what is signed needs no look at stops and no freeze held off.
  const fresh = asked.filter((one) => roundOf(one, asking) !== 'again');
  const merchants = [...new Set(fresh.flatMap(({ planned }) => owners.get(planned.id)!))];
  const stops = fresh.length ? await lockStopsAndFreezes(tx, merchants) : new Map<string, string>();
  const counted = new Map(rows.flatMap(({ limitUse }) => (limitUse ? [[limitUse.ref, limitUse]] : [])));
  // After the locks: what is committed before the next freeze is seen.
  const reads = await signReads(tx, intents[0]!.network, {
    ids: intents.map(({ id }) => id),
    addresses: [...new Set(intents.flatMap((planned) => addressesOf(planned, deposits)))],
    limitUses: [...counted.values()],
  });
  const { limitUses } = reads;
  const moved = await readMoved(signer, tx, intents, { deposits, reads });
  const loaded = asked.map((one): Loaded => {
    const { planned, obligation, fault } = one;
    const of = moved(planned);
    const facts: SignFacts = {
      round: roundOf(one, asking),
      fault,
      intent: of.intent,
      isSigned: reads.signed.includes(planned.id),
      isLost: asking === 'first' && reads.lost.includes(planned.id),
      batch: of.batch,
      obligation,
      inside: inside.get(planned.id) ?? null,
      unlisted: obligation?.row.payees.map(({ id }) => id).filter((id) => unlisted.has(id)) ?? [],
      limitUse: limitUseIn(limitUses, obligation),
      deposits: of.deposits,
      own: of.own,
      forged: of.forged,
      malformed: malformedOf(signer, planned),
      stop: fresh.includes(one) ? firstStop(stops, owners.get(planned.id)!) : null,
      freezes: reads.freezes,
      wallet: 'unread',
      price: 'unread',
      expiry: familyOf(signer, planned.network) ? 'unread' : null,
    };
    return { ...one, intent: of.intent, from: of.from, facts };
  });
  return { loaded, limitUses };
}

const roundOf = ({ planned, attempts }: Asked, asking: Asking): SignFacts['round'] => {
  const last = attempts.at(-1);
  if (asking === 'first' || !last) return 'first';
  // Another transaction, and no better price for the one before.
  if (last.valid_from_height !== null) return 'anew';
  return last.n <= planned.void_through ? 'anew' : 'again';
};

/** Whose money an intent moves. */
const ownersOf = ({ obligation, planned }: Asked, inside: InsideFacts | undefined): readonly string[] => {
  const ofRow = obligation ? obligation.merchantId : planned.merchant_id;
  return (obligation ? null : inside?.merchantIds) ?? (ofRow === null ? [] : [ofRow]);
};

const firstStop = (stops: ReadonlyMap<string, string>, owners: readonly string[]): string | null =>
  [...stops].find(([merchantId]) => owners.includes(merchantId))?.[1] ?? null;

const malformedOf = (signer: Signer, intent: Pick<IntentRow, 'network' | 'outputs'>): string[] =>
  intent.outputs
    .map(({ address }) => address)
    .filter((address) => codecOf(signer, intent).normalise(address) !== address);

const isOf = (limitUse: LimitUseRow, key: LimitUseKey): boolean =>
  limitUse.kind === key.kind && limitUse.ref === key.ref;

function limitUseIn(limitUses: readonly LimitUseRow[], obligation: Asked['obligation']): SignFacts['limitUse'] {
  const key = obligation?.row.limitUse;
  const found = key && limitUses.find((one) => isOf(one, key));
  return !found ? 'none' : found.is_signed ? 'used' : 'open';
}

/** What one intent moves, from where and to where. `intent`: of a batch what can be moved of it now. */
type Moved = Pick<SignFacts, 'batch' | 'deposits' | 'own' | 'forged'> &
  Readonly<{ intent: IntentRow; from: OwnAddressRow | null }>;

async function depositsAmong(tx: EntityManager, intents: readonly IntentRow[]): Promise<readonly DepositRow[]> {
  const ids = [...new Set(intents.flatMap((intent) => intent.deposit_ids))];
  return ids.length ? depositsById(tx, ids) : [];
}
const depositsIn = ({ deposit_ids: ids }: IntentRow, all: readonly DepositRow[]): DepositRow[] =>
  all.filter(({ id }) => ids.includes(id));

/** Where an intent takes from and pays to. */
const addressesOf = (planned: IntentRow, deposits: readonly DepositRow[]): string[] => [
  ...new Set([
    planned.from_address,
    ...[...planned.outputs, ...depositsIn(planned, deposits)].map(({ address }) => address),
  ]),
];

async function readMoved(
  signer: Signer,
  tx: EntityManager,
  intents: readonly IntentRow[],
  { deposits, reads }: Readonly<{ deposits: readonly DepositRow[]; reads: Awaited<ReturnType<typeof signReads>> }>,
): Promise<(planned: IntentRow) => Moved> {
  const { network } = intents[0]!;
  const batches = await batchesAmong(
    tx,
    intents.filter(({ id }) => reads.shared.includes(id)),
  );
  const frozen = await frozenAmong(
    tx,
    network,
    [...batches.values()].flatMap(({ planned }) => depositsIn(planned, deposits).map(({ address }) => address)),
  );
  const registered = reads.own;
  const byAddress = new Map(registered.map((row) => [row.address, row]));
  const derived = new Set(registered.filter((row) => isDerived(signer, network, row)));
  return (planned) => {
    const batch = batches.get(planned.id) ?? null;
    const intent = batch ? movablePart(planned, batch.shares, depositsIn(planned, deposits), frozen) : planned;
    const ours = addressesOf(planned, deposits).flatMap((address) => byAddress.get(address) ?? []);
    return {
      intent,
      batch,
      deposits: depositsIn(intent, deposits),
      // The addresses that are ours by the seed, and those that only the database calls so.
      own: ours
        .filter((row) => derived.has(row))
        .map(({ address, role, merchant_id }) => ({ address, role, merchantId: merchant_id })),
      forged: ours.filter((row) => !derived.has(row)).map(({ address }) => address),
      from: byAddress.get(planned.from_address) ?? null,
    };
  };
}

/** The intents that are sweeps of many, with what their payments say of them. */
async function batchesAmong(
  tx: EntityManager,
  intents: readonly IntentRow[],
): Promise<ReadonlyMap<string, BatchFacts & Readonly<{ planned: IntentRow }>>> {
  const ids = intents.map(({ id }) => id);
  if (!ids.length) return new Map();
  const shares = Map.groupBy(await sharesOfAll(tx, ids), (share) => share.intent_id);
  const counts = await sharedPayments(tx, ids);
  return new Map(
    intents.flatMap((planned) => {
      const own = shares.get(planned.id);
      if (!own) return [];
      const { payments, deposits } = counts.find((one) => one.intent_id === planned.id) ?? { payments: 0, deposits: 0 };
      return [[planned.id, { planned, shares: own, payments, deposits }] as const];
    }),
  );
}

/** Asks the limits for those that nothing else is against: each row once, however many intents pay it. */
async function askLimits(tx: EntityManager, { loaded, limitUses }: Read): Promise<Loaded[]> {
  const asking = loaded.filter(({ facts }) => isAsking(facts, 'limits'));
  const open = limitUses.filter((one) => asking.some(({ obligation }) => isOf(one, obligation!.row.limitUse!)));
  if (!open.length) return loaded;
  const reasons = await recheckLimits(tx, open);
  return loaded.map((one) => {
    const n = asking.includes(one) ? open.findIndex((row) => isOf(row, one.obligation!.row.limitUse!)) : -1;
    if (n < 0) return one;
    const over = reasons[n] ?? null;
    return { ...one, facts: { ...one.facts, limitUse: over === null ? 'used' : { over } } };
  });
}

/** Locks the wallet where something may be signed for it. */
async function askWallet(
  tx: EntityManager,
  loaded: readonly Loaded[],
  looks: ReadonlyMap<string, Look>,
): Promise<Readonly<{ evaluated: readonly Loaded[] } & Pick<Answer, 'wallet' | 'price'>>> {
  const asking = new Set(loaded.filter(({ facts }) => isAsking(facts, 'wallet')));
  const [first] = asking;
  if (!first) return { evaluated: loaded, wallet: null, price: null };
  const { fee: price, ...locked } = await lockWallet(tx, first.planned);
  const openNonceOf = await openNonces(tx, [...asking]);
  const besideOf = await frozenBeside(tx, [...asking]);
  const expiryOf = first.facts.expiry === null ? () => null : await expiries(tx, [...asking], looks);
  const evaluated = loaded.map((one): Loaded => {
    if (!asking.has(one)) return one;
    const frozenReason = locked.frozen_reason ?? besideOf(one);
    const wallet = { frozenReason, openNonce: openNonceOf(one) };
    return { ...one, facts: { ...one.facts, wallet, price, expiry: expiryOf(one) } };
  });
  return { evaluated, wallet: locked, price };
}

const isAsking = (facts: SignFacts, of: 'limits' | 'wallet'): boolean => {
  const verdict = maySign(facts);
  return verdict.state === 'ask' && verdict.facts === of;
};

/** The lowest nonce before that of an intent's newest attempt that is in no block. */
async function openNonces(tx: EntityManager, asking: readonly Loaded[]): Promise<(one: Loaded) => number | null> {
  const signed = asking.flatMap(({ attempts }) => attempts.slice(-1)).filter(({ nonce }) => nonce !== null);
  const lowest = signed.length
    ? await lowestOpenNonces(
        tx,
        signed[0]!.network,
        signed.map((last) => last.from_address),
      )
    : new Map<string, number>();
  return ({ attempts }) => {
    const last = attempts.at(-1);
    if (!last || last.nonce === null) return null;
    const low = lowest.get(last.from_address);
    return low !== undefined && low < last.nonce ? low : null;
  };
}

/** What the policy decides by where transactions expire. */
async function expiries(
  tx: EntityManager,
  asking: readonly Loaded[],
  looks: ReadonlyMap<string, Look>,
): Promise<(one: Loaded) => ExpiryFacts> {
  const { network, from_address: from } = asking[0]!.planned;
  const wallet = await expiringWallet(tx, network, from);
  const waiters = await waitersFor(tx, network, from);
  const ids = asking.map(({ planned }) => planned.id);
  const signed = Map.groupBy(await validitiesOf(tx, ids), ({ intentId }) => intentId);
  const refused = await refusedAmong(tx, ids);
  const unclear = { state: 'unclear', reason: 'the node was not asked about it' } as const;
  return ({ planned, attempts, obligation }) => ({
    givesUp: obligation?.givenUp ? obligation.row : null,
    attempts: attempts.map(expiringOf),
    signed: signed.get(planned.id)?.map(asSigned) ?? [],
    ageSeconds: signed.get(planned.id)?.[0]?.ageSeconds ?? 0,
    isRefused: refused.has(planned.id),
    wallet,
    before: ownersBefore(waiters, {
      ...{ intentId: planned.id, owner: `${planned.owner_kind}/${planned.owner_id}` },
      isSigned: planned.status !== 'planned',
    }),
    terms: looks.get(planned.id)?.terms ?? unclear,
  });
}

/** As the rule takes it: void where the signer's own node has proven it, and else it may be in a block. */
const asSigned = ({ txId, window, absence }: Validity, index: number): ExpiringAttempt => ({
  ...{ n: index + 1, txId, window, absence, success: null },
  status: absence ? 'expired' : 'sent',
});

/** Which wallet is frozen whose key signs beside that of the intent's address: of a coin, or of a batch's account. */
async function frozenBeside(tx: EntityManager, asking: readonly Loaded[]): Promise<(one: Loaded) => string | null> {
  const { network } = asking[0]!.planned;
  const signed = asking.filter(({ attempts }) => attempts.length).map(({ planned }) => planned.id);
  const accounts = networkKind(network) === 'account' && signed.length ? await accountsBeside(tx, signed) : [];
  const beside = ({ planned, facts }: Loaded): string[] =>
    networkKind(network) === 'utxo'
      ? facts.deposits.map(({ address }) => address)
      : accounts.filter((one) => one.intent_id === planned.id).map(({ address }) => address);
  const frozen = await frozenAmong(tx, network, [...new Set(asking.flatMap(beside))]);
  return (one) => {
    const [address] = beside(one)
      .filter((wallet) => frozen.has(wallet))
      .toSorted();
    return address === undefined ? null : `${address}: ${frozen.get(address)}`;
  };
}
