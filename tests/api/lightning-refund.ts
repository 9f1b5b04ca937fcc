import { unguarded } from '../unguarded';
import type { Answer } from './harness';
import { db, h, net, type Rich } from './lightning-out';

/** Refunds of payments that came by Lightning, as tests open and claim them. */

/** The payment that somebody has earned by. */
export async function paymentOf({ merchantId }: Rich): Promise<string> {
  const [row] = await db.query<[{ id: string }]>('SELECT id FROM payment WHERE merchant_id = $1', [merchantId]);
  await unguarded(db, (tx) => tx.query(`UPDATE payment SET custody = 'platform' WHERE id = $1`, [row.id]));
  return row.id;
}

export const refundAsk = { type: 'partial', amount: net };
export const createRefund = async (person: Rich, paymentId: string, over: object = {}): Promise<Answer> =>
  person.post(`/api/v1/payments/${paymentId}/refunds`, {
    ...refundAsk,
    totpCode: await person.code(),
    ...over,
  });

export type OpenRefund = Readonly<{ id: string; link: string }>;
export const linkOf = (claimUrl: string): string => `/refund-claims/${claimUrl.split('/').pop()}`;
export async function openedRefund(person: Rich, paymentId: string): Promise<OpenRefund> {
  const { status, body } = await createRefund(person, paymentId);
  expect([status, body.data?.status]).toEqual([201, 'awaiting_address']);
  return { id: body.data._id, link: linkOf(body.data.claimUrl) };
}

let callers = 0;
/** Each from a place of its own: a place may claim a few times a minute. */
export const nameInvoice = (link: string, address: string, confirm = true): Promise<Answer> =>
  h.call('POST', link, { body: { address, confirm }, headers: { 'x-forwarded-for': `198.51.100.${(callers += 1)}` } });
