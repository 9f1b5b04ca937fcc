import { catalogues } from '../../web/checkout/texts';
import { StubApi } from '../browser/stub-api';
import { aClaim } from './claims';
import { anInvoice } from './invoices';

/** The banner of a test instance: in the page itself, so that it is there without scripts and in frames. */

const banner = '<aside class="test-mode">';
const read = async (url: string, language = 'en'): Promise<string> =>
  (await fetch(url, { headers: { 'accept-language': language } })).text();

describe('4: pages of the checkout', () => {
  let stub: StubApi;
  afterEach(() => stub.stop());

  /** Pages of an invoice, and pages of none. */
  function placesOf(livemode: boolean): { ofInvoice: string[]; others: string[] } {
    const url = stub.show('invoice', anInvoice({ livemode, cancellable: true }));
    const over = stub.show('over', anInvoice({ livemode, status: 'SETTLED', cancellable: false }));
    return {
      ofInvoice: [url, over, url.replace('/i/', '/embed/'), `${url}/cancel`],
      others: [
        stub.url,
        `${stub.url}/i/nowhere00000`,
        `${stub.url}/nowhere`,
        stub.showClaim(aClaim('awaiting_address')),
      ],
    };
  }

  it('all have it in a test instance, in every language', async () => {
    stub = await StubApi.start({ isTest: true });
    const { ofInvoice, others } = placesOf(false);
    expect(catalogues).toHaveLength(6);
    for (const place of [...ofInvoice, ...others])
      for (const { language, testMode } of catalogues)
        expect([place, language, await read(place, language)]).toEqual([
          place,
          language,
          expect.stringContaining(`${banner}${testMode}</aside>`),
        ]);
  });

  it('of a test invoice have it whatever the checkout was told', async () => {
    stub = await StubApi.start();
    for (const place of placesOf(false).ofInvoice) expect(await read(place)).toContain(banner);
  });

  it('do not have it in a live instance', async () => {
    stub = await StubApi.start();
    const { ofInvoice, others } = placesOf(true);
    for (const place of [...ofInvoice, ...others]) expect(await read(place)).not.toContain(banner);
  });
});
