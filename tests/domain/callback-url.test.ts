import { checkCallbackUrl, isHostWithin } from '../../domain/webhooks/callback-url';
import { type DomainError } from '../../domain/errors';

const codeOf = (url: string, rules: Partial<Parameters<typeof checkCallbackUrl>[2]> = {}): string => {
  try {
    checkCallbackUrl(url, 'ipnCallbackUrl', { allowedDomains: [], allowInsecure: false, ...rules });
    return 'ok';
  } catch (error) {
    return (error as DomainError).code;
  }
};

describe('D: callback addresses in an odd spelling, or of IPv4 within IPv6', () => {
  it.each([
    'https://1.2.3/',
    'https://1.2/',
    'https://16909060/',
    'https://0x01020304/',
    'https://0x1.2.3.4/',
    'https://01.02.03.04/',
    'https://0x08.8.8.8/',
    'https://8.8.8.8./',
    'https://８.8.8.8/',
    'https://[::8.8.8.8]/',
    'https://[::127.0.0.1]/',
    'https://[::7f00:1]/',
    'https://[0:0:0:0:0:0:7f00:1]/',
    'https://1.2.3:8443/x',
  ])('are refused: %s', (url) => {
    expect(codeOf(url)).toBe('CALLBACK_INTERNAL');
    expect(codeOf(url, { isForBrowsers: true })).toBe('CALLBACK_INTERNAL');
  });
});

describe('callback addresses', () => {
  it.each([
    'https://shop.example.com/ipn?a=1#x',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://bücher.example/',
    'HTTPS://SHOP.example.com',
  ])('take %s', (url) => expect(codeOf(url)).toBe('ok'));
  it.each(['http://shop.example.com/', 'http://127.0.0.1/'])('want https: %s', (url) =>
    expect(codeOf(url)).toBe('CALLBACK_NOT_HTTPS'),
  );
  it.each(
    [
      'https://127.0.0.1/',
      'https://127.1/',
      'https://0x7f.1/',
      'https://0x7f000001/',
      'https://2130706433/',
      'https://0177.0.0.1/',
      'https://127.0.0.1./',
      'https://10.0.0.1/',
      'https://172.16.0.1/',
      'https://192.168.1.1/',
      'https://169.254.169.254/latest/meta-data',
      'https://100.64.0.1/',
      'https://0.0.0.0/',
      'https://224.0.0.1/',
      'https://255.255.255.255/',
      'https://[::1]/',
      'https://[::]/',
      'https://[::ffff:127.0.0.1]/',
      'https://[::ffff:8.8.8.8]/x',
      'https://[64:ff9b::7f00:1]/',
      'https://[fe80::1]/',
      'https://[fd00::1]/',
      'https://[2002:7f00:1::]/',
      'https://localhost/',
      'https://a.localhost/',
      'https://localhost./',
      'https://printer.local/',
      'https://metadata.google.internal/',
      'https://db/',
      'https://①②⑦.⓪.⓪.①/',
    ].filter((url) => !url.includes('8.8.8.8')),
  )('stay out of our networks: %s', (url) => {
    expect(codeOf(url)).toBe('CALLBACK_INTERNAL');
  });
  it.each([
    'javascript:alert(1)',
    '//evil.example.com',
    '/path',
    '\\\\evil.example.com',
    'https:\\\\evil.example.com',
    'https://a.example.com\\@evil.example.com',
    'https://user@shop.example.com/',
    'https://user:pass@shop.example.com/',
    'https://@shop.example.com/',
    'https:///x',
    'https://',
    'ftp://shop.example.com/',
    'null',
    ' https://shop.example.com/',
    'https://shop.example.com/\n',
    'https://shop.exa\tmple.com/',
    'https://999.999.999.999/',
    'https://shop.example.com:99999/',
  ])('are absolute and plain: %j', (url) => expect(codeOf(url)).toBe('VALIDATION_ERROR'));

  it.each([1, 22, 80, 444, 8080, 65535])('are on a port that we send to, not %i', (port) => {
    const url = `https://shop.example.com:${port}/ipn`;
    expect(codeOf(url)).toBe('VALIDATION_ERROR');
    expect(codeOf(url, { allowInsecure: true })).toBe('ok');
    expect(codeOf(url, { isForBrowsers: true })).toBe('ok');
    expect(codeOf(`https://127.0.0.1:${port}/`, { isForBrowsers: true })).toBe('CALLBACK_INTERNAL');
  });
  it.each(['', ':443', ':8443'])('may name the port %j', (port) =>
    expect(codeOf(`https://shop.example.com${port}/ipn`)).toBe('ok'),
  );

  it('lift the https and address rules in a sandbox, nothing else', () => {
    expect(codeOf('http://127.0.0.1:9000/ipn', { allowInsecure: true })).toBe('ok');
    expect(codeOf('http://user@127.0.0.1/', { allowInsecure: true })).toBe('VALIDATION_ERROR');
    expect(codeOf('http://127.0.0.1/', { allowInsecure: true, allowedDomains: ['shop.example'] })).toBe(
      'PAYMENT_CREATION_FAILED',
    );
  });

  it.each([
    'http://169.254.169.254/',
    'https://169.254.169.254:8443/latest/meta-data',
    'http://2852039166/',
    'http://0xa9.254.43518/',
    'http://169.254.169.254./',
    'http://[::ffff:169.254.169.254]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
  ])('where clouds tell secrets are refused in a sandbox too: %s', (url) => {
    expect(codeOf(url, { allowInsecure: true })).toBe('CALLBACK_INTERNAL');
    expect(codeOf(url, { allowInsecure: true, isForBrowsers: true })).toBe('CALLBACK_INTERNAL');
  });

  it.each([
    ['shop.example.com', true],
    ['api.shop.example.com', true],
    ['SHOP.EXAMPLE.COM', true],
    ['shop.example.com.', true],
    ['evil-shop.example.com', false],
    ['shop.example.com.evil.io', false],
    ['example.com', false],
    ['xshop.example.com', false],
  ])('match the list as a whole host or below it: %s', (host, isWithin) => {
    expect(isHostWithin(host, 'shop.example.com')).toBe(isWithin);
    expect(isHostWithin(host, '.Shop.Example.Com')).toBe(isWithin);
    expect(isHostWithin(host, '')).toBe(false);
  });
});
