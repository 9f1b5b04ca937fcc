import { generate } from 'otplib';
import { waitingMail } from '../../db/mail/mail';
import { caught, secretsKey, type Answer, type Harness } from './harness';

export const password = 'Correct-Horse-7';
let count = 0;
/** An address that nobody has had before in this run. */
export const newEmail = (): string => `person${(count += 1)}.${process.pid}@example.com`;

/** The text of the newest mail to `email`, sent already or waiting for its workflow. */
export async function mailTo(h: Harness, email: string): Promise<string> {
  const [row] = await h.db.query<Array<{ id: string; created_at: Date }>>(
    `SELECT id, created_at FROM mail WHERE recipient = $1 AND sealed IS NOT NULL
      ORDER BY created_at DESC, id DESC LIMIT 1`,
    [email],
  );
  const [sent] = await caught(h, email);
  if (row && (!sent || row.created_at > new Date(sent.receivedAt)))
    return (await waitingMail(h.db, secretsKey, row.id))!.text;
  if (!sent) throw new Error(`No mail to ${email}`);
  return sent.text;
}

/** Somebody at a browser of their own: keeps its cookies, comes from its own network address and from the dashboard's
 *  origin. */
export class Person {
  readonly cookies = new Map<string, string>();
  totpSecret = '';
  private step = 0;
  readonly ip = `10.77.${Math.floor((count += 1) / 250) % 250}.${count % 250}`;

  constructor(
    readonly h: Harness,
    readonly email = newEmail(),
    public password_ = password,
  ) {}

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    keepCookies = true,
  ): Promise<Answer> {
    const answer = await this.h.call(method, path, {
      ...(body === undefined ? {} : { body }),
      headers: {
        'X-Forwarded-For': this.ip,
        Origin: 'http://localhost:3002',
        ...(this.cookies.size
          ? { Cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
          : {}),
        ...headers,
      },
    });
    if (keepCookies)
      for (const line of answer.headers.getSetCookie()) {
        const [pair] = line.split(';');
        const [name, value] = [pair!.slice(0, pair!.indexOf('=')), pair!.slice(pair!.indexOf('=') + 1)];
        if (value) this.cookies.set(name, value);
        else this.cookies.delete(name);
      }
    return answer;
  }

  post = (path: string, body: unknown = {}, headers?: Record<string, string>) => this.call('POST', path, body, headers);
  get = (path: string, headers?: Record<string, string>) => this.call('GET', path, undefined, headers);

  async register(over: Record<string, unknown> = {}): Promise<Answer> {
    return this.post('/api/v1/auth/register', {
      email: this.email,
      password: this.password_,
      acceptedTerms: true,
      merchantName: 'Shop',
      displayName: 'Ann',
      ...over,
    });
  }

  /** A code that has not been used: the clock of the tests waits for nobody, so each takes the next time step. */
  async code(): Promise<string> {
    const now = Math.floor(Date.now() / 30_000);
    this.step = Math.max(this.step + 1, now); // not the one before: it may end on the way
    if (this.step > now + 1) {
      await this.h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [this.email]);
      this.step = now;
    }
    return generate({ secret: this.totpSecret, epoch: this.step * 30 });
  }

  /** Two codes that are both good until the later one has been used. */
  async twoCodes(): Promise<[earlier: string, later: string]> {
    await this.h.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [this.email]);
    this.step = Math.floor(Date.now() / 30_000) - 1;
    return [await this.code(), await this.code()];
  }

  /** From the setup token to a session. */
  async enrol(setupToken: string): Promise<Answer> {
    const setup = await this.post('/api/v1/auth/2fa/setup', { setupToken });
    this.totpSecret = setup.body.manualKey;
    return this.post('/api/v1/auth/2fa/verify-setup', {
      confirmToken: setup.body.confirmToken,
      code: await this.code(),
    });
  }

  /** A verified admin of a new merchant, signed in. */
  static async admin(h: Harness, over: Record<string, unknown> = {}): Promise<Person> {
    const person = new Person(h);
    await person.register(over);
    const code = /\d{6}/.exec(await mailTo(h, person.email))![0];
    await person.post('/api/v1/auth/verify-email', { email: person.email, code });
    const login = await person.post('/api/v1/auth/login', { email: person.email, password: person.password_ });
    await person.enrol(login.body.setupToken);
    return person;
  }

  /** An operator, signed in. */
  static async superAdmin(h: Harness): Promise<Person> {
    const person = await Person.admin(h);
    await h.db.query(`UPDATE dashboard_user SET role = 'super_admin', merchant_id = NULL WHERE email = $1`, [
      person.email,
    ]);
    h.api.deps.sessions.forget();
    return person;
  }

  /** A member of `admin`'s team, signed in. */
  static async member(admin: Person, permissions: readonly string[]): Promise<Person> {
    const person = new Person(admin.h);
    await admin.post('/api/v1/team-invitations', {
      email: person.email,
      role: 'merchant_member',
      permissions,
      totpCode: await admin.code(),
    });
    const token = /token=(\w{64})/.exec(await mailTo(admin.h, person.email))![1];
    const accepted = await person.post('/api/v1/team-invitations/accept', {
      token,
      password: person.password_,
      displayName: 'Bob',
    });
    await person.enrol(accepted.body.data.setupToken);
    return person;
  }

  async signIn(): Promise<Answer> {
    const login = await this.post('/api/v1/auth/login', { email: this.email, password: this.password_ });
    return this.post('/api/v1/auth/2fa/validate', { totpToken: login.body.totpToken, code: await this.code() });
  }
}
