import { readInvoice } from '../../chains/lightning/invoice';
import { msatOf } from '../../commands/lightning/offer';
import { knownNode } from '../../db/lightning/node';
import type { Queryable } from '../../db/query';
import { isByLightning } from '../../domain/chains/assets';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import type { PaymentRow } from '../../domain/payments/payment';

/** What a payer pays by Lightning must be ours, whoever has written the row: a process that could write it cannot sign
 *  for our node. See docs/decisions/0093-what-the-node-has-said.md. */

type OwnDeps = Readonly<{ db: Queryable; config: Pick<Config, 'chain'> }>;
type Asked = Pick<PaymentRow, 'id' | 'currency' | 'amount'>;

/** Whether our node has signed this invoice, for this payment and over what it costs: one of another payment would
 *  settle that one. */
async function isOwn({ db, config }: OwnDeps, text: string, { id, currency, amount }: Asked): Promise<boolean> {
  try {
    const { payee, network, amountMsat, description } = readInvoice(text);
    const node = await knownNode(db);
    const isAtPrice = currency !== null && amount !== null && amountMsat === msatOf(currency, amount);
    return isAtPrice && description === id && payee === node?.key && network === config.chain.chainNames.bitcoin;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

/** What is read of a payment, and the invoice beside its address where that is read too. */
type Shown = Readonly<{ row: PaymentRow; besideInvoice?: string | null }>;

/** A payment as it may be shown: without an invoice that our node has not signed for it, over its price. */
export async function withOwnInvoice<Read extends Shown>(deps: OwnDeps, read: Read): Promise<Read> {
  const { row, besideInvoice: beside = null } = read;
  const text = row.currency !== null && isByLightning(row.currency) ? row.deposit_address : null;
  const isForeign = text !== null && !(await isOwn(deps, text, row));
  const isForeignBeside = beside !== null && !(await isOwn(deps, beside, row));
  return {
    ...read,
    ...(isForeign ? { row: { ...row, deposit_address: null } } : {}),
    ...(isForeignBeside ? { besideInvoice: null } : {}),
  };
}
