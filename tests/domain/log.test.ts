import pino from 'pino';
import { logOf, logOptions, redacted } from '../../domain/log';

/** No line of a log holds a secret, whatever it is called and wherever it stands. */

const written = (fields: object, text = 'text'): string => {
  let line = '';
  pino(logOptions('info', { role: 'test' }), { write: (one: string) => void (line = one) }).info(fields, text);
  return line;
};

describe('a secret in a line', () => {
  it.each([
    ['a secret key', `svc_live_${'a1B2'.repeat(8)}`],
    ['a secret key of a test instance', `svc_test_${'a1B2'.repeat(8)}`],
    ['a webhook secret', `whsec_${Buffer.alloc(32, 250).toString('base64')}`],
    ['a session token', `eyJhbGciOiJIUzI1NiJ9.${'ab-_'.repeat(9)}.${'cd-_'.repeat(9)}`],
    ['a sealed secret', `v1.${'a'.repeat(16)}.${'b'.repeat(22)}.${'c'.repeat(30)}`],
    [
      'an extended private key',
      `xprv${'9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKm'.repeat(2).slice(0, 107)}`,
    ],
    ['a private key for import', `L${'1aW4aubDFB7yfras2S1mN3bqg9nwySY8nkoLmJebSLD5BWv3ENZ'}`],
    ['the words of a seed', `${'abandon '.repeat(11)}about`],
  ])('is blacked out by its shape: %s', (_, secret) => {
    expect(written({ deep: { in: { some: [secret] } } }, `it was ${secret}`)).not.toContain(secret.slice(8));
    const line = JSON.parse(written({ note: `a "${secret}" b` })) as { note: string };
    expect(line.note).toBe('a "[redacted]" b');
  });

  it.each([
    ['postgres://cp_api:s3cret@db:5432/x', 'postgres://cp_api:[redacted]@db:5432/x'],
    ['smtp://:s3cret@mail', 'smtp://:[redacted]@mail'],
    ['Authorization: Bearer abcdefgh12', 'Authorization: Bearer [redacted]'],
    ['https://shop.example/claim?a=1&token=s3cret&b=2', 'https://shop.example/claim?a=1&token=[redacted]&b=2'],
  ])('is blacked out in %s', (text, said) => {
    expect(redacted(text)).toBe(said);
  });

  it('is blacked out by its name, and values of statements are not told', () => {
    const line = written({
      seed: 'one',
      wallet: { password: 'two' },
      err: Object.assign(new Error('failed'), { parameters: ['three'], query: 'SELECT $1' }),
    });
    expect(line).not.toMatch(/one|two|three|SELECT/);
    expect(JSON.parse(line)).toMatchObject({ seed: '[redacted]', err: { type: 'Error', message: 'failed' } });
  });
});

it('leaves ids, transactions, addresses and plain words as they are', () => {
  for (const text of [
    'f'.repeat(64),
    `0x${'a'.repeat(40)}`,
    'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
    '64b7f3a2c1d0e9f8a7b6c5d4',
    'pk_live_abcdefgh',
    'http://127.0.0.1:8080/x@y',
    'Open rows without a running workflow: asking for it again',
  ])
    expect(redacted(text)).toBe(text);
});

it('has a level for each subject that is named, and its own for the others', () => {
  const lines: string[] = [];
  const log = pino(logOptions('info', {}), { write: (line: string) => void lines.push(line) });
  for (const subject of ['requests', 'events', 'deliveries'] as const) {
    const own = logOf(log, subject, 'requests=warn, deliveries=debug');
    own.info('i');
    own.debug('d');
  }
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { subject: 'events', msg: 'i' },
    { subject: 'deliveries', msg: 'i' },
    { subject: 'deliveries', msg: 'd' },
  ]);
});
