import type { DataSource, EntityManager } from 'typeorm';
import { recordAct, type Actor } from '../../db/access/audit-log';
import { limitsOf, scopesOf } from '../../db/limits/outbound';
import { idInLink, linkToken } from '../../db/sealing';
import {
  approveChange,
  dueChanges,
  endChange,
  findChange,
  insertChange,
  isDue,
  markApplied,
  openChangeOf,
  wasAppliedWithin,
  type SettlementChangeRow,
} from '../../db/wallets/settlement-changes';
import { lockWallet, normalSettlement, setSettlement, type WalletRow } from '../../db/wallets/wallets';
import type { ChainCodec } from '../../domain/chains/chain';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { settlementAppliedMail, settlementChangeMail } from '../../domain/mail/mail';
import { checkSecondPerson, type Approver } from '../access/second-person';
import { notifyAdmins } from '../mail/notify-admins';
import { emitWalletEvent } from './wallet-event';

/** Where settled money goes is changed like the whitelist: after the merchant's cooling-off and, where a sum takes two
 *  people, by two. All admins get a link that stops it, also for a week after it counts. Contract: G6. */

export type SettlementDeps = Readonly<{ config: Pick<Config, 'SECRETS_KEY' | 'CHECKOUT_URL'> }>;
const stoppableDays = 7;
const purpose = 'settlement-stop';

const stopUrl = ({ config }: SettlementDeps, id: string): string =>
  `${config.CHECKOUT_URL}/w/${linkToken(config.SECRETS_KEY, purpose, id)}`;

const actorOfChange = (change: SettlementChangeRow): Actor => ({
  kind: 'user',
  id: change.requested_by,
  name: change.requested_by_name,
  ip: 'worker',
  requestId: '',
});

/** Whether any limit on the merchant's money takes two people. */
async function takesTwoPeople(tx: EntityManager, merchantId: string): Promise<boolean> {
  for (const { scope } of scopesOf(merchantId)) if ((await limitsOf(tx, scope)).approvalUsd !== null) return true;
  return false;
}

/** Asks for another address of a locked wallet; it counts at once where nothing else is set. A change that waits is
 *  replaced. Throws INVALID_ADDRESS. */
export async function askSettlement(
  tx: EntityManager,
  deps: SettlementDeps &
    Readonly<{ codec: Pick<ChainCodec, 'normalise' | 'refusalOf' | 'network'>; merchantName: string }>,
  wallet: WalletRow,
  address: string,
  by: Readonly<{ id: string; email: string; displayName: string }>,
  actor: Actor,
): Promise<WalletRow> {
  const own = await normalSettlement(tx, deps.codec, address);
  await dropPending(tx, wallet);
  const needsSecondPerson = await takesTwoPeople(tx, wallet.merchant_id);
  const change = await insertChange(tx, wallet, { address: own, by, needsSecondPerson });
  await recordAct(tx, actor, {
    merchantId: wallet.merchant_id,
    action: 'wallet.settlement_asked',
    target: wallet.id,
    before: { settlementAddress: wallet.settlement_address, custody: wallet.custody },
    after: { settlementAddress: own, activeAt: change.active_at.toISOString(), needsSecondPerson },
  });
  const isNow = !needsSecondPerson && (await isDue(tx, change.id));
  await notifyAdmins(tx, deps, wallet.merchant_id, (to) =>
    settlementChangeMail(to, {
      merchantName: deps.merchantName,
      by: by.displayName,
      currency: wallet.currency,
      address: own,
      before: wallet.settlement_address,
      activeAt: isNow ? null : change.active_at,
      needsSecondPerson,
      stopUrl: stopUrl(deps, change.id),
    }),
  );
  return isNow ? apply(tx, wallet, change, actor) : wallet;
}

async function apply(
  tx: EntityManager,
  wallet: WalletRow,
  change: SettlementChangeRow,
  actor: Actor,
): Promise<WalletRow> {
  if (!(await markApplied(tx, change.id))) throw new DomainError('SETTLEMENT_STATE');
  const after = await setSettlement(tx, wallet, { address: change.address, custody: 'external' });
  await recordAct(tx, actor, {
    merchantId: wallet.merchant_id,
    action: 'wallet.repointed',
    target: wallet.id,
    before: { settlementAddress: wallet.settlement_address, custody: wallet.custody },
    after: { settlementAddress: after.settlement_address, custody: after.custody },
  });
  await emitWalletEvent(tx, 'wallet.settlement_changed', after, wallet);
  return after;
}

/** Lets a change of a locked wallet count, once it has cooled off. Throws SETTLEMENT_STATE, SECOND_PERSON,
 *  APPROVER_TOO_NEW. */
export async function approveSettlement(
  tx: EntityManager,
  wallet: WalletRow,
  by: Approver,
  actor: Actor,
): Promise<WalletRow> {
  const change = await openChangeOf(tx, wallet.id);
  if (change?.status !== 'awaiting_approval') throw new DomainError('SETTLEMENT_STATE');
  await checkSecondPerson(tx, 'approveSettlement', change.requested_by, by);
  const approved = await approveChange(tx, change.id, by);
  await recordAct(tx, actor, {
    merchantId: wallet.merchant_id,
    action: 'wallet.settlement_approved',
    target: wallet.id,
    after: { settlementAddress: change.address },
  });
  return (await isDue(tx, change.id)) ? apply(tx, wallet, approved!, actor) : wallet;
}

/** Ends a change of a locked wallet that does not count yet. Throws SETTLEMENT_STATE. */
export async function rejectSettlement(tx: EntityManager, wallet: WalletRow, actor: Actor): Promise<void> {
  const change = await openChangeOf(tx, wallet.id);
  if (!change) throw new DomainError('SETTLEMENT_STATE');
  await endChange(tx, change.id, 'stopped');
  await recordStop(tx, change, actor);
}

/** A wallet that goes out of use takes what waits for it along. */
export async function dropPending(tx: EntityManager, wallet: WalletRow): Promise<void> {
  const change = await openChangeOf(tx, wallet.id);
  if (change) await endChange(tx, change.id, 'replaced');
}

const recordStop = (tx: EntityManager, change: SettlementChangeRow, actor: Actor): Promise<unknown> =>
  recordAct(tx, actor, {
    merchantId: change.merchant_id,
    action: 'wallet.settlement_stopped',
    target: change.wallet_id,
    before: { settlementAddress: change.address, status: change.status },
  });

/** The change that a mailed link is about. Throws STOP_LINK_NOT_FOUND. */
export async function changeOfLink(
  tx: EntityManager,
  { config }: SettlementDeps,
  token: string,
): Promise<SettlementChangeRow> {
  const id = idInLink(config.SECRETS_KEY, purpose, token);
  const change = id && (await findChange(tx, id));
  if (!change) throw new DomainError('STOP_LINK_NOT_FOUND');
  return change;
}

/** Stops a change by its mailed link, once: one that waits never counts; after one that counts, later payments settle
 *  to where they did before. Throws STOP_LINK_NOT_FOUND, SETTLEMENT_STATE. */
export async function stopSettlement(
  tx: EntityManager,
  deps: SettlementDeps,
  token: string,
  actor: Actor,
): Promise<SettlementChangeRow> {
  const named = await changeOfLink(tx, deps, token);
  const wallet = await lockWallet(tx, named.merchant_id, named.wallet_id).catch((error: unknown) => {
    throw error instanceof DomainError ? new DomainError('SETTLEMENT_STATE') : error;
  });
  const change = (await findChange(tx, named.id))!;
  const isApplied = change.status === 'applied';
  if (isApplied && wallet.settlement_address !== change.address) throw new DomainError('SETTLEMENT_STATE');
  if (isApplied && !(await wasAppliedWithin(tx, change.id, stoppableDays))) throw new DomainError('SETTLEMENT_STATE');
  const stopped = await endChange(tx, change.id, 'stopped');
  if (!stopped) throw new DomainError('SETTLEMENT_STATE');
  await recordStop(tx, change, actor);
  if (isApplied) {
    const to = { address: change.before_address, custody: change.before_custody };
    await emitWalletEvent(tx, 'wallet.settlement_changed', await setSettlement(tx, wallet, to), wallet);
  }
  return stopped;
}

/** Applies every change whose time has come; how many. Each in its own transaction, safe to repeat. */
export async function applyDueChanges(
  db: Pick<DataSource, 'transaction' | 'manager'>,
  deps: SettlementDeps,
): Promise<number> {
  let applied = 0;
  for (const { id, merchant_id, wallet_id } of await dueChanges(db.manager))
    await db.transaction(async (tx) => {
      const wallet = await lockWallet(tx, merchant_id, wallet_id);
      const change = await openChangeOf(tx, wallet.id);
      if (change?.id !== id || change.status !== 'cooling_off') return; // ended since
      const after = await apply(tx, wallet, change, actorOfChange(change));
      await notifyAdmins(tx, deps, merchant_id, (to) =>
        settlementAppliedMail(to, {
          currency: after.currency,
          address: after.settlement_address,
          before: wallet.settlement_address,
          by: change.requested_by_name,
        }),
      );
      applied += 1;
    });
  return applied;
}
