import type { IncomingMessage } from 'node:http';
import type { DataSource, EntityManager } from 'typeorm';
import type { Config } from '../../domain/config';
import { deviceDays, rememberDevice } from '../../db/access/known-devices';
import { openSession, rotate, sessionDays, type SessionRow } from '../../db/access/sessions';
import { findSessionHolder, type SessionHolder } from '../../db/access/users';
import { lifetimeOf, readToken, signToken } from './tokens';

/** Sessions over HTTP: two cookies, or the access token as a bearer. Contract: 5.2, G13. */

export const accessCookie = 'svc_access';
export const refreshCookie = 'svc_refresh';
/** Tells a browser in which a login was completed, after the session too; it signs nobody in. */
export const deviceCookie = 'svc_device';

/** The value of a cookie of the request. */
export function cookieOf(request: IncomingMessage, name: string): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Secure everywhere: over plain HTTP browsers take such cookies from their own machine alone. */
function cookie(name: string, value: string, path: string, seconds: number): string {
  const sameSite = name === accessCookie ? 'Lax' : 'Strict';
  return `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=${sameSite}; Secure`;
}

const authPath = '/api/v1/auth';
const cookies = (access: string, refresh: string): string[] => [
  cookie(accessCookie, access, '/', access ? lifetimeOf('access') : 0),
  cookie(refreshCookie, refresh, authPath, refresh ? sessionDays * 86_400 : 0),
];
/** Cookies that remove those of a session. */
export const noCookies = (): string[] => cookies('', '');

/** Makes the browser of `request` known to a user who has just proved who they are; the cookie that says so. */
export async function rememberBrowser(
  tx: EntityManager,
  config: Config,
  userId: string,
  request: IncomingMessage,
): Promise<string> {
  const token = await rememberDevice(tx, config.SECRETS_KEY, userId, cookieOf(request, deviceCookie));
  return cookie(deviceCookie, token, authPath, deviceDays * 86_400);
}

/** The tokens of a session as it stands: the same row gives the same refresh token. */
async function cookiesOf(config: Config, session: SessionRow): Promise<{ cookies: string[]; expiresAt: Date }> {
  const issuedAt = new Date();
  const [access, refresh] = await Promise.all([
    signToken(
      config.SECRETS_KEY,
      'access',
      session.user_id,
      { sid: session.id, ver: session.session_version },
      { issuedAt },
    ),
    signToken(
      config.SECRETS_KEY,
      'refresh',
      session.user_id,
      { sid: session.id, gen: session.generation },
      { issuedAt: session.rotated_at, id: `${session.id}.${session.generation}` },
    ),
  ]);
  return {
    cookies: cookies(access, refresh),
    expiresAt: new Date(issuedAt.getTime() + lifetimeOf('access') * 1000),
  };
}

/** Signs a user in; the cookies that say so. */
export async function signIn(
  tx: EntityManager,
  config: Config,
  login: Readonly<{ userId: string; ip: string; userAgent: string }>,
): Promise<string[]> {
  return (await cookiesOf(config, await openSession(tx, login))).cookies;
}

/** Exchanges a refresh token; null where it is void. A token that was exchanged before ends its session. */
export async function refreshSession(
  db: DataSource,
  config: Config,
  token: string,
): Promise<{ cookies: string[]; expiresAt: Date } | null> {
  const read = await readToken(config.SECRETS_KEY, 'refresh', token);
  if (!read) return null;
  const session = await db.transaction((tx) => rotate(tx, read.sid, read.gen));
  return session ? cookiesOf(config, session) : null;
}

type Entry = { at: number; holder: Promise<SessionHolder | null> };

/** Looks sessions up; an answer is kept for a second, so that a revocation takes effect within one on every copy. */
export class Sessions {
  private readonly seen = new Map<string, Entry>();

  constructor(
    private readonly db: DataSource,
    private readonly secretsKey: string,
    private readonly keepMs = 1000,
  ) {}

  /** Who holds an access token, or null. Rejects where PostgreSQL does not answer. */
  async find(token: string): Promise<SessionHolder | null> {
    const now = Date.now();
    const entry = this.seen.get(token);
    if (entry && now - entry.at < this.keepMs) return entry.holder;
    const read = await readToken(this.secretsKey, 'access', token);
    if (!read) return null;
    if (this.seen.size > 5000) this.seen.clear();
    const holder = findSessionHolder(this.db, read.sid, read.ver);
    this.seen.set(token, { at: now, holder });
    holder.catch(() => this.seen.delete(token));
    return holder;
  }

  /** What was just changed is seen at once by this copy. */
  forget(): void {
    this.seen.clear();
  }
}
