import type { NetworkId } from '../../domain/chains/assets';
import { viewInvoice, type InvoiceView } from '../../domain/payments/payment-view';
import type { InvoiceRead } from '../../db/payments/payment-queries';
import type { ApiDeps } from '../http/deps';

/** An invoice as its payer may see it. */
export const presentInvoice = (read: InvoiceRead, { codecs }: Pick<ApiDeps, 'codecs'>): InvoiceView =>
  viewInvoice(read.row, {
    confirmations: read.now.confirmations,
    other: read.now.other,
    merchantName: read.merchantName,
    serverTime: read.serverTime,
    paymentUri: (address, currency, amount) =>
      codecs[read.row.network as NetworkId].paymentUri(address, currency, amount),
    underpaidRefund: read.underpaidRefund,
    isDelayed: read.isDelayed,
    payer: read.payer,
    isLocked: read.isLocked,
    seen: read.seen,
    refunded: read.now.refunded,
  });
