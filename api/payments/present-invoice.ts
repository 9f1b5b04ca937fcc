import { isByLightning, type NetworkId } from '../../domain/chains/assets';
import { explorersOf } from '../../domain/chains/chosen-chain';
import { withInvoice } from '../../domain/lightning/unified-uri';
import { viewInvoice, type InvoiceView } from '../../domain/payments/payment-view';
import type { InvoiceRead } from '../../db/payments/payment-queries';
import type { ApiDeps } from '../http/deps';

/** Few enough letters that a code with them is read from a screen. */
const short = (text: string): string => [...text.toWellFormed()].slice(0, 40).join('');

/** An invoice as its payer may see it. */
export const presentInvoice = (
  read: InvoiceRead,
  { codecs, config }: Pick<ApiDeps, 'codecs' | 'config'>,
): InvoiceView =>
  viewInvoice(read.row, {
    livemode: read.now.livemode,
    confirmations: read.now.confirmations,
    other: read.now.other,
    merchantName: read.merchantName,
    serverTime: read.serverTime,
    paymentUri: ({ address, tag }, currency, amount) => {
      // Of a wallet's own kinds of links this is the one that all of them know.
      if (isByLightning(currency)) return `lightning:${address}`;
      const names = { label: short(read.merchantName), message: short(read.row.merchant_order_id ?? read.row.slug) };
      const uri = codecs[read.row.network as NetworkId].paymentUri(address, currency, amount, names, tag ?? undefined);
      return withInvoice(uri, read.besideInvoice);
    },
    underpaidRefund: read.underpaidRefund,
    isDelayed: read.isDelayed,
    payer: read.payer,
    isLocked: read.isLocked,
    seen: read.seen,
    refunded: read.now.refunded,
    branding: read.branding,
    thankYouText: read.thankYouText,
    explorers: explorersOf(config.networks, config.chain),
  });
