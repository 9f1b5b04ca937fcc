import { randomBytes } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { networkOf } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { findPayerBrowser, isMoneySeen, storePayerBrowser } from '../../db/payments/payer-browsers';
import { lockPayment } from '../../db/payments/payments';
import { tokenHashes } from '../../db/sealing';
import { receiverFor, type RefundDeps } from '../refunds/terms';

export type PayerAct = Readonly<{ payerToken?: string; address?: string; destinationTag?: string }>;

/** What a browser's token may be kept as, the newest way first. */
export const browsersOf = (secretsKey: string, paymentId: string, token: string): string[] =>
  tokenHashes(secretsKey, `payer/${paymentId}/${token}`);

/** Makes a browser the payer's, by its act, and keeps the refund address that is left in it. Only before the first
 *  deposit is seen: what money has come is not up for a claim. Returns the token of the browser, a new one where it
 *  brings none of ours. Throws REFUND_ADDRESS_LOCKED, INVALID_ADDRESS, VALIDATION_ERROR, CURRENCY_NOT_AVAILABLE.
 *  docs/decisions/0024. */
export async function markPayer(
  tx: EntityManager,
  deps: Pick<RefundDeps, 'codecs'> & Readonly<{ secretsKey: string }>,
  paymentId: string,
  act: PayerAct,
): Promise<string> {
  const payment = await lockPayment(tx, paymentId);
  const isOpen = payment.status === 'AWAITING_CURRENCY' || payment.status === 'WAITING';
  if (!isOpen || (await isMoneySeen(tx, paymentId))) throw new DomainError('REFUND_ADDRESS_LOCKED');
  const known =
    act.payerToken === undefined
      ? null
      : await findPayerBrowser(tx, paymentId, browsersOf(deps.secretsKey, paymentId, act.payerToken));
  const token = known === null ? randomBytes(20).toString('hex') : act.payerToken!;
  const browser = known ?? browsersOf(deps.secretsKey, paymentId, token)[0]!;
  if (!(await storePayerBrowser(tx, { paymentId, browser }, await addressIn(tx, deps, payment.currency, act))))
    throw new DomainError('REFUND_ADDRESS_LOCKED');
  await tx.query("SELECT pg_notify('payment_changed', $1)", [paymentId]);
  return token;
}

/** The address of an act, as its network spells it; null where there is none. */
async function addressIn(
  tx: EntityManager,
  deps: Pick<RefundDeps, 'codecs'>,
  currency: string | null,
  { address, destinationTag }: PayerAct,
) {
  if (address === undefined) return null;
  if (currency === null) throw new DomainError('VALIDATION_ERROR', 'address needs a currency to be chosen first');
  const network = networkOf(currency).id;
  const tag = destinationTag === undefined ? {} : { destinationTag };
  const receiver = await receiverFor(tx, deps, { currency, network }, { address, ...tag });
  return { network, address: receiver.address, destinationTag: receiver.destination_tag };
}
