import { momentOf } from '../../api/http/dates';
import { hostCheck } from '../../api/http/hosts';
import { errorResponse } from '../../api/http/errors';
import { openSealed, randomBase62, seal, tokenHash } from '../../db/sealing';

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
