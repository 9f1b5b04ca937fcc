import type { RefundStatus } from '../../domain/refunds/refund';
import { claimPage } from '../../web/checkout/claim';
import { en as texts } from '../../web/checkout/texts/en';
import { aClaim } from './claims';

const read = (status: RefundStatus, typed?: string): string =>
  claimPage(texts, aClaim(status), '/r/x', typed)
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
