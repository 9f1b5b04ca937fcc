import type { RefundStatus } from '../../domain/refunds/refund';
import { claimPage, confirmClaimPage } from '../../web/checkout/claim';
import { document } from '../../web/checkout/page';
import { en as texts } from '../../web/checkout/texts/en';
import { aClaim } from './claims';
import { branding } from './invoices';

const read = (status: RefundStatus, typed?: string): string =>
  claimPage(texts, aClaim(status), '/r/x', typed === undefined ? undefined : { address: typed, destinationTag: '' })
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

describe('B3: the page of a claim', () => {
  const place = { version: 'v', path: '/r/x' };
  const own = ['/logos/', 'accent-ffd166.css', 'https://teahouse.example/help', 'https://teahouse.example/terms'];
  const pages = (claim: ReturnType<typeof aClaim>): string[] =>
    [claimPage(texts, claim, '/r/x'), confirmClaimPage(texts, claim, '/r/x')].map((page) =>
      document(texts, page, place),
    );

  it.each(['awaiting_address', 'awaiting_approval', 'completed', 'failed'] as const)(
    '%s: shows logo, colour, contact and terms of the merchant',
    (status) => {
      for (const page of pages(aClaim(status, { branding })))
        for (const part of own) expect([part, page.includes(part)]).toEqual([part, true]);
    },
  );

  it('shows none where none is set', () => {
    for (const page of pages(aClaim('awaiting_address')))
      for (const part of [...own, 'class="logo"']) expect([part, page.includes(part)]).toEqual([part, false]);
  });
});
