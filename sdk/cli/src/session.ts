import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Refusal } from './refusal.js';
import { demoSession, keepDemoSession, type Sandbox } from './settings.js';

/** The demo user of a sandbox, signed in: does what no key may. Its mail and its authenticator are at hand there. */

type Json = Readonly<Record<string, unknown>>;
type Answer = Readonly<{ status: number; data: Json; cookies: readonly string[] }>;
/** Where the code of an act is mailed from, and with what. */
export type Code = Readonly<{ path: string; body?: Json }>;

const stepMs = 30_000;
/** A little less than the quarter of an hour that a session's access token is good for. */
const sessionMs = 14 * 60_000;

/** The six digits of an authenticator: RFC 6238 with SHA-1. `secret`: in base32. */
function totpCode(secret: string, step: number): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...secret.toUpperCase().replace(/=+$/, '')]
    .map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const digest = createHmac('sha1', key).update(counter).digest();
  const number = digest.readUInt32BE(digest.at(-1)! & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

export class Session {
  private constructor(
    private readonly sandbox: Sandbox,
    private readonly accessToken: string,
  ) {}

  /** Signs in, unless this user has done so a few minutes ago. Throws Refusal. */
  static async of(sandbox: Sandbox): Promise<Session> {
    const known = demoSession(sandbox.apiUrl);
    if (known) return new Session(sandbox, known);
    const { email, password, totpSecret } = sandbox.demo;
    const login = await request(sandbox, 'POST', '/api/v1/auth/login', { email, password });
    const { totpToken } = refused(login, 'Signing in').data;
    const answer = await withTotp(totpSecret, (code) =>
      request(sandbox, 'POST', '/api/v1/auth/2fa/validate', { totpToken, code }),
    );
    const { cookies } = refused(answer, 'Signing in');
    const accessToken = cookies.map((cookie) => /^svc_access=([^;]+)/.exec(cookie)?.[1]).find(Boolean)!;
    keepDemoSession({ apiUrl: sandbox.apiUrl, accessToken, until: Date.now() + sessionMs });
    return new Session(sandbox, accessToken);
  }

  get = (path: string): Promise<Json> => this.call('GET', path);
  post = (path: string, body: Json = {}): Promise<Json> => this.call('POST', path, body);

  /** An act that needs a second factor: a mailed code, or where no more are mailed one of the authenticator. */
  async confirmed(method: 'POST' | 'PATCH' | 'DELETE', path: string, body: Json, code: Code): Promise<Json> {
    const emailCode = await this.mailed(code);
    if (emailCode !== undefined) return this.call(method, path, { ...body, emailCode });
    const act = (totpCode: string): Promise<Answer> =>
      request(this.sandbox, method, path, { ...body, totpCode }, this.accessToken);
    return refused(await withTotp(this.sandbox.demo.totpSecret, act), `${method} ${path}`).data;
  }

  private async call(method: string, path: string, body?: Json): Promise<Json> {
    return refused(await request(this.sandbox, method, path, body, this.accessToken), `${method} ${path}`).data;
  }

  /** The code that is mailed; undefined where three have been mailed in the last quarter of an hour. */
  private async mailed({ path, body = {} }: Code): Promise<string | undefined> {
    const since = Date.now();
    const asked = await request(this.sandbox, 'POST', path, body, this.accessToken);
    if (asked.status === 429) return undefined;
    refused(asked, `POST ${path}`);
    return this.inMail(since, 'Your confirmation code', /\b(\d{6})\b/);
  }

  /** What the first group of `pattern` finds in a mail since then; undefined where none comes in half a minute. */
  async inMail(since: number, about: string, pattern: RegExp): Promise<string | undefined> {
    const box = `${this.sandbox.mailUrl}/messages.json?to=${encodeURIComponent(this.sandbox.demo.email)}`;
    for (const end = Date.now() + 30_000; Date.now() < end; await sleep(200)) {
      const mails = (await (await fetch(box)).json()) as Array<{ subject: string; text: string; receivedAt: string }>;
      const mail = mails.find(
        ({ subject, receivedAt }) => subject.startsWith(about) && Date.parse(receivedAt) >= since,
      );
      const found = mail && pattern.exec(mail.text)?.[1];
      if (found) return found;
    }
    return undefined;
  }
}

/** A code serves once, and none before the last that was used: where this one is refused, the next two are tried. A
 *  code is good half a minute before its time. */
async function withTotp(secret: string, act: (code: string) => Promise<Answer>): Promise<Answer> {
  const step = Math.floor(Date.now() / stepMs);
  for (let ahead = 0; ; ahead += 1) {
    await sleep(Math.max(0, (step + ahead - 1) * stepMs - Date.now()));
    const answer = await act(totpCode(secret, step + ahead));
    if (![400, 401].includes(answer.status) || ahead === 2) return answer;
  }
}

async function request(sandbox: Sandbox, method: string, path: string, body?: Json, token?: string): Promise<Answer> {
  const response = await fetch(sandbox.apiUrl + path, {
    method,
    headers: { 'content-type': 'application/json', ...(token ? { authorization: `Bearer ${token}` } : {}) },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const payload = (await response.json()) as Json;
  const data = (response.ok && payload['data'] ? payload['data'] : payload) as Json;
  return { status: response.status, data, cookies: response.headers.getSetCookie() };
}

/** The answer, unless it is a refusal. Throws Refusal. */
function refused(answer: Answer, what: string): Answer {
  if (answer.status < 300) return answer;
  const { error } = answer.data as { error?: string | { code: string; message: string } };
  const [code, message] = typeof error === 'object' ? [error.code, error.message] : ['NOT_TRIGGERED', String(error)];
  throw new Refusal(`${what} was refused: ${message} (${code})`, code);
}
