import type { ClaimView, RefundStatus } from '../../domain/refunds/refund';
import { claimPage, confirmClaimPage } from '../../web/checkout/claim';
import { document, type Page } from '../../web/checkout/page';
import { catalogues, fillText } from '../../web/checkout/texts';
import { en as texts } from '../../web/checkout/texts/en';
import { StubApi } from '../browser/stub-api';
import { aClaim } from './claims';
import { branding } from './invoices';

const read = (status: RefundStatus, typed?: string, patch: Partial<ClaimView> = {}): string =>
  plain(
    claimPage(
      texts,
      aClaim(status, patch),
      '/r/x',
      typed === undefined ? undefined : { address: typed, destinationTag: '', why: 'refused' },
    ),
  );
const plain = (page: Page): string => page.body.text.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');

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

describe('the page of a claim by Lightning', () => {
  const byLightning: Partial<ClaimView> = {
    ...{
      currency: 'BTC_LN',
      network: 'bitcoin',
      amount: '0.0002',
      networkFee: '0.000001',
      netToDestination: '0.000199',
    },
    ...{ feeBearer: 'payer', explorerTxUrl: null },
  };

  it('asks for an invoice over what arrives, in satoshi too', () => {
    const page = read('awaiting_address', undefined, byLightning);
    expect(page).toContain('invoice in your Lightning wallet over exactly 0.000199 BTC (19900 satoshi)');
    expect(page).toContain('Lightning fee');
    expect(page).not.toContain('smart contract');
    expect(read('awaiting_address', 'lnbc1', byLightning)).toContain('That invoice cannot be used.');
    const claim = aClaim('awaiting_address', { ...byLightning, address: 'lnbc199u1' });
    const sure = plain(confirmClaimPage(texts, claim, '/r/x'));
    for (const words of ['Is this your invoice?', 'Yes, pay it', 'Lightning invoice', 'lnbc199u1'])
      expect(sure).toContain(words);
  });

  it.each([
    ['awaiting_approval', 'We pay it as soon as the merchant has approved the refund'],
    ['pending', 'We pay it shortly'],
    ['completed', 'Your invoice is paid.'],
    ['failed', 'Ask the merchant for a new link'],
  ] as const)('%s: speaks of the invoice, and of no network that confirms', (status, words) => {
    const page = read(status, undefined, { ...byLightning, address: 'lnbc199u1', txId: 'ab'.repeat(32) });
    expect(page).toContain(words);
    expect(page).toContain('Payment hash');
    expect(page).not.toMatch(/confirmed it|your address/);
  });
});

describe('where nothing can be named just now', () => {
  let stub: StubApi;
  beforeAll(async () => void (stub = await StubApi.start()));
  afterAll(() => stub?.stop());

  it.each(catalogues.map((t) => [t.language, t] as const))(
    '%s: says so, and keeps what was typed',
    async (language, t) => {
      const url = stub.showClaim(aClaim('awaiting_address'));
      const sent = async (status: number): Promise<[number, string]> => {
        stub.named = status;
        const body = new URLSearchParams({ address: '0x1234' });
        const answer = await fetch(`${url}?language=${language}`, { method: 'POST', body });
        return [answer.status, await answer.text()];
      };
      const [status, page] = await sent(503);
      expect(status).toBe(503);
      for (const part of [t.claim.notNow, 'value="0x1234"', 'role="alert"']) expect(page).toContain(part);
      for (const part of ['aria-invalid', fillText(t.claim.refused, { network: 'Ethereum' })])
        expect(page).not.toContain(part);
      const refused = await sent(400);
      expect([refused[0], refused[1].includes(t.claim.notNow)]).toEqual([400, false]);
      expect(refused[1]).toContain('aria-invalid="true"');
      expect((await sent(500))[1]).toContain(t.away);
      expect((await sent(200))[0]).toBe(200);
    },
  );
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
