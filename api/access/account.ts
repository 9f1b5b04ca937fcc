import { Type } from 'typebox';
import { isTimeZone, type Language } from '../../domain/access/preferences';
import { DomainError } from '../../domain/errors';
import { isId } from '../../domain/ids';
import { passwordChangedMail } from '../../domain/mail/mail';
import { isChange, recordAct } from '../../db/access/audit-log';
import { replaceBackupCodes } from '../../db/access/factors';
import { queueMail } from '../../db/mail/mail';
import { endSession as end, sessionsOf } from '../../db/access/sessions';
import {
  findUser,
  lockUser,
  setPassword,
  setProfile,
  voidSessions,
  type Profile,
  type UserRow,
} from '../../db/access/users';
import { hashedBackupCodes } from './backup-codes';
import { checkPassword, hashSecret, isSecret } from './passwords';
import { signIn } from './sessions';
import { factorProps, requireFactor, withFactor } from './step-up';
import { actorOf, language, presentUser, timeZone, userSchema } from './users';
import { route } from '../http/route';
import { line, nullable, pageOf, paging, passwordSchema, time } from '../http/schemas';

/** What a signed-in user sees and changes of their own. Contract: 4.1, 5.4, G13. */

const tag = 'Account';
const done = Type.Object({ success: Type.Literal(true) });
const idParams = (name: string) => Type.Object({ [name]: Type.String() });

export const getMe = route({
  name: 'getMe',
  method: 'get',
  path: '/api/v1/auth/me',
  summary: 'Who is signed in',
  tag,
  envelope: 'B',
  success: { status: 200, schema: userSchema, description: 'The user.' },
  errors: [],
  answer: ({ user, merchant }) => ({ data: presentUser(user, merchant) }),
});

const profileOf = (row: UserRow): Profile => ({
  displayName: row.display_name,
  language: row.language,
  timeZone: row.time_zone,
});

/** Throws VALIDATION_ERROR. */
function checkProfile({
  displayName,
  timeZone: zone,
}: Readonly<{ displayName?: string; timeZone?: string | null }>): void {
  if (displayName !== undefined && !displayName.trim())
    throw new DomainError('VALIDATION_ERROR', 'displayName must not be blank');
  if (typeof zone === 'string' && !isTimeZone(zone))
    throw new DomainError('VALIDATION_ERROR', `timeZone: '${zone}' is no IANA time zone`);
}

export const changeMe = route({
  name: 'changeMe',
  method: 'patch',
  path: '/api/v1/auth/me',
  summary: 'Change the name, the language or the time zone',
  description: 'What is left out stays as it is.',
  tag,
  envelope: 'B',
  body: Type.Object({
    displayName: Type.Optional(line(100, 'Name of the person.')),
    language: Type.Optional(nullable(language)),
    timeZone: Type.Optional(nullable(timeZone)),
  }),
  success: { status: 200, schema: userSchema, description: 'The user.' },
  errors: [],
  async answer({ body, user, merchant, ...from }, { db, sessions }) {
    checkProfile(body);
    const after = await db.transaction(async (tx) => {
      const before = profileOf((await lockUser(tx, user.id))!);
      const next = {
        displayName: body.displayName?.trim() ?? before.displayName,
        language: body.language === undefined ? before.language : (body.language as Language | null),
        timeZone: body.timeZone === undefined ? before.timeZone : body.timeZone,
      };
      if (!isChange(before, next)) return before;
      await setProfile(tx, user.id, next);
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchantId,
        action: next.displayName === before.displayName ? 'user.preferences_changed' : 'user.renamed',
        target: user.id,
        before,
        after: next,
      });
      return next;
    });
    sessions.forget();
    return { data: presentUser({ ...user, ...after }, merchant) };
  },
});

export const changePassword = route({
  name: 'changePassword',
  method: 'post',
  path: '/api/v1/auth/change-password',
  summary: 'Change the password',
  description: 'Signs every other session of the user out.',
  tag,
  envelope: 'B',
  body: Type.Object({ currentPassword: passwordSchema, newPassword: passwordSchema, ...factorProps }),
  success: { status: 200, schema: done, headers: ['Set-Cookie'], description: 'Changed; the cookies are new.' },
  errors: ['INVALID_CREDENTIALS'],
  async answer({ body, user, ...from }, deps) {
    const { db, config, sessions } = deps;
    requireFactor(body);
    checkPassword(body.newPassword, 'newPassword');
    const row = await findUser(db, user.id);
    if (!row || !(await isSecret(row.password_hash, body.currentPassword)))
      throw new DomainError('INVALID_CREDENTIALS');
    const passwordHash = await hashSecret(body.newPassword);
    const cookies = await withFactor(deps, user, 'password', body, async (tx) => {
      await setPassword(tx, user.id, passwordHash);
      await voidSessions(tx, user.id);
      await queueMail(tx, config.SECRETS_KEY, passwordChangedMail(user.email));
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchantId,
        action: 'user.password_changed',
        target: user.id,
      });
      return signIn(tx, config, { userId: user.id, ip: from.ip, userAgent: from.header('user-agent') ?? '' });
    });
    sessions.forget();
    return { data: { success: true }, headers: { 'Set-Cookie': cookies } };
  },
});

export const listSessions = route({
  name: 'listSessions',
  method: 'get',
  path: '/api/v1/auth/sessions',
  summary: 'List sessions in force',
  tag,
  envelope: 'B',
  query: Type.Object(paging),
  success: {
    status: 200,
    schema: Type.Object({
      items: Type.Array(
        Type.Object({
          id: Type.String(),
          ip: Type.String(),
          userAgent: Type.String(),
          createdAt: time,
          lastUsedAt: time,
          isCurrent: Type.Boolean(),
        }),
      ),
      total: Type.Integer(),
    }),
    description: 'One page, newest first, and how many there are in all.',
  },
  errors: [],
  async answer({ user, query }, { db }) {
    const { items, total } = await sessionsOf(db, user.id, pageOf(query));
    return {
      data: {
        total,
        items: items.map((row) => ({
          id: row.id,
          ip: row.ip,
          userAgent: row.user_agent,
          createdAt: row.created_at.toISOString(),
          lastUsedAt: row.last_used_at.toISOString(),
          isCurrent: row.id === user.sessionId,
        })),
      },
    };
  },
});

export const endSession = route({
  name: 'endSession',
  method: 'delete',
  path: '/api/v1/auth/sessions/{sessionId}',
  summary: 'End a session',
  tag,
  envelope: 'B',
  params: idParams('sessionId'),
  success: { status: 200, schema: done, description: 'Its tokens are void.' },
  errors: ['SESSION_NOT_FOUND'],
  async answer({ params, user, ...from }, { db, sessions }) {
    const sessionId = String(params['sessionId']);
    const hasEnded =
      isId(sessionId) &&
      (await db.transaction(async (tx) => {
        if (!(await end(tx, user.id, sessionId))) return false;
        await recordAct(tx, actorOf(user, from), {
          merchantId: user.merchantId,
          action: 'user.session_ended',
          target: sessionId,
        });
        return true;
      }));
    if (!hasEnded) throw new DomainError('SESSION_NOT_FOUND');
    sessions.forget();
    return { data: { success: true } };
  },
});

export const regenerateBackupCodes = route({
  name: 'regenerateBackupCodes',
  method: 'post',
  path: '/api/v1/auth/backup-codes/regenerate',
  summary: 'Replace the backup codes',
  tag,
  envelope: 'B',
  body: Type.Object(factorProps),
  success: {
    status: 200,
    schema: Type.Object({ backupCodes: Type.Array(Type.String()) }),
    description: 'Ten new codes, shown this once; the old ones are void.',
  },
  errors: [],
  async answer({ body, user, ...from }, deps) {
    requireFactor(body);
    const { codes, hashes } = await hashedBackupCodes();
    await withFactor(deps, user, 'backup_codes', body, async (tx) => {
      await replaceBackupCodes(tx, user.id, hashes);
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchantId,
        action: 'user.backup_codes_replaced',
        target: user.id,
      });
    });
    return { data: { backupCodes: codes } };
  },
});
