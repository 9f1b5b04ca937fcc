import type { IncomingMessage } from 'node:http';
import { clientIp, isListed, limitKey } from '../../api/client-ip';
import { momentOf } from '../../api/dates';
import { hostCheck } from '../../api/middleware/hosts';
import { errorResponse } from '../../api/middleware/errors';
import { openSealed, randomBase62, seal, tokenHash } from '../../db/sealing';

const request = (remoteAddress: string, forwarded?: string) =>
  ({
    socket: { remoteAddress },
    headers: forwarded ? { 'x-forwarded-for': forwarded } : {},
  }) as unknown as IncomingMessage;

describe('the address of a caller', () => {
  const none = { proxyCount: 0, checkoutIps: [] };
  it('is the socket, whatever a header says', () => {
    expect(clientIp(request('203.0.113.7', '1.1.1.1'), none)).toBe('203.0.113.7');
    expect(clientIp(request('::ffff:203.0.113.7'), none)).toBe('203.0.113.7');
  });
  it('is what the believed proxies saw, counted from the right', () => {
    const one = { proxyCount: 1, checkoutIps: [] };
    expect(clientIp(request('10.0.0.1', '6.6.6.6, 198.51.100.2'), one)).toBe('198.51.100.2');
    expect(clientIp(request('10.0.0.1', 'nonsense'), one)).toBe('10.0.0.1');
    expect(clientIp(request('10.0.0.1'), one)).toBe('10.0.0.1');
    expect(clientIp(request('10.0.0.1', '1.1.1.1, 198.51.100.2, 10.0.0.2'), { proxyCount: 2, checkoutIps: [] })).toBe(
      '198.51.100.2',
    );
  });
  it('is the payer that a checkout host names', () => {
    const rules = { proxyCount: 0, checkoutIps: ['10.1.0.0/16'] };
    expect(clientIp(request('10.1.2.3', '198.51.100.2'), rules)).toBe('198.51.100.2');
    expect(clientIp(request('10.2.2.3', '198.51.100.2'), rules)).toBe('10.2.2.3');
  });
  it('counts a v6 household as one', () => {
    expect(limitKey('2001:db8:1:2:3:4:5:6')).toBe(limitKey('2001:db8:1:2::1'));
    expect(limitKey('2001:db8:1:3::1')).not.toBe(limitKey('2001:db8:1:2::1'));
    expect(limitKey('198.51.100.2')).toBe('198.51.100.2');
  });
  it('is listed by address or range', () => {
    expect(isListed('::ffff:10.0.0.1', ['10.0.0.1'])).toBe(true);
    expect(isListed('10.0.0.1', ['2001:db8::/32', 'rubbish'])).toBe(false);
    expect(isListed('2001:db8::7', ['2001:db8::/32'])).toBe(true);
  });
});

describe('hosts', () => {
  const urls = { API_URL: 'https://api.example.com', CHECKOUT_URL: 'https://pay.example.com:8443' };
  it('are those configured; loopback names only outside production', () => {
    const inProduction = hostCheck({ ...urls, isProduction: true });
    expect(inProduction('API.example.com')).toBe(true);
    expect(inProduction('pay.example.com:8443')).toBe(true);
    for (const host of ['127.0.0.1:3000', 'api.example.com.evil.io', 'api.example.com:81', '', undefined])
      expect(inProduction(host)).toBe(false);
    expect(hostCheck({ ...urls, isProduction: false })('localhost:3000')).toBe(true);
  });
});

describe('moments', () => {
  it('are ISO 8601, bare dates in UTC', () => {
    expect(momentOf('2026-01-05', 'dateFrom')?.toISOString()).toBe('2026-01-05T00:00:00.000Z');
    expect(momentOf('2026-01-05T10:00:00+02:00', 'dateFrom')?.toISOString()).toBe('2026-01-05T08:00:00.000Z');
    for (const text of ['', '2026', 'yesterday', '2026-02-30T99:00:00Z', '2026-01-05T10:00'])
      expect(() => momentOf(text, 'dateFrom')).toThrow('dateFrom');
  });
});

describe('secrets', () => {
  const key = '0f'.repeat(32);
  it('sealed come back with the same key alone', () => {
    const sealed = seal(key, 'whsec_x');
    expect(sealed).not.toContain('whsec');
    expect(openSealed(key, sealed)).toBe('whsec_x');
    expect(seal(key, 'whsec_x')).not.toBe(sealed);
    expect(() => openSealed('1f'.repeat(32), sealed)).toThrow();
    expect(() => openSealed(key, `${sealed.slice(0, -2)}AA`)).toThrow();
    expect(() => openSealed(key, 'v1.x')).toThrow('Not a sealed secret');
  });
  it('hashed depend on the key', () => {
    expect(tokenHash(key, 'a')).toBe(tokenHash(key, 'a'));
    expect(tokenHash(key, 'a')).not.toBe(tokenHash('1f'.repeat(32), 'a'));
    expect(randomBase62(32)).toMatch(/^[0-9A-Za-z]{32}$/);
  });
});

describe('errors', () => {
  it.each(['57P01', '53300', 'ECONNREFUSED', '08006', '53100', '57014'])('of PostgreSQL are 503: %s', (code) => {
    const response = errorResponse(Object.assign(new Error('x'), { code }), 'B', 'id');
    expect(response).toMatchObject({ status: 503, code: 'UPSTREAM_UNAVAILABLE', headers: { 'Retry-After': '1' } });
  });
  it('nobody foresaw say nothing', () => {
    const { body } = errorResponse(new Error('secret'), 'B', 'the-id');
    expect(body).toEqual({
      ok: false,
      error: { code: 'INTERNAL_ERROR', message: 'Internal error', requestId: 'the-id' },
    });
  });
});
