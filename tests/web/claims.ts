import { noBranding } from '../../domain/branding/branding';
import type { ClaimView, RefundStatus } from '../../domain/refunds/refund';

/** A refund as its payer sees it. */
export const aClaim = (status: RefundStatus, patch: Partial<ClaimView> = {}): ClaimView => ({
  status,
  merchantName: 'Teahouse',
  branding: noBranding,
  invoiceId: 'k7m2p9q4r8s3t6v1w5x0',
  currency: 'USDT_ERC20',
  network: 'ethereum',
  amount: '40',
  networkFee: '1',
  netToDestination: '40',
  feeBearer: 'merchant',
  fiatAmount: '40',
  fiatCurrency: 'USD',
  requiresDestinationTag: false,
  address: null,
  destinationTag: null,
  txId: null,
  explorerTxUrl: 'https://etherscan.io/tx/{txId}',
  createdAt: '2026-01-05T10:00:00.000Z',
  ...patch,
});
