import type { ClaimView, RefundStatus } from '../../domain/refunds/refund';
import { claimPage } from '../../web/checkout/claim';
import { texts } from '../../web/checkout/texts';

const claim = (status: RefundStatus): ClaimView => ({
  status,
  merchantName: 'Teahouse',
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
  txId: null,
  createdAt: '2026-01-05T10:00:00.000Z',
});
const read = (status: RefundStatus, typed?: string): string =>
  claimPage(texts, claim(status), '/r/x', typed)
    .body.text.replace(/<[^>]+>/g, '')
    .replace(/\s+/g, ' ');

describe('B13: the page of a claim', () => {
  it('asks in plain words', () => {
    const page = read('awaiting_address');
    for (const words of [
      'Where should we send your refund?',
      'Enter a USDT address on Ethereum that belongs to you, not a smart contract.',
    ])
      expect(page).toContain(words);
    expect(read('awaiting_address', '0x12')).toContain('That address cannot be used.');
  });
  it('says who it waits for', () => expect(read('awaiting_approval')).toContain('Waiting for the merchant to approve'));
});
