import type { Server } from 'node:http';
import { startCheckout } from './checkout-server';
import { startHarness, type Harness } from './harness';
import { Person } from './person';

/** What payers see of a merchant: settings with their refusals, the logo, the page. */

let h: Harness;
let admin: Person;
let checkout: Server;
let checkoutUrl: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', ALLOW_INSECURE_CALLBACKS: 'false' });
  admin = await Person.admin(h);
  ({ server: checkout, url: checkoutUrl } = await startCheckout(h, 0));
});
afterAll(async () => {
  checkout?.close();
  await h?.stop();
});
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const path = '/api/v1/settings/branding';
const none = { supportEmail: null, supportUrl: null, termsUrl: null, accentColor: null, logoUrl: null };
const change = (body: object, person = admin) => person.call('PATCH', path, body);
const base64 = (file: string | Buffer): string => Buffer.from(file).toString('base64');
const upload = (file: string | Buffer, person = admin) => person.post(`${path}/logo`, { image: base64(file) });
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"';
const svg = (inner: string, attributes = ''): string =>
  `<?xml version="1.0"?><svg ${spaces} viewBox="0 0 10 10"${attributes}>${inner}</svg>`;
/** The file as the checkout serves it. */
async function served(logoUrl: string) {
  const answer = await fetch(checkoutUrl + logoUrl);
  return { answer, text: await answer.text() };
}
async function anInvoice(person: Person, body: object = {}): Promise<{ id: string; slug: string }> {
  const made = await person.post('/api/v1/payments', { amount: 40, ...body });
  expect([made.status, made.text]).toEqual([201, expect.any(String)]);
  return { id: made.body.paymentId, slug: made.body.invoiceUrl.split('/').pop() };
}

describe('B3: settings of what payers see', () => {
  it('are empty at first, are kept, and are cleared by an empty text', async () => {
    expect((await admin.get(path)).body.data).toEqual(none);
    const set = { supportEmail: 'help@shop.example', supportUrl: 'https://shop.example/help', accentColor: '#0AF' };
    expect((await change(set)).body.data).toEqual({ ...none, ...set, accentColor: '#00aaff' });
    expect((await change({ supportEmail: '', termsUrl: 'https://shop.example/terms' })).body.data).toEqual({
      ...none,
      supportUrl: 'https://shop.example/help',
      termsUrl: 'https://shop.example/terms',
      accentColor: '#00aaff',
    });
    expect((await admin.get(path)).body.data.termsUrl).toBe('https://shop.example/terms');
    const acts = await h.db.query(`SELECT action FROM audit_log WHERE action = 'branding.changed'`);
    expect(acts).toHaveLength(2);
  });

  it.each<[string, object, number, string]>([
    ['an address without a host', { supportEmail: 'help' }, 400, 'VALIDATION_ERROR'],
    ['a second header', { supportEmail: 'a@b.example\r\nBcc: c@d.example' }, 400, 'VALIDATION_ERROR'],
    ['a colour by name', { accentColor: 'red' }, 400, 'VALIDATION_ERROR'],
    ['a style as a colour', { accentColor: '#fff;}' }, 400, 'VALIDATION_ERROR'],
    ['a script as a link', { termsUrl: 'javascript:alert(1)' }, 400, 'VALIDATION_ERROR'],
    ['http', { supportUrl: 'http://shop.example' }, 400, 'CALLBACK_NOT_HTTPS'],
    ['an internal address', { supportUrl: 'https://127.0.0.1/' }, 400, 'CALLBACK_INTERNAL'],
    ['too long a link', { termsUrl: `https://shop.example/${'x'.repeat(2048)}` }, 400, 'VALIDATION_ERROR'],
  ])('%s is refused', async (_, body, status, code) => {
    const before = (await admin.get(path)).body.data;
    const answer = await change(body);
    expect([answer.status, answer.body.error?.code ?? answer.body.code ?? answer.text]).toEqual([status, code]);
    expect((await admin.get(path)).body.data).toEqual(before);
  });

  it('belong to sessions with the right alone, and to one merchant', async () => {
    const other = await Person.admin(h);
    expect((await other.get(path)).body.data).toEqual(none);
    const shop = await h.shop();
    for (const [method, to] of [
      ['GET', path],
      ['PATCH', path],
      ['POST', `${path}/logo`],
      ['DELETE', `${path}/logo`],
    ] as const)
      expect([
        method,
        (await h.call(method, to, { key: shop.key, ...(method === 'GET' ? {} : { body: {} }) })).status,
      ]).toEqual([method, 401]);
  });
});

describe('B3: the logo', () => {
  it('is served from our host, where it may run and load nothing', async () => {
    const { logoUrl } = (await upload(png)).body.data as { logoUrl: string };
    const { answer } = await served(logoUrl);
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
    const own = await h.call('GET', logoUrl);
    expect(own.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    const gone = (await admin.call('DELETE', `${path}/logo`)).body.data;
    expect(gone.logoUrl).toBeNull();
    expect((await served(logoUrl)).answer.status).toBe(404);
    expect((await h.call('GET', '/logos/x')).status).toBe(404);
  });

  it('keeps what an SVG draws', async () => {
    const drawing = svg(
      '<defs><linearGradient id="g"><stop offset="0" stop-color="#f00"/></linearGradient></defs>' +
        '<circle cx="5" cy="5" r="3" fill="url(#g)"/><style>.a{fill:red}</style><text>Tea &amp; more</text>',
    );
    const { text, answer } = await served((await upload(drawing)).body.data.logoUrl);
    expect(answer.headers.get('content-type')).toBe('image/svg+xml');
    for (const part of [
      'viewBox="0 0 10 10"',
      '<linearGradient id="g">',
      'fill="url(#g)"',
      'Tea &amp; more',
      '.a{fill',
    ])
      expect(text).toContain(part);
    expect(text).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  });

  it.each<[string, string]>([
    ['a script', svg('<script>alert(1)</script><circle r="3"/>')],
    ['a script in another space', svg('<x:script src="https://evil.example/alert(1)"></x:script><circle r="3"/>')],
    ['a handler', svg('<circle r="3" onclick="alert(1)"/>', ' onload="alert(1)"')],
    ['a link to a script', svg('<a xlink:href="javascript:alert(1)"><circle r="3"/></a>')],
    ['a split scheme', svg('<a href="java&#x09;script:alert(1)"><circle r="3"/></a>')],
    [
      'a foreign object',
      svg('<foreignObject><iframe src="https://evil.example/alert(1)"></iframe></foreignObject><circle r="3"/>'),
    ],
    ['an image from elsewhere', svg('<image href="https://evil.example/alert(1)"/><circle r="3"/>')],
    ['a style from elsewhere', svg('<style>@import url(https://evil.example/alert(1))</style><circle r="3"/>')],
    ['a fill from elsewhere', svg('<circle r="3" fill="url(https://evil.example/alert(1))"/>')],
    ['a part from elsewhere', svg('<use href="https://evil.example/alert(1)#x"/><circle r="3"/>')],
    ['an animation of a link', svg('<circle r="3"><set attributeName="href" to="javascript:alert(1)"/></circle>')],
    ['an entity', `<!DOCTYPE svg [<!ENTITY e "alert(1)">]>${svg('<circle r="3"/><text>&e;</text>')}`],
    ['HTML around it', `<html><script>alert(1)</script>${svg('<circle r="3"/>')}</html>`],
    ['a comment that ends early', svg('<!--><script>alert(1)</script>--><circle r="3"/>')],
    ['a style that ends early', svg('<circle r="3"/><style><img src="</style><img src=x onerror=alert(1)//"></style>')],
  ])('loses %s', async (_, file) => {
    const answer = await upload(file);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    const { text } = await served(answer.body.data.logoUrl);
    expect(text).toContain('<circle');
    expect(text).not.toMatch(/alert|evil|script|onload|onclick|onerror|<a[ >]|foreignObject|<image|<use|<set|iframe/i);
  });

  it.each<[string, string | Buffer]>([
    ['text', 'no image'],
    ['a JPEG', Buffer.from('ffd8ffe000104a46494600', 'hex')],
    ['a drawing of scripts alone', svg('<script>alert(1)</script>')],
    ['a drawing of images alone', svg('<g><title>Tea</title><image href="https://evil.example/tea.png"/></g>')],
    ['parts that nothing draws', svg('<defs><circle id="c" r="3"/></defs><use href="#c"/><style>.a{fill:red}</style>')],
    ['more than 100 KB', Buffer.concat([png, Buffer.alloc(102_400)])],
  ])('%s is none', async (_, file) => {
    const answer = await upload(file);
    expect([answer.status, ['INVALID_LOGO', 'VALIDATION_ERROR']]).toEqual([
      400,
      expect.arrayContaining([answer.body.error.code]),
    ]);
  });
});

describe('B3: the page of a payment', () => {
  it('shows logo, colour, contact, terms, order and what it is for', async () => {
    await change({
      supportEmail: 'help@shop.example',
      supportUrl: '',
      termsUrl: 'https://shop.example/terms',
      accentColor: '#ffd166',
    });
    const { logoUrl } = (await upload(png)).body.data as { logoUrl: string };
    const { id, slug } = await anInvoice(admin, { merchantOrderId: 'A-7', description: ' Tea <b>&</b> cups ' });
    const page = await (await fetch(`${checkoutUrl}/i/${slug}`)).text();
    for (const part of [
      `src="${logoUrl}"`,
      'href="/static/accent-ffd166.css',
      `href="mailto:help@shop.example?subject=${slug}"`,
      'href="https://shop.example/terms"',
      'A-7',
      'Tea &lt;b&gt;&amp;&lt;/b&gt; cups',
    ])
      expect(page).toContain(part);
    const view = (await h.call('GET', `/getInvoiceStatus?invoiceId=${slug}`)).body;
    expect(view).toMatchObject({ description: 'Tea <b>&</b> cups', branding: { logoUrl, accentColor: '#ffd166' } });
    expect((await admin.get(`/api/v1/payments/${id}`)).body.description).toBe('Tea <b>&</b> cups');
  });

  it('has a style sheet of the colour, and of nothing else', async () => {
    const sheet = await fetch(`${checkoutUrl}/static/accent-ffd166.css`);
    expect(await sheet.text()).toMatch(
      /^:root\{--brand:#[0-9a-f]{6};--on-brand:#ffffff\}@media \(prefers-color-scheme:dark\)/,
    );
    expect(sheet.headers.get('content-type')).toContain('text/css');
    for (const color of ['ffd16', 'red', 'ffd166;}', 'FFD166'])
      expect((await fetch(`${checkoutUrl}/static/accent-${encodeURIComponent(color)}.css`)).status).toBe(404);
  });

  it('refuses too long a description', async () => {
    const answer = await admin.post('/api/v1/payments', { amount: 40, description: 'x'.repeat(201) });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
