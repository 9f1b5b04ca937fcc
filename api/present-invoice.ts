import type { NetworkId } from '../domain/assets';
import { viewInvoice, type InvoiceView } from '../domain/payment-view';
import type { InvoiceRead } from '../db/payment-queries';
import type { ApiDeps } from './deps';

/** An invoice as its payer may see it. */
export const presentInvoice = (read: InvoiceRead, { codecs }: Pick<ApiDeps, 'codecs'>): InvoiceView =>
  viewInvoice(read.row, {
    confirmations: read.now.confirmations,
    merchantName: read.merchantName,
    serverTime: read.serverTime,
    paymentUri: (address, currency, amount) =>
      codecs[read.row.network as NetworkId].paymentUri(address, currency, amount),
    underpaidRefund: read.underpaidRefund,
  });
