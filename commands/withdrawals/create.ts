import type { EntityManager } from 'typeorm';
import { estimateWithdrawal, type Deps, type WithdrawalAsk } from './estimate';
import { ensure } from '../../db/ledger/ledger';
import { checkLimits, countOutgoing, releaseLimitUse } from '../limits/outbound-check';
import { knownNode } from '../../db/lightning/node';
import { isKnownHash, planInvoice } from '../../db/lightning/payments';
import { databaseNow } from '../../db/payments/payments';
import type { Queryable } from '../../db/query';
import { asBalanceError, contentHash } from '../../db/records';
import { refuseOurs } from '../../db/wallets/wallets';
import { isWhitelisted } from '../../db/wallets/whitelist';
import { shown, holdOf, requestWithdrawal, emitWithdrawalEvent } from '../../db/withdrawals/withdrawals';
import { readReceiver } from '../../domain/chains/receivers';
import { assetOf, isByLightning, networkOf } from '../../domain/chains/assets';
import { readTag } from '../../domain/chains/tags';
import { DomainError } from '../../domain/errors';
import { newId } from '../../domain/ids';
import { holdJournal } from '../../domain/ledger/ledger';
import {
  checkPayable,
  givenBefore,
  lightningAddressIn,
  invoiceText,
  type PayableInvoice,
} from '../../domain/lightning/receiver';
import type { ShownWithdrawal, WithdrawalRow } from '../../domain/withdrawals/withdrawal';

export type Requester = Readonly<{ id: string; email: string }>;
const hashOf = (ask: WithdrawalAsk): string => {
  const { currency, amount, feeMode, whitelistId, address, destinationTag, note } = ask;
  return contentHash([currency.toUpperCase(), amount, feeMode, whitelistId, address, destinationTag, note]);
};

type Destined = Readonly<{ address: string; destinationTag: string | null; invoice?: PayableInvoice }>;

/** Where it goes: an entry of the whitelist that counts now, by its id or by its address; by Lightning, the node that
 *  has signed the invoice. Throws INVALID_ADDRESS, ADDRESS_NOT_WHITELISTED, VALIDATION_ERROR. */
async function destination(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  { currency, net }: Readonly<{ currency: string; net: string }>,
  ask: WithdrawalAsk,
): Promise<Destined> {
  if (isByLightning(currency) && !namesAddress(ask)) return invoiced(tx, deps, { merchantId, currency, net }, ask);
  if ((ask.whitelistId === undefined) === (ask.address === undefined))
    throw new DomainError('VALIDATION_ERROR', 'Either whitelistId or address is needed');
  const asset = assetOf(currency);
  if (ask.whitelistId !== undefined) {
    if (ask.destinationTag !== undefined)
      throw new DomainError('VALIDATION_ERROR', 'destinationTag comes with the whitelist entry');
    const [entry] = await tx.query<Array<{ address: string; destination_tag: string | null }>>(
      `SELECT address, destination_tag FROM whitelist_entry WHERE id = $1 AND merchant_id = $2 AND type = 'wallet'
         AND currency = $3
          AND active_at <= now() AND removed_at IS NULL FOR SHARE`,
      [ask.whitelistId, merchantId, currency],
    );
    if (!entry) throw new DomainError('ADDRESS_NOT_WHITELISTED');
    if (isByLightning(currency) && lightningAddressIn(entry.address) === null)
      throw new DomainError('VALIDATION_ERROR', onlyByInvoice);
    return { address: entry.address, destinationTag: readTag(asset, entry.destination_tag) };
  }
  const { network } = asset;
  const { address, destinationTag } = isByLightning(currency)
    ? { address: lightningAddressIn(ask.address!)!, destinationTag: null }
    : readReceiver(deps.codecs[network], asset, { ...ask, address: ask.address! });
  await refuseOurs(tx, network, address);
  if (!(await isWhitelisted(tx, { merchantId, currency, address, destinationTag }, await databaseNow(tx))))
    throw new DomainError('ADDRESS_NOT_WHITELISTED');
  return { address, destinationTag };
}

async function invoiced(
  tx: EntityManager,
  { lightning }: Deps,
  { merchantId, currency, net }: Readonly<{ merchantId: string; currency: string; net: string }>,
  ask: WithdrawalAsk,
): Promise<Destined> {
  if (!lightning) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  if (ask.address === undefined || ask.whitelistId !== undefined || ask.destinationTag !== undefined)
    throw new DomainError('VALIDATION_ERROR', onlyByInvoice);
  const invoice = lightning.read(ask.address);
  const now = await databaseNow(tx);
  const node = await knownNode(tx);
  if (!node) throw new DomainError('CURRENCY_NOT_AVAILABLE');
  checkPayable(invoice, { net, network: lightning.network, ownKey: node.key, now });
  if (await isKnownHash(tx, invoice.hash)) throw new DomainError('INVALID_ADDRESS', givenBefore);
  if (!(await isWhitelisted(tx, { merchantId, currency, address: invoice.payee, destinationTag: null }, now)))
    throw new DomainError('ADDRESS_NOT_WHITELISTED');
  return { address: invoice.payee, destinationTag: null, invoice };
}

const onlyByInvoice = 'By Lightning, give an invoice, or a Lightning address of the whitelist';

/** Whether it goes to an entry of the whitelist itself, and not to an invoice. */
const namesAddress = ({ whitelistId, address }: WithdrawalAsk): boolean =>
  address === undefined ? whitelistId !== undefined : lightningAddressIn(address) !== null;

/** What the node is to pay for it. An invoice that somebody else has given meanwhile is refused with all of it. */
async function planInvoicePayment(tx: EntityManager, row: WithdrawalRow, invoice: PayableInvoice, text: string) {
  const given = { text: invoiceText(text), invoice };
  if (!(await planInvoice(tx, 'withdrawal', row, given))) throw new DomainError('INVALID_ADDRESS', givenBefore);
}

/** The first withdrawal with this key, or null. Throws IDEMPOTENCY_KEY_REUSED where it was asked for differently. */
export async function knownWithdrawal(
  db: Queryable,
  merchantId: string,
  idempotencyKey: string,
  ask: WithdrawalAsk,
): Promise<ShownWithdrawal | null> {
  const [row] = await db.query<ShownWithdrawal[]>(
    `SELECT ${shown} FROM withdrawal w WHERE merchant_id = $1 AND idempotency_key = $2`,
    [merchantId, idempotencyKey],
  );
  if (!row) return null;
  if (row.body_hash !== hashOf(ask)) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
  return row;
}

/** Refuses what `openWithdrawal` would refuse, before a factor is spent on it; holds nothing. Throws the same. */
export async function checkWithdrawal(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  ask: WithdrawalAsk,
): Promise<void> {
  const estimate = await estimateWithdrawal(tx, deps, merchantId, ask);
  const { currency, gross, covered } = estimate;
  await destination(tx, deps, merchantId, estimate, ask);
  if (!covered) throw new DomainError('INSUFFICIENT_BALANCE');
  const amounts = [{ currency, amount: gross }];
  await checkLimits(tx, { merchantId, amounts, rateMaxAgeSeconds: deps.rateMaxAgeSeconds });
}

/** Opens a withdrawal and holds its money, in the caller's transaction. Above a limit it waits for a second person.
 *  Throws CURRENCY_NOT_AVAILABLE, BELOW_MINIMUM, RATE_UNAVAILABLE, INVALID_ADDRESS, ADDRESS_NOT_WHITELISTED,
 *  VALIDATION_ERROR, EGRESS_FROZEN, EGRESS_LIMIT, INSUFFICIENT_BALANCE, IDEMPOTENCY_KEY_REUSED. */
export async function openWithdrawal(
  tx: EntityManager,
  deps: Deps,
  merchantId: string,
  ask: WithdrawalAsk,
  by: Requester,
  idempotencyKey: string,
): Promise<{ row: ShownWithdrawal; replayed: boolean }> {
  const known = await knownWithdrawal(tx, merchantId, idempotencyKey, ask);
  if (known) return { row: known, replayed: true };
  const { currency, ...split } = await estimateWithdrawal(tx, deps, merchantId, ask);
  const { net } = split;
  const { address, destinationTag, invoice } = await destination(tx, deps, merchantId, { currency, net }, ask);
  const id = newId();
  const { needsApproval } = await countOutgoing(tx, {
    kind: 'withdrawal',
    ref: id,
    merchantId,
    amounts: [{ currency, amount: split.gross }],
    rateMaxAgeSeconds: deps.rateMaxAgeSeconds,
  });
  const now = await databaseNow(tx);
  const columns = {
    id,
    merchant_id: merchantId,
    idempotency_key: idempotencyKey,
    body_hash: hashOf(ask),
    status: needsApproval ? 'awaiting_approval' : 'pending',
    currency,
    network: networkOf(currency).id,
    fee_mode: ask.feeMode,
    amount: split.amount,
    network_fee: split.networkFee,
    gross_amount: split.gross,
    net_amount: net,
    address,
    destination_tag: destinationTag,
    note: ask.note ?? null,
    requested_by: by.id,
    requested_by_name: by.email,
    needs_approval: needsApproval,
    approved_by: needsApproval ? null : by.id,
    approved_by_name: needsApproval ? null : by.email,
    approved_at: needsApproval ? null : now,
    created_at: now,
    updated_at: now,
  };
  const names = Object.keys(columns);
  const [row] = await tx.query<WithdrawalRow[]>(
    `INSERT INTO withdrawal (${names.join(', ')}) VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})
     ON CONFLICT (merchant_id, idempotency_key) DO NOTHING RETURNING *`,
    Object.values(columns),
  );
  if (!row) {
    await releaseLimitUse(tx, 'withdrawal', id);
    return { row: (await knownWithdrawal(tx, merchantId, idempotencyKey, ask))!, replayed: true };
  }
  if (invoice) await planInvoicePayment(tx, row, invoice, ask.address!);
  await asBalanceError(ensure(tx, holdJournal(holdOf(row))));
  if (row.status === 'pending') await requestWithdrawal(tx, row);
  await emitWithdrawalEvent(tx, row, 'withdrawal.created');
  return { row: { ...row, confirmations: 0 }, replayed: false };
}
