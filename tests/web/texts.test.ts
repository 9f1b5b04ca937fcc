import { assetIcon } from '../../domain/chains/asset-icons';
import { assets } from '../../domain/chains/assets';
import { claimPage } from '../../web/checkout/claim';
import { document } from '../../web/checkout/page';
import { invoicePage } from '../../web/checkout/states';
import { catalogues, type Texts } from '../../web/checkout/texts';
import { en } from '../../web/checkout/texts/en';
import { aClaim } from './claims';
import { choices, invoices, slug } from './invoices';

/** Six languages, whole. */

const others = catalogues.filter(({ language }) => language !== 'en');
/** Texts by the path to them. */
function flat(node: object, path = ''): Record<string, string> {
  return Object.fromEntries(
    Object.entries(node).flatMap(([key, value]: [string, string | object]) =>
      typeof value === 'string' ? [[path + key, value]] : Object.entries(flat(value, `${path}${key}.`)),
    ),
  );
}
const english = flat(en);
const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();
const documentOf = (t: Texts, invoice: (typeof invoices)[keyof typeof invoices]): string =>
  document(t, invoicePage(t, invoice, invoice.cancellable ? choices : null, { refused: 'act', isPayer: true }), {
    version: 'x',
    path: `/i/${slug}`,
  });

describe('B8: languages', () => {
  it('are the six', () =>
    expect(catalogues.map(({ language }) => language)).toEqual(['en', 'de', 'es', 'fr', 'pt', 'ar']));

  it.each(others.map((t) => [t.language, t] as const))('%s has every text, and every placeholder of it', (_, t) => {
    const texts = flat(t);
    expect(Object.keys(texts).sort()).toEqual(Object.keys(english).sort());
    for (const [key, text] of Object.entries(texts)) {
      expect([key, text.trim() === text && text !== '']).toEqual([key, true]);
      expect([key, placeholders(text)]).toEqual([key, placeholders(english[key]!)]);
    }
  });

  it.each(others.map((t) => [t.language, t] as const))('%s leaves nothing in English', (_, t) => {
    const same = Object.entries(flat(t)).filter(([key, text]) => text === english[key]);
    // A word that is the same in both, and what is no word.
    const alike = ['direction', 'transaction'];
    expect(same.map(([key]) => key).filter((key) => !alike.includes(key))).toEqual([]);
  });

  it.each(catalogues.map((t) => [t.language, t] as const))('%s: pages are whole in every state', (_, t) => {
    for (const invoice of Object.values(invoices)) {
      const text = documentOf(t, invoice);
      expect(text).toContain(`<html lang="${t.language}" dir="${t.direction}">`);
      // The script fills in the wallets that it finds.
      expect(text).not.toMatch(/\{(?!wallet\})\w+\}|undefined|NaN|\[object/);
    }
    for (const status of Object.keys(t.claim.titles) as Array<keyof typeof t.claim.titles>)
      expect(
        claimPage(t, aClaim(status), '/r/x', { address: '0x12', destinationTag: '', why: 'refused' }).body.text,
      ).not.toMatch(/\{\w+\}|undefined|\[object/);
  });

  it('write numbers and times in their own way, and amounts to be paid as wallets take them', () => {
    const page = (language: string) =>
      documentOf(
        catalogues.find((t) => t.language === language)!,
        invoices.bitcoin,
      ).replaceAll(/[\u00a0\u202f]/g, ' ');
    expect(page('en')).toContain('$1,264.50');
    expect(page('de')).toContain('1.264,50 $');
    expect(page('en')).toContain('1 BTC = 64,123.45 USD');
    expect(page('de')).toContain('1 BTC = 64.123,45 USD');
    expect(page('de')).toContain('10:10 UTC');
    for (const { language } of catalogues) {
      expect(page(language)).toContain('data-copy="0.01971978"');
      expect(page(language)).toContain('<bdi dir="ltr">0.01971978</bdi>');
      expect(page(language)).not.toMatch(/[٠-٩]/);
    }
  });

  it('can be changed by links on every page', () => {
    const page = documentOf(catalogues.at(-1)!, invoices.settled);
    for (const { language, name } of others.slice(0, -1)) {
      expect(page).toContain(`href="?language=${language}"`);
      expect(page).toContain(name);
    }
    expect(page).toContain('<span lang="ar" aria-current="true">');
  });
});

describe('B8: icons', () => {
  it('are drawings, one for each asset, and no letters', () => {
    const icons = [...new Set(assets.map(({ asset }) => assetIcon(asset)))];
    expect(icons).toHaveLength(new Set(assets.map(({ asset }) => asset)).size);
    for (const icon of icons) expect(icon).not.toContain('<text');
    const page = documentOf(en, invoices.choose);
    for (const { asset } of choices) expect(page).toContain(assetIcon(asset));
  });
});
