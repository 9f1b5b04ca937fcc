import { clientIp, isListed, limitKey } from '../../domain/access/client-ip';

const request = (remoteAddress: string, forwarded?: string) => ({
  socket: { remoteAddress },
  headers: { 'x-forwarded-for': forwarded },
});

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
  it('is the payer whom a checkout names, also where others come through proxies', () => {
    const rules = { proxyCount: 1, checkoutIps: ['10.1.0.0/16'] };
    expect(clientIp(request('10.1.2.3', '198.51.100.2'), rules)).toBe('198.51.100.2');
    expect(clientIp(request('10.1.2.3'), rules)).toBe('10.1.2.3');
    expect(clientIp(request('10.1.2.3', 'nonsense'), rules)).toBe('10.1.2.3');
    // Through the proxy: its entry is the checkout, the one before it the payer.
    expect(clientIp(request('10.9.0.1', '198.51.100.2, 10.1.2.3'), rules)).toBe('198.51.100.2');
    // A payer who has an address like a checkout's is a payer all the same.
    expect(clientIp(request('10.1.2.3', '6.6.6.6, 10.1.7.7'), rules)).toBe('10.1.7.7');
  });
  it('is never what a stranger claims', () => {
    const rules = { proxyCount: 1, checkoutIps: ['10.1.0.0/16'] };
    expect(clientIp(request('10.9.0.1', '6.6.6.6, 10.1.2.3, 203.0.113.7'), rules)).toBe('203.0.113.7');
    expect(clientIp(request('203.0.113.7', '6.6.6.6, 10.1.2.3'), { ...rules, proxyCount: 0 })).toBe('203.0.113.7');
    // What the payer sent stands left of what the checkout says.
    expect(clientIp(request('10.1.2.3', '6.6.6.6, 10.1.2.3, 203.0.113.7'), rules)).toBe('203.0.113.7');
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
