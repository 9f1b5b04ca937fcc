import type { EntityManager } from 'typeorm';
import { assetOf, isToken, networks, type NetworkId } from '../../domain/chains/assets';
import { capitalJournal } from '../../domain/ledger/ledger';
import { compare, fromUnits, subtract } from '../../domain/money';
import type { Sighting } from '../../domain/chains/chain';
import { endsWell } from '../../domain/txmanager/differing';
import { movedBy, outcomeOf } from '../../domain/txmanager/outcome';
import {
  finalizeAttempts,
  maturingAttempts,
  noteDiffering,
  noteOutcomes,
  type Difference,
  type OpenAttempt,
  type Outcome,
} from '../../db/chains/attempts';
import { openIncidentAgain, resolveIncidents, type NewIncident } from '../../db/incidents';
import type { Cursor } from '../../db/chains/cursor';
import { reverseUnexplained } from '../../db/audit/surplus';
import { expectedHolding } from '../../db/chains/found-by-balance';
import { confirmDeposit, maturingDeposits, noteUnverified, type Maturing } from '../../db/chains/arrivals';
import { notifyPayouts } from '../../db/chains/notify';
import { notifyConversion } from '../../db/conversions/conversions';
import { conversionAt } from '../../db/conversions/swaps';
import { failPoint } from '../../db/fail-point';
import { ensure } from '../../db/ledger/ledger';
import { setAllocation } from '../../db/payments/deposits';
import { requiredDepth } from '../../db/payments/payments';
import { bookUnclaimed } from '../../db/recovery/unclaimed';
import { inParallel, RpcError } from '../../chains/json-rpc';
import type { FollowerDeps, GoOn } from './deps';
import { isDerived } from './derived';

/** Transactions of ours that become final together, and questions to the node at once. */
const attemptsAtOnce = 64;
const lookUpsAtOnce = 8;

/** Where a node alone says what is final, other money is read in a final block by `verify`. */
async function isFinal(
  { network, finalHeight, finalHash }: FollowerDeps['adapter'],
  { height, block_hash }: Pick<Maturing, 'height' | 'block_hash'>,
): Promise<boolean> {
  if (!networks[network].expiring) return true;
  if (finalHash) return (await finalHash(height)) === block_hash;
  const last = await finalHeight();
  return last === null || height <= last;
}

/** What really arrived: the transfer read again by its block's hash, and for tokens, and for what was found by balance,
 *  the holding that it left behind. `wait`: why nobody can tell yet. */
async function verified(
  { db, adapter, log }: FollowerDeps,
  deposit: Maturing,
  height: number,
): Promise<string | Readonly<{ wait: string }>> {
  const { network } = adapter;
  const { address, currency } = deposit;
  if (currency === null) return deposit.amount;
  if (!(await isDerived(db.manager, adapter, address))) return { wait: 'Our key does not derive its address' };
  const isFoundByBalance = deposit.found_by === 'balance';
  const { decimals } = assetOf(currency);
  let stated = deposit.amount;
  if (!isFoundByBalance) {
    const tag = deposit.stated_tag === null ? {} : { tag: deposit.stated_tag };
    const transfer = { txId: deposit.tx_id, index: deposit.out_index, to: address, ...tag, currency };
    const units = await adapter.verify(transfer, deposit.block_hash);
    if (units === null) return { wait: 'It is not in the block it was seen in' };
    // What nobody can trace is verified as it was stored, by what it left on its address.
    if (units !== 'untraceable') stated = fromUnits(units, decimals);
    if (units !== 'untraceable' && (!isToken(currency) || deposit.role !== 'deposit')) return stated;
  }
  if (isFoundByBalance && !(await isFinal(adapter, deposit))) return { wait: 'Its block is not final' };
  const held = await adapter.holding(address, currency, height);
  if (held === null) return stated;
  const expected = await expectedHolding(db.manager, { network, address, currency }, height, deposit.id);
  if (expected === null) return { wait: 'A transaction from its address is not final' };
  const arrived = subtract(fromUnits(held, decimals), expected);
  if (compare(arrived, stated) >= 0) return stated;
  log.warn({ network, depositId: deposit.id, stated, arrived }, 'Less arrived than was stated');
  return compare(arrived, '0') > 0 ? arrived : '0';
}

/** What came to an address of ours that is no payment's. */
async function bookOwnMoney(tx: EntityManager, network: NetworkId, deposit: Maturing, amount: string): Promise<void> {
  if (deposit.role === 'deposit' || deposit.allocation !== null || deposit.currency === null) return;
  await reverseUnexplained(tx, deposit.currency, deposit.height);
  const conversion = await conversionAt(tx, network, deposit.address);
  await ensure(
    tx,
    capitalJournal({
      network,
      txId: deposit.tx_id,
      index: deposit.out_index,
      currency: deposit.currency,
      amount,
      to: deposit.role === 'gas' ? 'A:gas' : 'A:treasury',
      from: conversion ? 'A:provider' : 'Q:capital',
    }),
  );
  await setAllocation(tx, [deposit.id], 'capital');
  // While it is open, its workflow looks by itself.
  if (conversion && conversion.status !== 'processing') await notifyConversion(tx, conversion);
}

/** Deposits and our own transactions that reached the depth at which they count. */
export async function mature(deps: FollowerDeps, cursor: Cursor, goOn: GoOn): Promise<void> {
  const deepest = cursor.height - requiredDepth(deps.adapter.network, deps.config.confirmations) + 1;
  // First what left: what arrived may be verified by what is left on its address.
  await matureAttempts(deps, deepest, goOn);
  await matureDeposits(deps, deepest, goOn);
}

async function matureDeposits(deps: FollowerDeps, deepest: number, goOn: GoOn): Promise<void> {
  const { db, adapter, log } = deps;
  const { network } = adapter;
  for (const deposit of await maturingDeposits(db.manager, network, deepest)) {
    goOn();
    // A node that refuses to tell of one must not keep the others back.
    const amount = await verified(deps, deposit, deepest).catch((error: unknown) => {
      if (error instanceof RpcError) return { wait: error.message };
      throw error;
    });
    if (typeof amount !== 'string') {
      const reason = amount.wait;
      log.warn({ network, depositId: deposit.id, block: deposit.block_hash, reason }, 'A deposit is not verified');
      await db.transaction((tx) => noteUnverified(tx, deposit, reason));
      continue;
    }
    await db.transaction(async (tx) => {
      if ((await confirmDeposit(tx, deposit, amount)) && compare(amount, '0') > 0)
        await bookOwnMoney(tx, network, deposit, amount);
      await bookUnclaimed(tx, deposit.id);
    });
    await failPoint('follower.afterConfirm');
  }
}

/** So many blocks after it counts, operators are told of a transaction of ours that its node does not know. */
const blocksUntilIncident = 20;

/** It is in a block by our rows, and the node has no word of it, or another block. It stays as it is. */
const noteUnseen = (
  tx: EntityManager,
  { intent_id, tx_id, block_hash, height }: OpenAttempt,
  { state }: Sighting,
): Promise<unknown> =>
  openIncidentAgain(tx, {
    kind: 'attempt-unverified',
    subject: { kind: 'intent', id: intent_id },
    details: { intentId: intent_id, txId: tx_id, blockHash: block_hash, height, state },
  });

const aboutDifference = ({ intent_id, tx_id }: OpenAttempt) =>
  ({
    kind: 'transfer-differs',
    subject: { kind: 'intent', id: intent_id },
    distinction: tx_id,
  }) satisfies Partial<NewIncident>;

/** A token moved something else than was signed: two operators say whether that has paid. */
const noteDifference = (tx: EntityManager, { attempt, moves }: Difference): Promise<unknown> => {
  const { intent_id: intentId, tx_id: txId, currency, outputs } = attempt;
  return openIncidentAgain(tx, {
    ...aboutDifference(attempt),
    details: { intentId, txId, currency, outputs, moves },
  });
};

/** Ours are done where they are deep enough and, on networks that have finality, final: what they pay is credited then.
 *  docs/decisions/0034-finality.md */
async function matureAttempts({ db, adapter }: FollowerDeps, deepest: number, goOn: GoOn): Promise<void> {
  const deep = await maturingAttempts(db.manager, adapter.network, deepest);
  const finalHeight = deep.length ? await adapter.finalHeight() : null;
  // Blocks of that height may be others in the view of all blocks.
  const hashes = new Map<number, string | null>();
  if (adapter.finalHash && finalHeight !== null)
    for (const height of new Set(deep.map((attempt) => attempt.height)))
      if (height <= finalHeight) hashes.set(height, await adapter.finalHash(height));
  const isFinal = ({ height, block_hash }: OpenAttempt): boolean =>
    finalHeight === null || (height <= finalHeight && (!adapter.finalHash || hashes.get(height) === block_hash));
  const attempts = deep.filter((attempt) => isFinal(attempt) || !attempt.is_noted);
  for (let n = 0; n < attempts.length; n += attemptsAtOnce) {
    goOn();
    const some = attempts.slice(n, n + attemptsAtOnce);
    const sightings = await inParallel(some, lookUpsAtOnce, (attempt) => adapter.lookUp(attempt.tx_id));
    await db.transaction(async (tx) => {
      const [outcomes, differences]: [Outcome[], Difference[]] = [[], []];
      for (const [index, attempt] of some.entries()) {
        const sighting = sightings[index]!;
        if (sighting.state !== 'mined' || sighting.blockHash !== attempt.block_hash) {
          if (deepest - attempt.height >= blocksUntilIncident) await noteUnseen(tx, attempt, sighting);
          continue;
        }
        const { feeUnits, moves } = sighting;
        const success = successOf(attempt, sighting);
        if (success === null)
          differences.push({ attempt, moves: movedBy(moves, attempt), feeUnits, isFinal: isFinal(attempt) });
        else outcomes.push({ attempt, success, feeUnits });
      }
      for (const difference of differences) await noteDifference(tx, difference);
      await noteDiffering(tx, differences);
      await endNow(tx, outcomes, isFinal);
    });
  }
}

/** Did it move what it was for? As operators have said of it where it differs; null: they have not. */
function successOf(attempt: OpenAttempt, sighting: Extract<Sighting, { state: 'mined' }>): boolean | null {
  if (attempt.decision !== null) return endsWell(attempt.decision, attempt.kind);
  const outcome = outcomeOf(sighting, attempt);
  return outcome === 'differs' ? null : outcome === 'done';
}

/** Ends what a final block has; of the rest it is noted what it took. */
async function endNow(
  tx: EntityManager,
  outcomes: readonly Outcome[],
  isFinal: (attempt: OpenAttempt) => boolean,
): Promise<void> {
  // Decided, or its node does not say any more that it differs.
  const differed = outcomes.filter(({ attempt }) => attempt.differs).map(({ attempt }) => aboutDifference(attempt));
  if (differed.length) await resolveIncidents(tx, differed);
  await noteOutcomes(
    tx,
    outcomes.filter(({ attempt }) => !isFinal(attempt)),
  );
  const ended = outcomes.filter(({ attempt }) => isFinal(attempt));
  await notifyPayouts(tx, await finalizeAttempts(tx, ended));
}
