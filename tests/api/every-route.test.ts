import { access } from '../../domain/access/access-table';
import { idsIn } from '../../api/http/path-ids';
import { routes } from '../../api/routes';
import { startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';

/** What holds for every route, walked: malformed ids, numbers that are none, and JSON that cannot be read. */

let h: Harness;
let admin: Person;
let superAdmin: Person;
let publishableKey: string;
beforeAll(async () => {
  h = await startHarness({ MODE: 'test', PROXY_COUNT: '1' });
  admin = await Person.admin(h);
  superAdmin = await Person.superAdmin(h);
  publishableKey = (await admin.get('/api/v1/api-keys/publishable')).body.publishableKey;
});
afterAll(() => h.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

type One = (typeof routes)[number];
/** Pages show the key of their merchant. */
const keyFor = (route: One): Record<string, string> =>
  access[route.name].may === 'publishable' ? { Authorization: `Bearer ${publishableKey}` } : {};
const ask = (route: One, path: string, body?: object): Promise<Answer> => {
  const person = access[route.name].may === 'super_admin' ? superAdmin : admin;
  return person.call(route.method.toUpperCase(), path, body, keyFor(route), false);
};
const filled = (path: string, value = 'f'.repeat(24)): string => path.replaceAll(/\{\w+\}/g, value);
const answered = ({ status, body }: Answer): string => `${status} ${body.error?.code ?? body.error}`;

const withIds = routes.filter((route) => idsIn(route).length > 0);
it('E: there are routes with ids', () => expect(withIds.length).toBeGreaterThan(25));
it.each(withIds.map((route) => [route.name, route] as const))(
  'E: %s refuses a malformed id as one',
  async (_, route) => {
    for (const wrong of ['zz', 'F'.repeat(24), 'f'.repeat(25)])
      expect(answered(await ask(route, filled(route.path, wrong), route.body ? {} : undefined))).toBe('400 INVALID_ID');
  },
);

const numeric = routes.flatMap((route) =>
  Object.entries((route.query?.properties ?? {}) as Record<string, { type?: string }>)
    .filter(([, { type }]) => type === 'integer' || type === 'number')
    .map(([name]) => [route.name, name, route] as const),
);
it('D: there are routes with numbers in their queries', () => expect(numeric.length).toBeGreaterThan(25));
it.each(numeric)('D: %s takes no infinity for %s', async (_, name, route) => {
  const path = filled(route.path);
  for (const wrong of ['1e309', '-1e309', 'Infinity', 'NaN', '1e400'])
    expect(answered(await ask(route, `${path}?${name}=${wrong}`))).toBe('400 VALIDATION_ERROR');
});

/** The route answers, and does not fail: nothing is there, or it is refused. */
const isAnswered = async (route: One, path: string, body?: object): Promise<void> => {
  await h.db.query('DELETE FROM rate_limit');
  const { status } = await ask(route, path, body);
  expect({ path, body, isAnswered: status < 500 }).toEqual({ path, body, isAnswered: true });
};
const named = (part: { properties?: object } | undefined): string[] => Object.keys(part?.properties ?? {});
const withText = routes.filter((route) => route.path.includes('{') || route.query || (route.body && !route.text));
it.each(withText.map((route) => [route.name, route] as const))(
  '%s answers NUL, and half of a surrogate pair, in every text',
  async (_, route) => {
    const body = route.body ? {} : undefined;
    if (route.path.includes('{')) await isAnswered(route, filled(route.path, 'a%00b'), body);
    for (const name of named(route.query)) await isAnswered(route, `${filled(route.path)}?${name}=a%00b`, body);
    if (route.body && !route.text)
      for (const name of named(route.body))
        for (const wrong of ['a\u0000b', '\ud800']) await isAnswered(route, filled(route.path), { [name]: wrong });
  },
);

const withBody = routes.filter((route) => route.body && !route.text);
it.each(withBody.map((route) => [route.name, route] as const))(
  'E: %s answers JSON that cannot be read, or is too large, in its own envelope',
  async (_, route) => {
    const person = access[route.name].may === 'super_admin' ? superAdmin : admin;
    const send = (text: string) =>
      h.call(route.method.toUpperCase(), filled(route.path), {
        text,
        headers: {
          ...keyFor(route),
          Origin: 'http://localhost:3002',
          'X-Forwarded-For': person.ip,
          Cookie: [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        },
      });
    const isA = (route.refusals ?? route.envelope) === 'A';
    const shape = (code: string) =>
      isA
        ? { ok: false, error: { code, message: expect.any(String) as string } }
        : { error: expect.any(String) as string };
    const unreadable = await send('{"amount":');
    expect([unreadable.status, unreadable.body]).toEqual([400, shape('MALFORMED_JSON')]);
    const large = await send(`{"x":"${'x'.repeat(300_000)}"}`);
    expect([large.status, large.body]).toEqual([413, shape('BODY_TOO_LARGE')]);
  },
);
