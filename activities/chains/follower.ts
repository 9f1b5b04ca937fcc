import { ApplicationFailure, Context } from '@temporalio/activity';
import type { DataSource, EntityManager } from 'typeorm';
import { assetOf, isToken, networks } from '../../domain/chains/assets';
import type { ChainAdapter } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import { capitalJournal } from '../../domain/ledger/ledger';
import { compare, fromUnits, subtract } from '../../domain/money';
import { applyBlock, applyMempool, payingUs } from '../../db/chains/chain';
import { storeFee } from '../../db/chains/fees';
import { confirmDeposit, expectedHolding, maturingDeposits, type Maturing } from '../../db/chains/maturing';
import { finalizeAttempts, maturingAttempts } from '../../db/chains/attempts';
import { tellPayouts } from '../../db/chains/notify';
import { markScanned } from '../../db/chains/cursor';
import { commonAncestor } from '../../db/chains/cursor';
import { readCursor, startCursor, type Cursor } from '../../db/chains/cursor';
import { setHome } from '../../db/payments/deposits';
import { failPoint } from '../../db/fail-point';
import { ensure } from '../../db/ledger/ledger';
import { databaseNow, requiredDepth } from '../../db/payments/payments';
import { conversionAt, tellConversion } from '../../db/conversions/swaps';
import { inParallel } from '../../chains/json-rpc';
import { restUntil } from '../rest';
import { rollBack } from '../../txmanager/reorganise';

export type FollowerDeps = Readonly<{
  db: DataSource;
  adapter: ChainAdapter;
  config: Config;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
}>;

const feeEveryMs = 10_000;
/** Transactions of ours that become final together, and questions to the node at once. */
const attemptsAtOnce = 64;
const lookUpsAtOnce = 8;
/** An unconfirmed deposit that no mempool has shown for this long counts as gone. */
const missingLimitSeconds = 600;

/** Follows one network for as long as its worker lives. Cursor and deposits move in one transaction, and the cursor moves only from
 *  where this follower left it, so that a second one running by accident stops at its first block. */
export const followerActivities = ({ db, adapter, config, log }: FollowerDeps) => {
  const network = adapter.network;
  const { reorgWindow, hasMempool } = networks[network];
  const depth = requiredDepth(network, config.confirmations);

  /** Steps back until the chain and our memory agree. */
  async function stepBack(from: Cursor): Promise<Cursor> {
    const ancestor = await commonAncestor(db.manager, network, from, (height) => adapter.blockHash(height));
    log.warn({ network, from: from.height, to: ancestor.height }, 'Reorganisation');
    await db.transaction((tx) => rollBack(tx, network, from, ancestor));
    await failPoint('follower.afterRewind');
    return ancestor;
  }

  /** Takes every block up to the head; returns where it stands. */
  async function catchUp(head: { height: number; hash: string }, goOn: () => void): Promise<Cursor> {
    let cursor = await readCursor(db.manager, network);
    if (!cursor) {
      await startCursor(db.manager, network, head);
      return head;
    }
    if ((await adapter.blockHash(cursor.height)) !== cursor.hash) cursor = await stepBack(cursor);
    while (cursor.height < head.height) {
      goOn();
      const block = await adapter.readBlock(cursor.height + 1);
      if (!block) break;
      const from: Cursor = cursor;
      if (block.parentHash !== from.hash) {
        cursor = await stepBack(from);
        continue;
      }
      await db.transaction((tx) => applyBlock(tx, network, from, block, reorgWindow));
      await failPoint('follower.afterCommit');
      cursor = { height: block.height, hash: block.hash };
    }
    return cursor;
  }

  /** What really arrived: the transfer read again by its block's hash, and for tokens the holding it left behind. null: look again
   *  later. */
  async function verified(deposit: Maturing, height: number): Promise<string | null> {
    if (deposit.currency === null) return deposit.amount;
    const units = await adapter.verify(
      { txId: deposit.tx_id, index: deposit.out_index, to: deposit.address, currency: deposit.currency },
      deposit.block_hash,
    );
    if (units === null) return null;
    const stated = fromUnits(units, assetOf(deposit.currency).decimals);
    if (!isToken(deposit.currency) || deposit.role !== 'deposit') return stated;
    const held = await adapter.holding(deposit.address, deposit.currency, height);
    if (held === null) return stated;
    const expected = await expectedHolding(db.manager, network, deposit.address, deposit.currency, deposit.id);
    const arrived = subtract(fromUnits(held, assetOf(deposit.currency).decimals), expected);
    if (compare(arrived, stated) >= 0) return stated;
    log.warn({ network, depositId: deposit.id, stated, arrived }, 'A token transfer moved less than it states');
    return compare(arrived, '0') > 0 ? arrived : '0';
  }

  async function bookOwnMoney(tx: EntityManager, deposit: Maturing, amount: string): Promise<void> {
    if (deposit.role === 'deposit' || deposit.home !== null || deposit.currency === null) return;
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
    await setHome(tx, [deposit.id], 'capital');
    // While it is open, its workflow looks by itself.
    if (conversion && conversion.status !== 'processing') await tellConversion(tx, conversion);
  }

  /** Deposits and our own transactions that reached the depth at which they count. */
  async function mature(cursor: Cursor, goOn: () => void): Promise<void> {
    const deepest = cursor.height - depth + 1;
    for (const deposit of await maturingDeposits(db.manager, network, deepest)) {
      goOn();
      const amount = await verified(deposit, cursor.height);
      if (amount === null) {
        log.warn(
          { network, depositId: deposit.id, block: deposit.block_hash },
          'A deposit is not in the block it was seen in; waiting',
        );
        continue;
      }
      await db.transaction(async (tx) => {
        if ((await confirmDeposit(tx, deposit, amount)) && compare(amount, '0') > 0)
          await bookOwnMoney(tx, deposit, amount);
      });
      await failPoint('follower.afterConfirm');
    }
    const attempts = await maturingAttempts(db.manager, network, deepest);
    for (let n = 0; n < attempts.length; n += attemptsAtOnce) {
      goOn();
      const some = attempts.slice(n, n + attemptsAtOnce);
      const sightings = await inParallel(some, lookUpsAtOnce, (attempt) => adapter.lookUp(attempt.tx_id));
      await db.transaction(async (tx) => {
        const ends = some.flatMap((attempt, index) => {
          const sighting = sightings[index]!;
          return sighting.state === 'mined' && sighting.blockHash === attempt.block_hash
            ? [{ attempt, success: sighting.success, feeUnits: sighting.feeUnits }]
            : [];
        });
        await tellPayouts(tx, await finalizeAttempts(tx, ends));
      });
    }
  }

  return {
    /** Never returns while its worker lives. Its worker beats for it; Temporal starts it elsewhere when the beats stop. */
    async followChain(): Promise<void> {
      const context = Context.current();
      const goOn = (): void => {
        if (context.cancellationSignal.aborted)
          throw ApplicationFailure.retryable('Its worker ends, or Temporal has given it to another', 'FOLLOWER_MOVES');
      };
      let known: ReadonlySet<string> = new Set();
      let feeTakenAt = 0;
      for (;;) {
        goOn();
        const lookedAt = await databaseNow(db.manager);
        const head = await adapter.head();
        const cursor = await catchUp(head, goOn);
        if (hasMempool) {
          const pool = await adapter.readMempool(known);
          // A payer who was in time is in time, also where nobody looked just then.
          const since = await adapter.pooledSince(await payingUs(db, network, pool.transfers));
          await db.transaction((tx) => applyMempool(tx, network, { ...pool, since }, missingLimitSeconds));
          known = pool.ids;
        }
        await mature(cursor, goOn);
        if (Date.now() - feeTakenAt > feeEveryMs) {
          await storeFee(db.manager, network, await adapter.estimateFee());
          feeTakenAt = Date.now();
        }
        // Only what has been taken whole counts as scanned: a head we could not reach yet postpones expiry.
        if (cursor.height >= head.height) await markScanned(db.manager, network, lookedAt, head.height);
        await restUntil(config.POLL_INTERVAL_MS, context.cancellationSignal);
      }
    },
  };
};
