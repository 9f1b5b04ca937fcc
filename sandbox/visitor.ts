import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'otplib';
import type { CaughtMail } from './parts/mail';

/** Where a visitor goes: the API, the page whose origin browsers state, and the mail they read. `ip`: where they come
 *  from, as a proxy in front of the API would say. */
export type Places = Readonly<{ apiUrl: string; dashboardUrl: string; mailUrl: string; ip?: string }>;
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- answers are read freely
type Answer = Readonly<{ status: number; body: any }>;

/** Somebody who uses the dashboard's routes over HTTP and reads mail, and can do nothing else. */
export class Visitor {
  totpSecret = '';
  private readonly cookies = new Map<string, string>();
  private step = 0;

  constructor(
    private readonly places: Places,
    readonly email: string,
    readonly password: string,
  ) {}

  /** One request as a browser makes it; rejects where the answer is no success. */
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(this.places.apiUrl + path, {
      method,
      headers: {
        'content-type': 'application/json',
        origin: new URL(this.places.dashboardUrl).origin,
        ...(this.places.ip === undefined ? {} : { 'x-forwarded-for': this.places.ip }),
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(20_000),
    });
    for (const line of response.headers.getSetCookie()) {
      const match = /^([^=]+)=([^;]*)/.exec(line);
      if (match) this.cookies.set(match[1]!, match[2]!);
    }
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return { status: response.status, body: text ? (JSON.parse(text) as unknown) : null };
  }

  /** The token that the session's cookie holds. */
  accessToken = (): string => this.cookies.get('svc_access') ?? '';

  /** The session as a browser has it at this origin. */
  browserCookies = (origin: string): Array<{ name: string; value: string; url: string }> =>
    [...this.cookies].map(([name, value]) => ({ name, value, url: origin }));

  post = (path: string, body: unknown = {}): Promise<Answer> => this.call('POST', path, body);

  /** What `pattern` finds in the newest mail of this subject that came after `since`, waited for. A test instance says
   *  what it is before the subject. */
  async mailed(subject: string, pattern: RegExp, since: number): Promise<string> {
    const subjects = [subject, `[Test] ${subject}`];
    for (const began = Date.now(); ; await sleep(100)) {
      const response = await fetch(`${this.places.mailUrl}/messages.json?to=${encodeURIComponent(this.email)}`);
      const mails = (await response.json()) as CaughtMail[];
      const mail = mails.find((one) => subjects.includes(one.subject) && Date.parse(one.receivedAt) >= since);
      const found = mail && pattern.exec(mail.text);
      if (found) return found[1]!;
      if (Date.now() - began > 30_000) throw new Error(`No mail "${subject}" to ${this.email} after 30 s`);
    }
  }

  /** From nothing to a verified account. */
  async register(merchantName: string): Promise<void> {
    const since = Date.now();
    await this.post('/api/v1/auth/register', {
      email: this.email,
      password: this.password,
      acceptedTerms: true,
      merchantName,
      displayName: 'Demo',
    });
    const code = await this.mailed('Confirm your e-mail address', /\b(\d{6})\b/, since);
    await this.post('/api/v1/auth/verify-email', { email: this.email, code });
  }

  /** The first login, with the enrolment of an authenticator. Resolves to the user object. */
  async enrol(): Promise<Answer['body']> {
    const { setupToken } = (await this.post('/api/v1/auth/login', { email: this.email, password: this.password })).body;
    return this.enrolWith(setupToken);
  }

  async enrolWith(setupToken: string): Promise<Answer['body']> {
    const { manualKey, confirmToken } = (await this.post('/api/v1/auth/2fa/setup', { setupToken })).body;
    this.totpSecret = manualKey;
    return (await this.post('/api/v1/auth/2fa/verify-setup', { confirmToken, code: await this.totpCode() })).body;
  }

  /** An authenticator code that was not used before; a step serves once, so that the fourth within half a minute
   *  waits. */
  async totpCode(): Promise<string> {
    const now = () => Math.floor(Date.now() / 30_000);
    // The step before this one is good until this one ends, unless that would come on its way.
    this.step = Math.max(this.step + 1, Math.floor((Date.now() + 10_000) / 30_000) - 1);
    while (this.step > now() + 1) await sleep(200);
    return generate({ secret: this.totpSecret, epoch: this.step * 30 });
  }

  /** A mailed code, asked for at `path`; three in a quarter of an hour at each. */
  async emailCode(path: string, body: object = {}): Promise<string> {
    const since = Date.now();
    await this.post(path, body);
    return this.mailed('Your confirmation code', /\b(\d{6})\b/, since);
  }
}
