import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { recordAct } from '../../db/access/audit-log';
import { isOpen, overlapSeconds } from '../../db/access/sessions';
import { lockUser, voidSessions } from '../../db/access/users';
import { accessCookie, cookieOf, noCookies, refreshCookie, refreshSession as exchange } from './sessions';
import { actorOf } from './users';
import { checkOrigin } from '../http/origins';
import { route } from '../http/route';
import { time } from '../http/schemas';
import { readStep, tag } from './login-steps';

/** Going on with a session, and ending all of them. Contract: 4.1, 5.4, G13. */

export const refreshSession = route({
  name: 'refreshSession',
  method: 'post',
  path: '/api/v1/auth/refresh',
  summary: 'Exchange the refresh token',
  description:
    `Reads the cookie \`${refreshCookie}\`, and no cookie beside an Authorization header. Two tabs may ask at once: ` +
    `within ${overlapSeconds} seconds of its exchange a token is answered with the same new pair. A token that comes ` +
    'back later ends the session.',
  tag,
  envelope: 'B',
  success: {
    status: 200,
    schema: Type.Object({ success: Type.Literal(true), expiresAt: time }),
    headers: ['Set-Cookie'],
    description: 'Both cookies are new; `expiresAt` is the access token’s.',
  },
  errors: ['INVALID_TOKEN', 'CSRF_ORIGIN_MISMATCH'],
  async answer({ request }, { db, config }) {
    const isCookie = request.headers.authorization === undefined;
    const given = isCookie ? cookieOf(request, refreshCookie) : undefined;
    if (given === undefined) throw new DomainError('INVALID_TOKEN');
    checkOrigin(request, config);
    const next = await exchange(db, config, given);
    if (!next) throw new DomainError('INVALID_TOKEN');
    return {
      data: { success: true, expiresAt: next.expiresAt.toISOString() },
      headers: { 'Set-Cookie': next.cookies },
    };
  },
});

export const logout = route({
  name: 'logout',
  method: 'post',
  path: '/api/v1/auth/logout',
  summary: 'Sign out everywhere',
  description: 'Every token of the user made so far is void. Without a session it only removes the cookies.',
  tag,
  envelope: 'B',
  success: {
    status: 200,
    schema: Type.Object({ success: Type.Literal(true) }),
    headers: ['Set-Cookie'],
    description: 'Signed out.',
  },
  errors: ['CSRF_ORIGIN_MISMATCH'],
  async answer({ request, ...from }, deps) {
    const { config, db, sessions } = deps;
    const bearer = /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const isCookie = request.headers.authorization === undefined;
    const access = isCookie ? cookieOf(request, accessCookie) : bearer;
    const refresh = isCookie ? cookieOf(request, refreshCookie) : undefined;
    if (isCookie && (access ?? refresh) !== undefined) checkOrigin(request, config);
    const read =
      (access && (await readStep(deps, 'access', access))) || (refresh && (await readStep(deps, 'refresh', refresh)));
    if (read) {
      await db.transaction(async (tx) => {
        const user = await lockUser(tx, read.userId);
        // A token that was void already must not sign out those who came after it.
        if (!user || !(await isOpen(tx, read.sid))) return;
        await voidSessions(tx, user.id);
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchant_id,
          action: 'user.signed_out',
          target: user.id,
        });
      });
      sessions.forget();
    }
    return { data: { success: true }, headers: { 'Set-Cookie': noCookies() } };
  },
});
