import { startHarness, type Answer, type Harness } from '../api/harness';
import { password, Person } from '../api/person';

/** Alone, because two medians are compared. Invariants: 7, Enumeration. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', EVEN_ANSWER_MS: '500' });
  await Person.admin(h);
}, 60_000);
afterAll(() => h?.stop());

let address = 0;
const elsewhere = (): Record<string, string> => {
  address += 1;
  return { 'X-Forwarded-For': `10.20.${(address >> 8) % 256}.${address % 256}` };
};

/** Answers in the shape in which they can be compared: nothing of the request's own. */
const shape = (answer: Answer): string =>
  JSON.stringify([
    answer.status,
    answer.text,
    [...answer.headers]
      .filter(([name]) => !['x-request-id', 'date', 'ratelimit-remaining', 'ratelimit-reset'].includes(name))
      .sort(),
  ]);

describe('nothing tells whether an address is known', () => {
  const median = (times: number[]): number => times.sort((a, b) => a - b)[times.length >> 1]!;
  const ways: Array<[string, (email: string) => { path: string; body: object }]> = [
    ['register', (email) => ({ path: '/api/v1/auth/register', body: { email, password, acceptedTerms: true } })],
    ['login', (email) => ({ path: '/api/v1/auth/login', body: { email, password: 'Wrong-Horse-7' } })],
    ['resend', (email) => ({ path: '/api/v1/auth/resend-verification', body: { email } })],
    ['forgot', (email) => ({ path: '/api/v1/auth/forgot-password', body: { email } })],
  ];

  it.each(ways)(
    '%s: the same bytes, and medians within 10 ms of each other',
    async (name, make) => {
      const rounds = 100;
      const known: string[] = [];
      for (let n = 0; n < rounds; n += 1) known.push(`k${String(n).padStart(4, '0')}.${name}@example.com`);
      const [row] = await h.db.query<Array<{ password_hash: string }>>(
        'SELECT password_hash FROM dashboard_user LIMIT 1',
      );
      await h.db.query(
        `INSERT INTO dashboard_user (id, email, display_name, role, merchant_id, password_hash, email_verified_at)
       SELECT lpad(to_hex(n), 24, $3), email, 'x', 'merchant_admin',
         (SELECT merchant_id FROM dashboard_user WHERE merchant_id IS NOT NULL LIMIT 1), $2,
              CASE WHEN $4 THEN NULL ELSE now() END
         FROM unnest($1::text[]) WITH ORDINALITY AS given (email, n)`,
        [known, row!.password_hash, { register: 'a', login: 'b', resend: 'c', forgot: 'd' }[name], name === 'resend'],
      );
      const times = { known: [] as number[], unknown: [] as number[] };
      const shapes = { known: new Set<string>(), unknown: new Set<string>() };
      const once = async (kind: 'known' | 'unknown', email: string): Promise<void> => {
        const { path, body } = make(email);
        const began = performance.now();
        const answer = await h.call('POST', path, { body, headers: elsewhere() });
        times[kind].push(performance.now() - began);
        shapes[kind].add(shape(answer).replaceAll(email, '…'));
      };
      const lane = async (): Promise<void> => {
        for (let email = known.pop(); email; email = known.pop())
          await Promise.all([once('known', email), once('unknown', email.replace(/^k/, 'u'))]);
      };
      await Promise.all(Array.from({ length: 6 }, lane));
      expect([...shapes.known]).toEqual([...shapes.unknown]);
      expect(shapes.known.size).toBe(1);
      expect(Math.abs(median(times.known) - median(times.unknown))).toBeLessThan(10);
    },
    180_000,
  );
});
