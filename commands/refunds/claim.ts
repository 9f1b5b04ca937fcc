import type { EntityManager } from 'typeorm';
import { isByLightning, type Currency, type NetworkId } from '../../domain/chains/assets';
import type { Explorers } from '../../domain/chains/chosen-chain';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import { invoiceText, type GivenInvoice } from '../../domain/lightning/receiver';
import { afterAddress, viewClaim, type ClaimView, type RefundRow } from '../../domain/refunds/refund';
import { brandingColumns, brandingIn, type BrandingColumns } from '../../db/branding/branding';
import { byClock } from '../../db/records';
import type { Queryable } from '../../db/query';
import { emitRefundEvent, lockRefundWithPayment, moveRefund, requestRefund } from '../../db/refunds/refunds';
import { planRefundPayment, readNamedInvoice } from './invoice';
import { receiverFor, type Receiver, type RefundDeps } from './terms';
import { idInLink, linkToken } from '../../db/sealing';

/** Links by which payers name the address of a refund. A link is made from the refund's id and our key, and kept
 *  nowhere: who reads the database cannot make one. It serves until it is used or its refund is cancelled. Contract:
 *  G3. */

const purpose = 'refund-claim';

export const claimUrl = (config: Pick<Config, 'SECRETS_KEY' | 'CHECKOUT_URL'>, id: string): string =>
  `${config.CHECKOUT_URL}/r/${linkToken(config.SECRETS_KEY, purpose, id)}`;

type LinkDeps = Readonly<{ secretsKey: string; explorers: Explorers }>;
type ClaimDeps = RefundDeps & LinkDeps;

async function viewOf(db: Queryable, { explorers }: LinkDeps, row: RefundRow): Promise<ClaimView> {
  const [from] = await db.query<Array<BrandingColumns & { merchant_name: string; slug: string }>>(
    `SELECT m.name AS merchant_name, p.slug, ${brandingColumns} FROM payment p JOIN merchant m ON m.id = p.merchant_id
       LEFT JOIN merchant_branding mb ON mb.merchant_id = m.id WHERE p.id = $1`,
    [row.payment_id],
  );
  const { merchant_name: merchantName, slug: invoiceId } = from!;
  return viewClaim(row, { merchantName, invoiceId, branding: brandingIn(from!), explorers });
}

/** What a link shows. Throws CLAIM_NOT_FOUND. */
export async function readClaim(db: Queryable, deps: LinkDeps, token: string): Promise<ClaimView> {
  const id = idInLink(deps.secretsKey, purpose, token);
  const [row] = id ? await db.query<RefundRow[]>('SELECT * FROM refund WHERE id = $1', [id]) : [];
  if (!row) throw new DomainError('CLAIM_NOT_FOUND');
  return viewOf(db, deps, row);
}

export type Claim = Readonly<{ address: string; destinationTag?: string }>;

/** Who gets it, as it is stored; `named`: where that is an invoice. */
type Named = Receiver & Readonly<{ named?: GivenInvoice }>;
type Terms = Readonly<{ currency: Currency; network: NetworkId; net: string }>;

async function readClaimed(tx: EntityManager, deps: ClaimDeps, terms: Terms, claim: Claim): Promise<Named> {
  if (!isByLightning(terms.currency)) return receiverFor(tx, deps, terms, claim);
  if (claim.destinationTag !== undefined && claim.destinationTag !== '') throw new DomainError('INVALID_ADDRESS');
  const named = await readNamedInvoice(tx, deps, terms.net, claim.address);
  return { address: named.text, destination_tag: null, named };
}

/** Whether this very invoice was named before: it cannot be named twice, and the same answer is given again. */
const isNamedAlready = (row: Pick<RefundRow, 'currency' | 'address'>, claim: Claim): boolean =>
  isByLightning(row.currency) && row.address === invoiceText(claim.address);

/** The receiver as its network spells it, checked; nothing is written. Throws CLAIM_NOT_FOUND, REFUND_STATE,
 *  INVALID_ADDRESS, VALIDATION_ERROR, CURRENCY_NOT_AVAILABLE, and UPSTREAM_UNAVAILABLE: it may be taken later. */
export async function checkClaim(
  tx: EntityManager,
  deps: ClaimDeps,
  token: string,
  claim: Claim,
): Promise<{ view: ClaimView; address: string; destinationTag: string | null }> {
  const view = await readClaim(tx, deps, token);
  if (isNamedAlready(view, claim)) return { view, address: view.address!, destinationTag: null };
  const terms = { currency: view.currency, network: view.network as NetworkId, net: view.netToDestination };
  const { address, destination_tag: destinationTag } = await readClaimed(tx, deps, terms, claim);
  const isSame = view.address === address && view.destinationTag === destinationTag;
  if (view.status !== 'awaiting_address' && !isSame) throw new DomainError('REFUND_STATE');
  return { view, address, destinationTag };
}

/** Gives a refund the address that its payer names, once: it is sent, or waits for a user. The same address again finds
 *  it as it is. Throws as `checkClaim`. */
export async function claimRefund(tx: EntityManager, deps: ClaimDeps, token: string, claim: Claim): Promise<ClaimView> {
  const id = idInLink(deps.secretsKey, purpose, token);
  const row = id ? await lockRefundWithPayment(tx, id) : null;
  if (!row) throw new DomainError('CLAIM_NOT_FOUND');
  if (row.claimed_at && isNamedAlready(row, claim)) return viewOf(tx, deps, row);
  const terms = { currency: row.currency, network: row.network as NetworkId, net: row.net_amount };
  const { address, destination_tag, named } = await readClaimed(tx, deps, terms, claim);
  if (row.status !== 'awaiting_address') {
    const isSame = row.address === address && row.destination_tag === destination_tag;
    if (row.claimed_at && isSame) return viewOf(tx, deps, row);
    throw new DomainError('REFUND_STATE');
  }
  const claimed = await moveRefund(tx, row, afterAddress(row), {
    address,
    destination_tag,
    claimed_at: byClock,
  });
  if (named) await planRefundPayment(tx, claimed, named);
  if (claimed.status === 'pending') await requestRefund(tx, claimed);
  await emitRefundEvent(tx, claimed, 'refund.claimed', row.status);
  return viewOf(tx, deps, claimed);
}
