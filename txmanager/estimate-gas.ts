import { inParallel } from '../chains/json-rpc';
import { openIncidentAgain } from '../db/incidents';
import { depositsById } from '../db/payments/deposits';
import { disband } from '../db/sweeps/sweeps';
import { endIntent, intentsOwnedBy, plannedOf, type IntentRow } from '../db/txmanager/intents';
import { baseUnits, networks, type NetworkId } from '../domain/chains/assets';
import type { AskedTransfer, GasAnswer } from '../domain/chains/chain';
import { batchGasLimit, gasCeiling, gasLimitOf } from '../domain/chains/costs';
import { tagIn, type Destination } from '../domain/chains/tags';
import { DomainError } from '../domain/errors';
import { kinds } from '../domain/txmanager/kinds';
import type { IntentOwner } from '../domain/workflow-ids';
import { chargeGas } from './charge-gas';
import { forgetEstimates, keepEstimates, keepUsual, refusalOf, type Estimate } from './keep-estimates';
import { isBehind, isFirstBy, newReceiverOf, waitsForFirst } from './first-transfers';
import { kindOf } from './kinds';
import { lockObligations } from './kinds/obligations';
import { lookAgainInMs } from './plan-outgoing';
import { reassignAtOnce } from './reassign-lost';
import { leaveHeldUpGas } from './leave-wallet';
import { nodeOf, type GasDeps } from './gas-node';
import { firstOpen, type NextIntent } from './next-intent';
import { isTopUp } from '../domain/txmanager/kinds';
import { refusalByWhom } from './wallet-refusal';
import { isAloneThere, isTopUpExact, leftOfTopUps, neededFor, topUpMore, transfersOf } from './top-up';

/** Asks the nodes what planned transactions of account chains take, before anything is signed. What cannot succeed ends
 *  here, unsigned. */

/** An estimate counts for so long: what it says of a recipient may change. */
const staleAfterMs = 1_800_000;
const atOnce = 8;

const isBatch = ({ kind, payment_id }: IntentRow): boolean => kinds[kind].spends === 'deposits' && payment_id === null;
/** A kind that nobody answers for is left to the signer, which refuses it. */
const isDue = ({ kind, status, network, gas_limit, gas_estimated_at }: IntentRow): boolean =>
  Object.hasOwn(kinds, kind) &&
  status === 'planned' &&
  networks[network as NetworkId].kind === 'account' &&
  (gas_limit === null || Date.now() - (gas_estimated_at?.getTime() ?? 0) > staleAfterMs);

/** The next intent of an owner, estimated; or why nothing can be signed of it now. */
export async function withGas(deps: GasDeps, owner: IntentOwner, next: () => Promise<NextIntent>): Promise<NextIntent> {
  const reason = await reassignAtOnce(deps.db, owner);
  if (reason !== null) return { lookAgainInMs, reason };
  for (;;) {
    const intent = await next();
    if (!intent || 'lookAgainInMs' in intent) return intent;
    const { waits, isChanged } = await estimateOwned(deps, owner);
    // An intent that has ended is not the next any more, and one that pays less is read again.
    if (isChanged) continue;
    const reason = waits.get(intent.id);
    return reason === undefined ? intent : { lookAgainInMs, reason };
  }
}

/** The first intent of an owner whose end is not booked, estimated. */
export const nextOf = (deps: GasDeps, owner: IntentOwner): Promise<NextIntent> =>
  withGas(deps, owner, () =>
    deps.db.transaction(async (tx) => {
      await leaveHeldUpGas(tx, owner);
      return firstOpen(tx, owner);
    }),
  );

/** `waits`: why intents cannot be signed now. `isChanged`: something will never be signed, pays less, or comes before
 *  the rest. */
type Estimated = Readonly<{ waits: ReadonlyMap<string, string>; isChanged: boolean }>;

/** Estimates what is planned of an owner and has no fresh estimate: transfers first, then the top-ups that buy their
 *  gas. `network`: what is planned on it alone. */
export async function estimateOwned(deps: GasDeps, owner: IntentOwner, network?: NetworkId): Promise<Estimated> {
  const waits = new Map<string, string>();
  const due = (await plannedOf(deps.db.manager, owner, network)).filter(isDue);
  if (!due.length) return { waits, isChanged: false };
  // Its others say how a token gets its gas, and nothing of what pays for itself.
  const all = due.some(isAloneThere) ? await intentsOwnedBy(deps.db.manager, owner) : due;
  let isChanged = false;
  const note = (intent: IntentRow, end: End): void => {
    if (end === 'ended' || end === 'lower') isChanged = true;
    else if (end !== 'done') waits.set(intent.id, end.reason);
  };
  const transfers = due.filter((intent) => !isTopUp(intent));
  const ends = await estimateTransfers(deps, transfers, all);
  for (const intent of transfers) note(intent, ends.get(intent.id)!);
  for (const from of new Set(transfers.filter(isTopUpExact).map((intent) => intent.from_address)))
    isChanged = (await deps.db.transaction((tx) => topUpMore(tx, owner, from))) || isChanged;
  for (const { id } of due.filter(isTopUp)) {
    const topUp = await sized(deps, owner, id, waits);
    if (topUp === null) isChanged = true;
    else if (topUp === 'early') waits.set(id, 'what it is for is not estimated yet');
    else note(topUp, await noteAnswer(deps, topUp, await ask(deps, topUp)));
  }
  return { waits, isChanged };
}

type End = 'done' | 'lower' | 'ended' | Readonly<{ reason: string }>;

/** Estimates transfers, and answers the end of each by its id. Of those to one address one alone is asked about, until
 *  it is known that they are usual ones: what waits for the first transfer to an address costs its node nothing. */
async function estimateTransfers(
  deps: GasDeps,
  transfers: readonly IntentRow[],
  all: readonly IntentRow[],
): Promise<ReadonlyMap<string, End>> {
  const ends = new Map<string, End>();
  const usual = new Set<string | null>([null]);
  for (let left = transfers; left.length; left = left.filter(({ id }) => !ends.has(id))) {
    const asked = firstOfEach(left, usual);
    const answers = await inParallel(asked, atOnce, (intent) => askOf(deps, intent, topUpOf(intent, all)));
    const done = asked.flatMap((intent, n): Estimate[] => {
      const answer = answers[n]!;
      return answer.state === 'done' ? [{ intent, gas: answer.gas, borne: null }] : [];
    });
    const kept = await keepUsual(deps.db, done);
    const isNew = new Set<string | null>();
    for (const [n, intent] of asked.entries()) {
      const answer = answers[n]!;
      const end = kept.has(intent.id) ? 'done' : await noteAnswer(deps, intent, answer);
      ends.set(intent.id, end);
      if (!isFirstBy(answer, intent)) {
        if (answer.state === 'done') usual.add(newReceiverOf(intent));
      } else if (end !== 'ended') isNew.add(newReceiverOf(intent));
    }
    const waiting = left.filter((one) => !ends.has(one.id) && isNew.has(newReceiverOf(one)));
    await forgetEstimates(deps.db.manager, waiting);
    for (const { id } of waiting) ends.set(id, { reason: waitsForFirst });
  }
  return ends;
}

/** One of those to each address, and all to those of whom it is known that they are no new ones. */
function firstOfEach(transfers: readonly IntentRow[], usual: ReadonlySet<string | null>): IntentRow[] {
  const found = new Set<string | null>();
  return transfers.filter((intent) => {
    const to = newReceiverOf(intent);
    if (usual.has(to)) return true;
    const isFirst = !found.has(to);
    found.add(to);
    return isFirst;
  });
}

/** Whether a top-up of gas to an address pays for this transfer of tokens alone (`own`) or for others beside it too
 *  (`shared`). Absent where a transfer has failed there: then the top-up brings all the gas that the next may take, as
 *  what it takes may have risen once it is signed. */
function topUpOf(intent: IntentRow, all: readonly IntentRow[]): Pick<AskedTransfer, 'topUp'> {
  if (!isAloneThere(intent)) return {};
  const hasFailed = all.some((one) => one.from_address === intent.from_address && one.status === 'failed');
  if (hasFailed) return {};
  const isBeside = (one: IntentRow): boolean => one.from_address === intent.from_address && !isTopUp(one);
  return { topUp: all.filter((one) => isBeside(one) && one.status !== 'dead').length > 1 ? 'shared' : 'own' };
}

/** The same of a transfer that its row ends by, where the recipient refuses it: not where its sender is refused. */
async function askOf(deps: GasDeps, intent: IntentRow, topUp: Pick<AskedTransfer, 'topUp'>): Promise<GasAnswer> {
  const answer = await ask(deps, intent, topUp);
  if (!kindOf(intent).refused) return answer;
  const { units } = intent.outputs[0]!;
  return refusalByWhom(deps, intent, answer, (to) => ask(deps, { ...intent, outputs: [{ ...to, units }] }, topUp));
}

/** The gas that an intent's transaction is to be signed with. `topUp`: as nodes are told. */
async function ask(deps: GasDeps, intent: IntentRow, topUp: Pick<AskedTransfer, 'topUp'> = {}): Promise<GasAnswer> {
  const node = nodeOf(deps, intent);
  const { currency } = intent;
  const ceiling = gasCeiling(currency);
  const one = async (from: string, to: Destination, units: bigint): Promise<GasAnswer> =>
    (await node.estimateGas({ from, to: to.address, ...tagIn(to), currency, units, ceiling, ...topUp }))!;
  if (!isBatch(intent)) {
    // A transfer that empties an address moves what is left after its fee: its gas does not depend on the amount.
    const [output] = intent.outputs;
    const units = output!.units === null ? 1n : BigInt(output!.units);
    const answer = await one(intent.from_address, output!, units);
    return answer.state === 'done' ? { ...answer, gas: gasLimitOf(currency, answer.gas) } : answer;
  }
  const deposits = await depositsById(deps.db.manager, intent.deposit_ids);
  const addresses = [...new Set(deposits.map(({ address }) => address))];
  const unitsAt = (address: string): bigint =>
    deposits.reduce((sum, one) => sum + (one.address === address ? baseUnits(currency, one.amount) : 0n), 0n);
  const answersTo = (to: Destination): Promise<GasAnswer[]> =>
    inParallel(addresses, atOnce, (from) => one(from, to, unitsAt(from)));
  const answers: GasAnswer[][] = [];
  for (const output of intent.outputs) answers.push(await answersTo(output));
  const refused = answers.flat().find(({ state }) => state === 'reverts');
  if (refused) return refused;
  // The signer leaves out tokens that are not there any more.
  const gasOf = (answer: GasAnswer): bigint => (answer.state === 'done' ? answer.gas : ceiling);
  const dearest = (some: readonly bigint[]): bigint => some.reduce((most, gas) => (gas > most ? gas : most), 0n);
  const each = addresses.map((_, n) => dearest(answers.map((to) => gasOf(to[n]!))));
  // All but one give to one address alone.
  const further = intent.outputs.length > 1 ? [dearest(each)] : [];
  return { state: 'done', gas: batchGasLimit(currency, addresses.length, [...each, ...further]) };
}

/** Keeps an estimate, with the fee limits that follow from it, or ends what cannot succeed. */
const noteAnswer = (deps: GasDeps, asked: IntentRow, answer: GasAnswer): Promise<End> =>
  deps.db.transaction(async (tx): Promise<End> => {
    // In the order of the locks: its row, then the intent.
    const { fault } = (await lockObligations(tx, [asked.id])).get(asked.id)!;
    const [intent] = await tx.query<IntentRow[]>(
      `SELECT * FROM intent WHERE id = $1 AND status = 'planned' AND outputs = $2::jsonb FOR UPDATE`,
      [asked.id, JSON.stringify(asked.outputs)],
    );
    // Dropped or changed while a node was asked: its row may want nothing of it any more.
    if (!intent) return 'ended';
    if (fault !== null) throw new DomainError('INTENT_MISMATCH', fault);
    if (isFirstBy(answer, intent) && (await isBehind(tx, intent))) {
      await forgetEstimates(tx, [intent]);
      return { reason: waitsForFirst };
    }
    const { asked: askedOf, refused } = kindOf(intent);
    let message = refusedMessage;
    if (answer.state === 'done') {
      const charged = await askedOf?.(tx, intent);
      const how = charged ? await chargeGas(tx, intent, charged, answer.gas) : null;
      if (how?.state !== 'unpaid') {
        await keepEstimates(tx, [{ intent, gas: answer.gas, borne: how?.borne ?? null }]);
        return how?.state === 'lower' ? 'lower' : 'done';
      }
      message = how.message;
    } else if (answer.state !== 'reverts') return { reason: answer.reason };
    if (refused) {
      await refused(tx, intent, message);
      const [left] = await tx.query<unknown[]>(`SELECT FROM intent WHERE id = $1 AND status = 'planned'`, [intent.id]);
      return left ? { reason: message } : 'ended';
    }
    if (isBatch(intent)) {
      await endIntent(tx, intent.id, ['planned']);
      await disband(tx, intent.id, 'a transfer of it would be reverted');
      return 'ended';
    }
    const { currency, from_address: from, outputs, payment_id: paymentId } = intent;
    const reason = answer.state === 'reverts' ? answer.reason : message;
    const details = { intentId: intent.id, paymentId, currency, from, to: outputs[0]!.address, reason };
    await openIncidentAgain(tx, { ...refusalOf(intent), details });
    return { reason: refusedMessage };
  });

/** What a merchant reads of a transfer that cannot succeed. */
const refusedMessage =
  'The address does not take this transfer: it would be reverted. Nothing was sent. Use another address';

/** A top-up brings what the transfers that it was planned for take at their highest price. null where none is left, and
 *  it is dropped; 'early' while one of them has no estimate and could have one; as it was planned where they are
 *  signed. */
const sized = (
  { db }: GasDeps,
  owner: IntentOwner,
  topUpId: string,
  waits: ReadonlyMap<string, string>,
): Promise<IntentRow | 'early' | null> =>
  db.transaction(async (tx) => {
    const [topUp] = await tx.query<IntentRow[]>(
      `SELECT * FROM intent WHERE id = $1 AND status = 'planned' FOR UPDATE`,
      [topUpId],
    );
    if (!topUp) return null;
    const buys = transfersOf(topUp, await intentsOwnedBy(tx, owner));
    if (buys.length && buys.every(({ status }) => status === 'dead')) {
      await endIntent(tx, topUp.id, ['planned']);
      return null;
    }
    const open = buys.filter(({ status }) => status === 'planned');
    if (!open.length) return topUp;
    const needed = neededFor(open, (one) => waits.get(one.id) === waitsForFirst);
    if (needed === null) return 'early';
    const { address } = topUp.outputs[0]!;
    const left = open.every(isTopUpExact) ? await leftOfTopUps(tx, owner, address) : 0n;
    const outputs = [{ address, units: (needed > left ? needed - left : 1n).toString() }];
    await tx.query('UPDATE intent SET outputs = $2 WHERE id = $1', [topUp.id, JSON.stringify(outputs)]);
    return { ...topUp, outputs };
  });
