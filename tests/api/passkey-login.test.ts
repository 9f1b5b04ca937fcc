import { newId } from '../../domain/ids';
import { Authenticator } from './authenticator';
import { startHarness, type Answer, type Harness } from './harness';
import { Person } from './person';

/** Signing in by a passkey, alone and after the password: whom the authenticator may name. */

let h: Harness;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1' });
});
afterAll(() => h?.stop());
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const origin = 'http://localhost:3002';
const refusalOf = ({ status, body }: Answer): [number, unknown] => [status, body.error?.code ?? body.error];
const passkeyRefused = [401, 'The passkey was not accepted'];

/** An admin with a passkey. */
async function owner(): Promise<{ person: Person; id: string; key: Authenticator }> {
  const person = await Person.admin(h);
  const { id } = (await person.get('/api/v1/auth/me')).body;
  const key = new Authenticator(origin);
  await h.db.query(
    'INSERT INTO passkey (id, user_id, credential_id, public_key, counter, name) VALUES ($1, $2, $3, $4, 0, $5)',
    [newId(), id, key.credentialId, key.publicKey, 'key'],
  );
  h.api.deps.sessions.forget();
  return { person, id, key };
}
/** What `key` answers to a login, in the name of `userId`. */
async function answered(key: Authenticator, userId?: string): Promise<object> {
  const { options, challengeKey } = (await new Person(h).post('/api/v1/auth/passkey/login-options')).body;
  return { passkeyResponse: key.answer(options, userId), challengeKey };
}

it.each([
  ['names its owner', (id: string) => id, 200],
  ['names nobody', () => undefined, 200],
  ['names somebody else', () => newId(), 401],
  ['names an empty user', () => '', 401],
])('a passkey that %s', async (_what, named, status) => {
  const { id, key } = await owner();
  const answer = await new Person(h).post('/api/v1/auth/passkey/login-verify', await answered(key, named(id)));
  expect(answer.status).toBe(status);
  if (status === 200) expect(answer.body.id).toBe(id);
  else expect(refusalOf(answer)).toEqual(passkeyRefused);
});

it('names its owner after the password too, and for an act', async () => {
  const { person, id, key } = await owner();
  const other = await owner();
  const login = await person.post('/api/v1/auth/login', { email: person.email, password: person.password_ });
  const second = async (userId: string) =>
    person.post('/api/v1/auth/2fa/validate-passkey', {
      totpToken: login.body.totpToken,
      ...(await answered(key, userId)),
    });
  expect(refusalOf(await second(other.id))).toEqual(passkeyRefused);
  expect((await second(id)).status).toBe(200);

  const factor = async (userId: string): Promise<object> => {
    const asked = await person.post('/api/v1/auth/mfa/passkey-options', { action: 'backup_codes' });
    const { options, challengeKey } = asked.body.data;
    return { passkeyResponse: key.answer(options, userId), challengeKey };
  };
  const path = '/api/v1/auth/backup-codes/regenerate';
  expect(refusalOf(await person.post(path, await factor(other.id)))).toEqual([401, 'VERIFICATION_FAILED']);
  expect((await person.post(path, await factor(id))).status).toBe(200);
});
