import type { NetworkId } from '../domain/assets';
import { viewInvoice, type InvoiceView } from '../domain/payment-view';
import { claimUrl } from '../db/claims';
import type { InvoiceRead } from '../db/payment-queries';
import type { ApiDeps } from './deps';

/** An invoice as its payer may see it. */
export const presentInvoice = (
  read: InvoiceRead,
  { codecs, config }: Pick<ApiDeps, 'codecs' | 'config'>,
): InvoiceView =>
  viewInvoice(read.row, {
    confirmations: read.now.confirmations,
    merchantName: read.merchantName,
    serverTime: read.serverTime,
    paymentUri: (address, currency, amount) =>
      codecs[read.row.network as NetworkId].paymentUri(address, currency, amount),
    refundUrl: read.claimableRefund === null ? null : claimUrl(config, read.claimableRefund),
  });
