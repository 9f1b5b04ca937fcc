import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accentOf, contrast, surfaces } from '../../domain/branding/accent';
import { checkBranding, type Branding } from '../../domain/branding/branding';
import { logoBytes } from '../../domain/branding/bounds';
import { logoFile, logoTypeOf } from '../../domain/branding/logo';

const none: Branding = { supportEmail: null, supportUrl: null, termsUrl: null, accentColor: null };
const strict = { allowInsecure: false };
/** A PNG of so many pixels, as far as its first chunk. */
const pngOf = (width: number, height: number): Buffer => {
  const head = Buffer.from('89504e470d0a1a0a0000000d49484452000000000000000008060000000000000000', 'hex');
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head;
};

describe('B3: the accent colour', () => {
  const channels = ['00', '33', '80', 'cc', 'ff'];
  const colors = channels.flatMap((r) => channels.flatMap((g) => channels.map((b) => `#${r}${g}${b}`)));

  it('is readable as text on our pages, and below the text of a button, whatever was chosen', () => {
    for (const color of colors) {
      const { light, dark } = accentOf(color);
      for (const surface of [surfaces.light, '#ffffff', light.onBrand])
        expect([color, contrast(light.brand, surface) >= 4.5]).toEqual([color, true]);
      for (const surface of [surfaces.dark, '#10151b', dark.onBrand])
        expect([color, contrast(dark.brand, surface) >= 4.5]).toEqual([color, true]);
    }
  });

  it('stays as it is where it can be read', () => {
    expect(accentOf('#0b5cd6').light.brand).toBe('#0b5cd6');
    expect(accentOf('#7fb2ff').dark.brand).toBe('#7fb2ff');
    expect(accentOf('#ffd166').light.brand).not.toBe('#ffd166');
  });

  it('is measured against the surfaces that the style sheet has', () => {
    const css = readFileSync(join(__dirname, '../../web/checkout/public/checkout.css'), 'utf8');
    const [light = '', dark = ''] = css.split('@media (prefers-color-scheme: dark)');
    expect(light).toContain(`--page: ${surfaces.light}`);
    expect(dark).toContain(`--card: ${surfaces.dark}`);
    expect(contrast('#000000', '#ffffff')).toBe(21);
  });
});

describe('B3: what a merchant shows', () => {
  it.each<[string, Partial<Branding>, Partial<Branding>]>([
    ['blanks around it go', { supportEmail: ' help@shop.example ' }, { supportEmail: 'help@shop.example' }],
    ['an empty text clears', { supportEmail: '', supportUrl: '', termsUrl: '', accentColor: '' }, none],
    ['a short colour', { accentColor: '#0AF' }, { accentColor: '#00aaff' }],
    ['a page', { supportUrl: 'https://shop.example/help' }, { supportUrl: 'https://shop.example/help' }],
  ])('%s', (_, set, kept) => expect(checkBranding({ ...none, ...set }, strict)).toEqual({ ...none, ...kept }));

  it.each<[string, Partial<Branding>, string]>([
    ['a script', { supportUrl: 'javascript:alert(1)' }, 'VALIDATION_ERROR'],
    ['a data URL', { termsUrl: 'data:text/html,x' }, 'VALIDATION_ERROR'],
    ['a name before an @', { termsUrl: 'https://bank.example@evil.example/' }, 'VALIDATION_ERROR'],
    ['http', { termsUrl: 'http://shop.example/' }, 'CALLBACK_NOT_HTTPS'],
    ['an internal address', { supportUrl: 'https://10.0.0.1/' }, 'CALLBACK_INTERNAL'],
  ])('%s is no link', (_, set, code) =>
    expect(() => checkBranding({ ...none, ...set }, strict)).toThrow(expect.objectContaining({ code })),
  );
});

describe('B3: the file of a logo', () => {
  it('is told by its bytes', () => {
    expect(logoTypeOf(pngOf(64, 64))).toBe('image/png');
    expect(logoTypeOf(pngOf(2048, 1))).toBe('image/png');
    expect(logoTypeOf(Buffer.from('<svg/>'))).toBe('image/svg+xml');
    expect(logoFile(Buffer.from('<svg/>').toString('base64')).toString()).toBe('<svg/>');
  });

  it.each<[string, () => unknown]>([
    ['an empty file', () => logoTypeOf(Buffer.alloc(0))],
    ['one byte too many', () => logoTypeOf(Buffer.alloc(logoBytes + 1))],
    ['a PNG that ends in its head', () => logoTypeOf(pngOf(1, 1).subarray(0, 20))],
    ['a PNG that unfolds to gigabytes', () => logoTypeOf(pngOf(30_000, 30_000))],
    ['a PNG without pixels', () => logoTypeOf(pngOf(0, 5))],
    ['what is no base64', () => logoFile('<svg/>')],
  ])('%s is refused', (_, act) => expect(act).toThrow(expect.objectContaining({ code: 'INVALID_LOGO' })));
});
