import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fields, text } from '../chains/lightning/answers';
import { lndHttp, type LndLogin } from '../chains/lightning/http';
import { readInvoice } from '../chains/lightning/invoice';
import { lndPayments } from '../chains/lightning/payments';
import { toUnits } from '../domain/money';
import type { LightningParts } from './parts/lightning';

/** The payer's Lightning node: somebody else's, with coins in a channel to the service's node. */

/** With what its owner gets in. */
export type PayerNode = Readonly<{
  url: string;
  /** Public key, hex. */
  key: string;
  certificateFile: string;
  macaroonFile: string;
}>;

export const payerNodeOf = ({ payer, payerKey: key }: LightningParts): PayerNode => ({
  ...{ url: payer.url, key, certificateFile: payer.files.certificate, macaroonFile: payer.files.admin },
});

const loginOf = ({ url, certificateFile, macaroonFile }: PayerNode): LndLogin => ({
  url,
  certificate: readFileSync(certificateFile, 'utf8'),
  macaroon: readFileSync(macaroonFile).toString('hex'),
});

/** Pays an invoice, and waits until its money is taken. Throws where it comes back. Returns the payment hash. */
export async function payInvoice(node: PayerNode, invoice: string, withinMs = 60_000): Promise<string> {
  const payments = lndPayments(loginOf(node));
  const { hash } = readInvoice(invoice);
  const asked = await payments.pay({ invoice, feeLimitMsat: 10_000n, timeoutSeconds: 30, maxParts: 4 });
  let seen = asked.state === 'refused' ? await payments.track(hash) : asked;
  for (const until = Date.now() + withinMs; seen.state === 'under way' && Date.now() < until; await sleep(200))
    seen = await payments.track(hash);
  if (seen.state === 'paid') return hash;
  const reason = [seen, asked].map((one) => ('reason' in one ? one.reason : undefined)).find(Boolean);
  throw new Error(
    reason !== undefined
      ? `The payer's node could not pay: ${reason}`
      : `The payer's node has not paid ${hash} after ${withinMs / 1000} s: it is ${seen.state}`,
  );
}

/** An invoice of the payer's node, for somebody to pay. `amount`: bitcoin. */
export const invoiceOf = (node: PayerNode, amount: string): Promise<string> =>
  lndHttp(loginOf(node)).ask({
    path: '/v1/invoices',
    body: { value: toUnits(amount, 8).toString() },
    shape: (answer) => text(fields(answer, 'The invoice'), 'payment_request'),
  });
