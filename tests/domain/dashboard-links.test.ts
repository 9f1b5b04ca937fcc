import { pageAfter } from '../../web/dashboard/account/page-after';

/** Where a link to the sign-in page may lead. */

const own = 'https://pay.shop.example';

describe('6: after signing in, a person comes to a page of the dashboard', () => {
  it.each([
    '/',
    '/payments',
    '/payments/',
    '/payments?status=SETTLED',
    '/payments?search=%2F%2Fevil.example&order=https://evil.example/',
    '/money/balances/USDT_ERC20',
    '/payments/65f1c0ffee0123456789abcd#timeline',
    '/team/audit?action=invitation.created&who=ann%40shop.example',
  ])('which its address names: %j', (wanted) => {
    expect(pageAfter(wanted)).toBe(wanted);
  });

  it.each([
    'https://evil.example/',
    'HTTPS://evil.example/',
    'http:evil.example',
    'https:/evil.example',
    '//evil.example/',
    '///evil.example/',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '\t//evil.example',
    ' //evil.example',
    '\u0000//evil.example',
    '/payments\r\n//evil.example',
    'java\tscript:alert(1)',
    'javascript:alert(1)',
    'JavaScript:alert(1)//',
    'data:text/html,<script>alert(1)</script>',
    'blob:https://evil.example/1',
    'mailto:evil@evil.example',
    '/dashboard/../..//evil.example',
    '/..//evil.example',
    '/./\\evil.example',
    '/%2f%2fevil.example',
    '/%2F/evil.example',
    '/%5cevil.example',
    '/%252f%252fevil.example',
    '/%09/evil.example',
    '/payments//evil.example',
    '/@evil.example',
    '/https://evil.example',
    'https://shop@evil.example/',
    `${own}@evil.example/`,
    `${own}.evil.example/`,
    `${own}/dashboard/payments`,
    'payments',
    '?next=/',
    '#/',
    '.evil.example',
    '@evil.example',
    '／／evil.example',
    '/\u202e/evil.example',
    '',
  ])('or else to the first one: %j', (wanted) => {
    expect(pageAfter(wanted)).toBe('/');
  });

  it.each<{ wanted: unknown }>([
    { wanted: undefined },
    { wanted: null },
    { wanted: 7 },
    { wanted: true },
    { wanted: ['/payments'] },
    { wanted: ['https://evil.example/'] },
    { wanted: { href: 'https://evil.example/' } },
    { wanted: { toString: () => 'https://evil.example/' } },
  ])('or else to the first one, whatever a query can hold: %j', ({ wanted }) => {
    expect(pageAfter(wanted)).toBe('/');
  });

  it('and a browser reads no other host in what is let through', () => {
    const letters = ['/', '\\', '.', ':', '@', '%2f', '%5c', '\t', '\n', ' ', '?', '#', 'a', '//', 'javascript:', '..'];
    const pages = letters.flatMap((first) =>
      letters.flatMap((second) => letters.map((third) => pageAfter(`/${first}${second}${third}`))),
    );
    const away = pages.filter((page) => [page, `/dashboard${page}`].some((at) => new URL(at, own).origin !== own));
    expect(away).toEqual([]);
  });

  it('and is not kept waiting by a long text', () => {
    for (const long of [`${'/a'.repeat(900)}!`, `/payments?search=${'a'.repeat(3_000)}`])
      expect(pageAfter(long)).toBe('/');
  });
});
