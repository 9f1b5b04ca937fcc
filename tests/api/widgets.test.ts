import { routes } from '../../api/routes';
import { startHarness, type Harness } from './harness';
import { Person } from './person';

/** Widgets as a merchant makes them: one row for each rule of Contract: 2.11 and 4.9, what is taken as well as what is
 *  refused. */

let h: Harness;
let admin: Person;
let foreign: Person;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
  admin = await Person.admin(h);
  foreign = await Person.admin(h);
});
afterAll(() => h?.stop());
// Each row is a mutation; the limit has a test of its own.
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const base = { type: 'payment', name: 'Button', amountMode: 'fixed', fixedAmount: '25' };
const make = (over: Record<string, unknown> = {}, person = admin) =>
  person.post(
    '/api/v1/widgets',
    Object.fromEntries(Object.entries({ ...base, ...over }).filter(([, v]) => v !== undefined)),
  );
const made = async (over: Record<string, unknown> = {}): Promise<Record<string, unknown> & { id: string }> => {
  const answer = await make(over);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body.data;
};
const patch = (id: string, body: unknown, person = admin) => person.call('PATCH', `/api/v1/widgets/${id}`, body);
const many = (n: number, of: (i: number) => string) => Array.from({ length: n }, (_, i) => of(i));

describe('A1: the rules of a widget', () => {
  it.each<[rule: string, fields: Record<string, unknown>, stored: Record<string, unknown>]>([
    ['type: donation', { type: 'donation' }, { type: 'donation' }],
    ['name: 1 character', { name: 'x' }, { name: 'x' }],
    ['name: 80 characters', { name: 'x'.repeat(80) }, { name: 'x'.repeat(80) }],
    ['name: blanks around it go', { name: '  Shop ' }, { name: 'Shop' }],
    ['amountMode: variable needs no amount', { amountMode: 'variable', fixedAmount: undefined }, { fixedAmount: null }],
    ['amountMode: variable keeps no fixed amount', { amountMode: 'variable' }, { fixedAmount: null }],
    ['fixedAmount: a number', { fixedAmount: 25.5 }, { fixedAmount: '25.5' }],
    ['fixedAmount: an exact text', { fixedAmount: '19.990' }, { fixedAmount: '19.99' }],
    [
      'suggested amounts and limits',
      { amountMode: 'variable', suggestedAmounts: [5, '10', '10.0'], minAmount: '5', maxAmount: 100 },
      { suggestedAmounts: ['5', '10'], minAmount: '5', maxAmount: '100' },
    ],
    ['fixedAmount: what doubles add is not meant', { fixedAmount: 0.1 + 0.2 }, { fixedAmount: '0.3' }],
    ['allowedOrigins: none', {}, { allowedOrigins: [] }],
    [
      'allowedOrigins: a URL is its host',
      { allowedOrigins: ['https://Shop.Example/cart?x=1'] },
      { allowedOrigins: ['shop.example'] },
    ],
    ['allowedOrigins: a port goes', { allowedOrigins: ['shop.example:8443'] }, { allowedOrigins: ['shop.example'] }],
    [
      'allowedOrigins: a trailing dot goes',
      { allowedOrigins: ['shop.example.'] },
      { allowedOrigins: ['shop.example'] },
    ],
    ['allowedOrigins: punycode', { allowedOrigins: ['bücher.example'] }, { allowedOrigins: ['xn--bcher-kva.example'] }],
    [
      'allowedOrigins: once each',
      { allowedOrigins: ['a.example', 'https://A.example/'] },
      { allowedOrigins: ['a.example'] },
    ],
    [
      'allowedOrigins: localhost and addresses',
      { allowedOrigins: ['localhost', '127.0.0.1'] },
      { allowedOrigins: ['localhost', '127.0.0.1'] },
    ],
    [
      'allowedOrigins: 20',
      { allowedOrigins: many(20, (i) => `s${i}.example`) },
      { allowedOrigins: many(20, (i) => `s${i}.example`) },
    ],
    [
      'allowedOrigins: 253 characters',
      { allowedOrigins: [`https://a.example/${'x'.repeat(235)}`] },
      { allowedOrigins: ['a.example'] },
    ],
    [
      'allowedCurrencies: any case, once',
      { allowedCurrencies: ['btc', 'BTC', 'eth'] },
      { allowedCurrencies: ['BTC', 'ETH'] },
    ],
    ['allowedCurrencies: 50 entries', { allowedCurrencies: many(50, () => 'BTC') }, { allowedCurrencies: ['BTC'] }],
    [
      'donor fields, in their order',
      { donorFields: ['comment', 'name'], requiredDonorFields: ['name'] },
      { donorFields: ['name', 'comment'], requiredDonorFields: ['name'] },
    ],
    [
      'a required field is collected',
      { requiredDonorFields: ['email'] },
      { donorFields: ['email'], requiredDonorFields: ['email'] },
    ],
    ['displayMode: redirect unless named', {}, { displayMode: 'redirect' }],
    [
      'displayMode: inline with origins',
      { displayMode: 'inline', allowedOrigins: ['a.example'] },
      { displayMode: 'inline' },
    ],
    [
      'successUrl',
      { successUrl: 'https://shop.example/thanks?a=1#b' },
      { successUrl: 'https://shop.example/thanks?a=1#b', cancelUrl: null },
    ],
    ['successUrl: 2048 characters', { successUrl: `https://s.example/${'x'.repeat(2030)}` }, {}],
    ['successUrl: empty is none', { successUrl: '' }, { successUrl: null }],
    ['cancelUrl', { cancelUrl: 'https://shop.example/no' }, { cancelUrl: 'https://shop.example/no' }],
    [
      'branding: defaults',
      {},
      {
        branding: {
          buttonLabel: '',
          subLabel: '',
          accentColor: '',
          layout: 'badge',
          icon: 'auto',
          size: 'md',
          fullWidth: false,
          cornerRadius: 8,
        },
      },
    ],
    [
      'branding: all of it, at its limits',
      {
        branding: {
          buttonLabel: 'x'.repeat(40),
          subLabel: 'y'.repeat(48),
          accentColor: '#0a7CFF',
          layout: 'heart',
          icon: 'usdt',
          size: 'lg',
          fullWidth: true,
          cornerRadius: 32,
        },
      },
      {
        branding: expect.objectContaining({
          buttonLabel: 'x'.repeat(40),
          subLabel: 'y'.repeat(48),
          accentColor: '#0a7CFF',
          cornerRadius: 32,
        }),
      },
    ],
    [
      'branding: radius 0, three digits',
      { branding: { cornerRadius: 0, accentColor: '#fff' } },
      { branding: expect.objectContaining({ cornerRadius: 0, size: 'md' }) },
    ],
    ['isActive: off from the start', { isActive: false }, { isActive: false }],
    ['unknown fields are stripped', { colour: 'red', merchantId: 'f'.repeat(24) }, {}],
  ])('takes %s', async (_, fields, stored) => {
    const widget = await made(fields);
    expect(widget).toMatchObject(stored);
    expect(widget).not.toHaveProperty('colour');
    expect((await admin.get(`/api/v1/widgets/${widget.id}`)).body.data).toEqual(widget);
  });

  const badBranding = (field: string, value: unknown): [string, Record<string, unknown>, string] => [
    `branding.${field}: ${JSON.stringify(value).slice(0, 20)}`,
    { branding: { [field]: value } },
    `branding.${field}`,
  ];
  it.each<[rule: string, fields: Record<string, unknown>, names: string]>([
    ['no type', { type: undefined }, 'type'],
    ['another type', { type: 'gift' }, 'type'],
    ['no name', { name: undefined }, 'name'],
    ['an empty name', { name: '' }, 'name'],
    ['a blank name', { name: '   ' }, 'name'],
    ['a name of 81 characters', { name: 'x'.repeat(81) }, 'name'],
    ['a name with a control character', { name: 'a\u0000b' }, 'name'],
    ['no amountMode', { amountMode: undefined }, 'amountMode'],
    ['another amountMode', { amountMode: 'free' }, 'amountMode'],
    ['fixed without an amount', { fixedAmount: undefined }, 'fixedAmount'],
    ...[0, -1, '0', 12.345, '12.345', '0.001', '-5', '1e3', 'abc', ' 5', '', '1000000000001', 1e400, true].map(
      (amount): [string, Record<string, unknown>, string] => [
        `fixedAmount ${JSON.stringify(amount)}`,
        { fixedAmount: amount },
        'fixedAmount',
      ],
    ),
    ...(['minAmount', 'maxAmount'] as const).map((limit): [string, Record<string, unknown>, string] => [
      `${limit} finer than a cent`,
      { amountMode: 'variable', [limit]: '5.005' },
      limit,
    ]),
    [
      'a suggestion finer than a cent',
      { amountMode: 'variable', suggestedAmounts: ['5', '7.505'] },
      'suggestedAmounts',
    ],
    ['minAmount above maxAmount', { amountMode: 'variable', minAmount: '10', maxAmount: '9.99' }, 'minAmount'],
    [
      'a suggestion outside of the limits',
      { amountMode: 'variable', minAmount: '10', suggestedAmounts: ['5'] },
      'suggestedAmounts',
    ],
    [
      'too many suggestions',
      { amountMode: 'variable', suggestedAmounts: ['1', '2', '3', '4', '5', '6', '7'] },
      'suggestedAmounts',
    ],
    ['21 origins', { allowedOrigins: many(21, (i) => `s${i}.example`) }, 'allowedOrigins'],
    ['an origin of 254 characters', { allowedOrigins: [`https://a.example/${'x'.repeat(236)}`] }, 'allowedOrigins'],
    ...[
      'com',
      'null',
      '*',
      '*.example.com',
      'ftp://a.example',
      'https://',
      'a b.example',
      '',
      'https://a.example@evil.example',
      '.example',
      'a..example',
      'javascript:alert(1)',
    ].map((entry): [string, Record<string, unknown>, string] => [
      `origin '${entry}'`,
      { allowedOrigins: [entry] },
      'allowedOrigins',
    ]),
    ['origins that are no list', { allowedOrigins: 'a.example' }, 'allowedOrigins'],
    ['51 currencies', { allowedCurrencies: many(51, () => 'BTC') }, 'allowedCurrencies'],
    ['an unknown currency', { allowedCurrencies: ['DOGE'] }, 'allowedCurrencies'],
    ['another donor field', { donorFields: ['birthday'] }, 'donorFields'],
    ['another required donor field', { requiredDonorFields: ['birthday'] }, 'requiredDonorFields'],
    ['another displayMode', { displayMode: 'popup' }, 'displayMode'],
    ['inline without origins', { displayMode: 'inline' }, 'allowedOrigins'],
    ['inline with no origin left', { displayMode: 'inline', allowedOrigins: [] }, 'allowedOrigins'],
    ['a relative successUrl', { successUrl: '/thanks' }, 'successUrl'],
    ['a successUrl that is a script', { successUrl: 'javascript:alert(1)' }, 'successUrl'],
    ['a successUrl with a user', { successUrl: 'https://shop.example@evil.example/' }, 'successUrl'],
    ['a successUrl of 2049 characters', { successUrl: `https://s.example/${'x'.repeat(2031)}` }, 'successUrl'],
    ['a cancelUrl of another scheme', { cancelUrl: 'ftp://shop.example/' }, 'cancelUrl'],
    ['a cancelUrl of 2049 characters', { cancelUrl: `https://s.example/${'x'.repeat(2031)}` }, 'cancelUrl'],
    ['branding that is no object', { branding: 'red' }, 'branding'],
    badBranding('buttonLabel', 'x'.repeat(41)),
    badBranding('subLabel', 'x'.repeat(49)),
    badBranding('accentColor', 'red'),
    badBranding('accentColor', '#12345'),
    badBranding('accentColor', '#1234567'),
    badBranding('accentColor', '#ggg'),
    badBranding('layout', 'wide'),
    badBranding('icon', 'doge'),
    badBranding('size', 'xl'),
    badBranding('fullWidth', 'yes'),
    badBranding('cornerRadius', -1),
    badBranding('cornerRadius', 33),
    badBranding('cornerRadius', '8'),
    ['isActive that is no boolean', { isActive: 'false' }, 'isActive'],
    ['a thank-you text of 301 characters', { thankYouText: 'x'.repeat(301) }, 'thankYouText'],
  ])('refuses %s', async (_, fields, names) => {
    const before = (await admin.get('/api/v1/widgets')).body.data.total;
    const answer = await make(fields);
    expect([answer.status, answer.body.ok, answer.body.error?.code]).toEqual([400, false, 'VALIDATION_ERROR']);
    expect(answer.body.error.message).toContain(names);
    expect((await admin.get('/api/v1/widgets')).body.data.total).toBe(before);
  });

  it.each([
    ['http', 'successUrl', 'http://shop.example/', 'CALLBACK_NOT_HTTPS'],
    ['an internal host', 'successUrl', 'https://127.0.0.1/', 'CALLBACK_INTERNAL'],
    ['an internal host', 'cancelUrl', 'https://intranet/', 'CALLBACK_INTERNAL'],
  ])('refuses %s as %s', async (_, field, url, code) => {
    const answer = await make({ [field]: url });
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
  });

  it('takes amounts in whole minor units of what the merchant prices in', async () => {
    const owner = await Person.admin(h);
    expect((await owner.call('PATCH', '/api/v1/settings', { displayCurrency: 'JPY' })).status).toBe(200);
    expect((await make({ fixedAmount: 2500 }, owner)).body.data.fixedAmount).toBe('2500');
    const answer = await make({ fixedAmount: '25.5' }, owner);
    expect([answer.status, answer.body.error?.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(answer.body.error.message).toContain('fixedAmount');
  });

  it('takes success and cancel addresses of the listed callback domains alone', async () => {
    const owner = await Person.admin(h);
    expect((await owner.call('PATCH', '/api/v1/settings', { callbackDomains: ['shop.example'] })).status).toBe(200);
    for (const field of ['successUrl', 'cancelUrl']) {
      expect((await make({ [field]: 'https://www.shop.example/x' }, owner)).status).toBe(201);
      for (const host of ['evil-shop.example', 'shop.example.evil.example', 'other.example']) {
        const answer = await make({ [field]: `https://${host}/` }, owner);
        expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
        expect(answer.body.error.message).toContain(field);
      }
    }
  });
});

describe('A1: a widget', () => {
  it('is the record of the contract', async () => {
    const widget = await made();
    const { publishableKey } = (await admin.get('/api/v1/api-keys/publishable')).body;
    expect(widget).toMatchObject({
      id: expect.stringMatching(/^[0-9a-f]{24}$/),
      merchantId: expect.stringMatching(/^[0-9a-f]{24}$/),
      isActive: true,
      stats: { opens: 0, payments: 0, paidUsd: '0' },
    });
    expect(widget['embedSnippet']).toBe(
      '<script src="http://127.0.0.1:3001/embed.js" defer></script>\n' +
        `<crypto-pay-button widget="${widget.id}" key="${publishableKey}"></crypto-pay-button>`,
    );
  });

  it('is listed by page, type and state, newest first', async () => {
    const owner = await Person.admin(h);
    const ids: string[] = [];
    for (const over of [{}, { type: 'donation' }, { isActive: false }])
      ids.push((await make(over, owner)).body.data.id);
    const listed = async (query: string) => {
      const { items, total } = (await owner.get(`/api/v1/widgets${query}`)).body.data;
      return [items.map((item: { id: string }) => ids.indexOf(item.id)), total];
    };
    expect(await listed('')).toEqual([[2, 1, 0], 3]);
    expect(await listed('?limit=1&page=2')).toEqual([[1], 3]);
    expect(await listed('?type=donation')).toEqual([[1], 1]);
    expect(await listed('?isActive=false')).toEqual([[2], 1]);
    expect(await listed('?isActive=true&type=payment')).toEqual([[0], 1]);
    expect((await owner.get('/api/v1/widgets?type=gift')).body.error.code).toBe('VALIDATION_ERROR');
  });

  it('changes what is named and keeps the rest, by the same rules', async () => {
    const widget = await made({
      displayMode: 'inline',
      allowedOrigins: ['a.example'],
      successUrl: 'https://a.example/',
      donorFields: ['name', 'email'],
      requiredDonorFields: ['email'],
      branding: { buttonLabel: 'Pay', size: 'lg' },
    });
    const changed = async (body: object) => {
      const answer = await patch(widget.id, body);
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
      return answer.body.data;
    };
    expect(await changed({ name: 'New' })).toEqual({ ...widget, name: 'New', updatedAt: expect.any(String) });
    expect(await changed({ branding: { size: 'sm' } })).toMatchObject({ branding: { buttonLabel: 'Pay', size: 'sm' } });
    expect(await changed({ branding: { buttonLabel: '' } })).toMatchObject({
      branding: { buttonLabel: '', size: 'sm' },
    });
    expect(await changed({ successUrl: '' })).toMatchObject({ successUrl: null });
    expect(await changed({ donorFields: ['name'] })).toMatchObject({ donorFields: ['name'], requiredDonorFields: [] });
    expect(await changed({ isActive: false })).toMatchObject({ isActive: false });
    expect(await changed({ isActive: true, colour: 1 })).toMatchObject({ isActive: true });
    for (const body of [
      { allowedOrigins: [] },
      { name: ' ' },
      { fixedAmount: '0' },
      { branding: { cornerRadius: 40 } },
    ]) {
      const answer = await patch(widget.id, body);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect(await changed({ displayMode: 'redirect', allowedOrigins: [] })).toMatchObject({ allowedOrigins: [] });
    expect(await changed({ amountMode: 'variable' })).toMatchObject({ fixedAmount: null });
    expect((await patch(widget.id, { amountMode: 'fixed' })).body.error.message).toContain('fixedAmount');
    expect(await changed({ amountMode: 'fixed', fixedAmount: 7 })).toMatchObject({ fixedAmount: '7' });
  });

  it('is deleted once', async () => {
    const { id } = await made();
    const gone = await admin.call('DELETE', `/api/v1/widgets/${id}`);
    expect([gone.status, gone.body]).toEqual([200, { ok: true, data: { deleted: true } }]);
    expect((await admin.call('DELETE', `/api/v1/widgets/${id}`)).status).toBe(404);
  });

  it('of another merchant and an unknown one are the same: not found', async () => {
    const { id } = await made();
    for (const [person, wanted] of [
      [foreign, id],
      [admin, 'f'.repeat(24)],
    ] as const)
      for (const method of ['GET', 'PATCH', 'DELETE'] as const) {
        const answer = await person.call(
          method,
          `/api/v1/widgets/${wanted}`,
          method === 'PATCH' ? { name: 'x' } : undefined,
        );
        expect([method, answer.status, answer.body]).toEqual([
          method,
          404,
          { ok: false, error: { code: 'WIDGET_NOT_FOUND', message: 'Widget not found' } },
        ]);
      }
    expect((await admin.get('/api/v1/widgets/nonsense')).body.error.code).toBe('INVALID_ID');
    expect((await admin.get(`/api/v1/widgets/${id}`)).status).toBe(200);
  });

  it('is looked at with widgets:view and changed with widgets:manage, never with a key', async () => {
    const { id } = await made();
    const viewer = await Person.member(admin, ['widgets:view']);
    const manager = await Person.member(admin, ['widgets:manage']);
    expect((await viewer.get('/api/v1/widgets')).status).toBe(200);
    const refused = await make({}, viewer);
    expect([refused.status, refused.body]).toEqual([
      403,
      { error: 'Insufficient permission', requiredPermission: 'widgets:manage' },
    ]);
    expect((await patch(id, { name: 'x' }, viewer)).status).toBe(403);
    expect((await make({}, manager)).status).toBe(201);
    const shop = await h.shop();
    const byKey = await h.call('POST', '/api/v1/widgets', { key: shop.key, body: base });
    expect([byKey.status, byKey.body]).toEqual([401, { error: 'Invalid or expired token' }]);
  });

  it('changes at most 20 times a minute, however', async () => {
    const owner = await Person.admin(h);
    const { id } = (await make({}, owner)).body.data;
    const statuses: number[] = [];
    for (let n = 0; n < 10; n += 1) statuses.push((await patch(id, { name: `n${n}` }, owner)).status);
    for (let n = 0; n < 9; n += 1) statuses.push((await make({}, owner)).status);
    expect(statuses.every((status) => status < 300)).toBe(true);
    const over = await owner.call('DELETE', `/api/v1/widgets/${id}`);
    expect([over.status, over.body.error.code, over.headers.get('retry-after')]).toEqual([
      429,
      'RATE_LIMITED',
      expect.any(String),
    ]);
    expect((await owner.get('/api/v1/widgets')).status).toBe(200);
  });

  it('leaves who did what in the audit log', async () => {
    const { id } = await made();
    await patch(id, { name: 'Other' });
    await patch(id, {});
    await admin.call('DELETE', `/api/v1/widgets/${id}`);
    const { items } = (await admin.get('/api/v1/audit-log?limit=20')).body.data;
    const acts = items
      .filter((item: { target: string }) => item.target === id)
      .map((item: { action: string }) => item.action);
    expect(acts).toEqual(['widget.deleted', 'widget.changed', 'widget.created']);
  });
});

describe('A1: the API reference', () => {
  it('has every route of widgets, each with its refusals', async () => {
    const names = routes.filter(({ path }) => path.includes('/widgets')).map(({ name }) => name);
    expect(names.sort()).toEqual([
      'changeWidget',
      'createWidget',
      'deleteWidget',
      'getPublicWidget',
      'getWidget',
      'listWidgets',
      'openWidgetCheckout',
    ]);
    const { paths } = (await h.call('GET', '/api/v1/openapi.json')).body;
    const checkout = paths['/api/v1/public/widgets/{widgetId}/checkout'].post;
    expect(checkout.security).toEqual([{ publishableKey: [] }]);
    expect(Object.keys(checkout.responses).sort()).toEqual(['201', '400', '401', '403', '404', 'default']);
    expect(Object.keys(paths['/api/v1/public/widgets/{widgetId}'].get.responses)).toContain('304');
  });
});
