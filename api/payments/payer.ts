import { Type } from 'typebox';
import { markPayer } from '../../commands/payments/mark-payer';
import { leaveReceiptEmail as leaveReceipt } from '../../commands/payments/receipts';
import { receiptLanguages } from '../../domain/mail/receipt-mail';
import { payerLink } from '../../commands/refunds/payer-link';
import { invoiceOf } from './invoices';
import { presentInvoice } from './present-invoice';
import { route } from '../http/route';
import { emailSchema, line, nullable } from '../http/schemas';

/** How a payer says where money would go back to. docs/decisions/0024. */

const tag = 'Invoices';
const params = Type.Object({ invoiceId: Type.String({ description: 'Public invoice id (slug).' }) });
const token = Type.String({
  pattern: '^[0-9a-f]{40}$',
  description: 'Of this browser: keep it with the payer, show it to nobody.',
});

export const becomePayer = route({
  name: 'becomePayer',
  method: 'post',
  path: '/invoice/{invoiceId}/payer',
  summary: 'The payer says who they are, and where money would go back to',
  description:
    'Only before the first deposit is seen; then it is locked. The address, which is optional, is one of the network ' +
    'of `currency`, and everybody who opens the invoice sees it. A refund by policy goes there, or to whoever holds ' +
    'the one token. Where two do not agree, a user of the merchant decides.',
  tag,
  envelope: 'B',
  params,
  body: Type.Object({
    payerToken: Type.Optional(token),
    address: Type.Optional(line(120, 'Of the payer’s own, never one of an exchange that money was sent from.')),
    destinationTag: Type.Optional(line(64, 'Where the network has tags.')),
  }),
  success: {
    status: 200,
    schema: Type.Object({
      payerToken: token,
      refundAddress: nullable(Type.String()),
      refundContested: Type.Boolean(),
    }),
    description: 'What counts now.',
  },
  errors: ['INVOICE_NOT_FOUND', 'REFUND_ADDRESS_LOCKED', 'INVALID_ADDRESS', 'CURRENCY_NOT_AVAILABLE'],
  async answer({ params: { invoiceId }, body }, deps) {
    const { row } = await invoiceOf(deps, invoiceId, 'INVOICE_NOT_FOUND');
    const { codecs, config } = deps;
    const payerToken = await deps.db.transaction((tx) =>
      markPayer(tx, { codecs, secretsKey: config.SECRETS_KEY }, row.id, body),
    );
    const view = presentInvoice(await invoiceOf(deps, invoiceId, 'INVOICE_NOT_FOUND'), deps);
    return { data: { payerToken, refundAddress: view.refundAddress, refundContested: view.refundContested } };
  },
});

export const leaveReceiptEmail = route({
  name: 'leaveReceiptEmail',
  method: 'post',
  path: '/invoice/{invoiceId}/receipt-email',
  summary: 'The payer asks for the receipt by e-mail',
  description:
    'One mail goes to the address, once the payment is confirmed; at once where it is. Nobody is shown the address. ' +
    'An invoice takes three addresses.',
  tag,
  envelope: 'B',
  params,
  body: Type.Object({
    email: emailSchema,
    language: Type.Optional(Type.String({ enum: [...receiptLanguages], description: 'Of the mail.' })),
  }),
  success: { status: 200, schema: Type.Object({ success: Type.Boolean() }), description: 'The address is kept.' },
  errors: ['INVOICE_NOT_FOUND', 'RECEIPT_UNAVAILABLE'],
  async answer({ params: { invoiceId }, body }, deps) {
    const { row } = await invoiceOf(deps, invoiceId, 'INVOICE_NOT_FOUND');
    await deps.db.transaction((tx) =>
      leaveReceipt(tx, deps, row.id, { email: body.email, language: body.language ?? 'en' }),
    );
    return { data: { success: true } };
  },
});

export const getRefundLink = route({
  name: 'getRefundLink',
  method: 'post',
  path: '/invoice/{invoiceId}/refund-link',
  summary: 'The link of the refund that the policy has opened, for its payer',
  description: 'For the one token that was given out before money was seen. Everybody else asks the merchant.',
  tag,
  envelope: 'B',
  params,
  body: Type.Object({ payerToken: token }),
  success: {
    status: 200,
    schema: Type.Object({ claimUrl: Type.String({ description: 'Who has it says where the money goes.' }) }),
    description: 'Where the payer names the address.',
  },
  errors: ['CLAIM_NOT_FOUND'],
  async answer({ params: { invoiceId }, body }, deps) {
    const { row } = await invoiceOf(deps, invoiceId, 'CLAIM_NOT_FOUND');
    return { data: { claimUrl: await payerLink(deps.db, deps.config, row.id, body.payerToken) } };
  },
});
