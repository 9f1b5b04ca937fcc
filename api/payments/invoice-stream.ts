import type { IncomingMessage, ServerResponse } from 'node:http';
import { isFinal } from '../../domain/payments/payment';
import type { InvoiceRead } from '../../db/payments/payment-queries';
import { limitKey } from '../../domain/access/client-ip';
import type { ApiDeps } from '../http/deps';
import { openStream } from '../http/event-stream';
import { presentInvoice } from './present-invoice';

/** What of an invoice is sent again once it has changed; the clock is not. */
const contentOf = ({ serverTime: _, ...content }: ReturnType<typeof presentInvoice>): string => JSON.stringify(content);

/** Sends the invoice now and after each change, until it has ended or the caller is gone. Throws RATE_LIMITED.
 *  Contract: G2. */
export function streamInvoice(
  invoice: InvoiceRead,
  { request, response, ip }: Readonly<{ request: IncomingMessage; response: ServerResponse; ip: string }>,
  deps: Pick<ApiDeps, 'codecs' | 'config' | 'changes' | 'metrics' | 'lifecycle'>,
): Promise<void> {
  return openStream(limitKey(ip), { request, response }, deps, (stream) => {
    let last = '';
    const show = (read: InvoiceRead): void => {
      const view = presentInvoice(read, deps);
      const content = contentOf(view);
      if (content === last) return;
      last = content;
      stream.push(view, String(read.row.state_version));
      if (isFinal(read.row.status)) stream.end();
    };
    const unwatch = deps.changes.watch(invoice.row.id, show);
    show(invoice);
    return unwatch;
  });
}
