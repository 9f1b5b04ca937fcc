import { Type } from 'typebox';
import { DomainError } from '../../domain/errors';
import { recordAct } from '../../db/access/audit-log';
import { lockedFor, noteWrongFactor, replaceBackupCodes } from '../../db/access/factors';
import { openSealed, seal } from '../../db/sealing';
import { spendToken } from '../../db/access/sessions';
import { enableTotp } from '../../db/access/users';
import { hashedBackupCodes } from './backup-codes';
import { newTotpSecret, qrCodeOf, stepOfCode } from './totp';
import { signToken } from './tokens';
import { actorOf, userSchema } from './users';
import { route } from '../http/route';
import { readStep, refuse, settle, signedIn, tag, token, userOfStep } from './login-steps';

/** The enrolment of an authenticator, which a first login asks for. Contract: 5.4, G13. */

const issuer = 'Crypto payments';

export const startTotpSetup = route({
  name: 'startTotpSetup',
  method: 'post',
  path: '/api/v1/auth/2fa/setup',
  summary: 'Begin the enrolment of an authenticator',
  tag,
  envelope: 'B',
  body: Type.Object({ setupToken: token }),
  success: {
    status: 200,
    schema: Type.Object({
      qrCode: Type.String({ description: 'SVG image as a data URL.' }),
      manualKey: Type.String({ description: 'The secret in base32.' }),
      confirmToken: Type.String({ description: 'For 2fa/verify-setup; 5 minutes, once.' }),
    }),
    description: 'A secret for an authenticator: RFC 6238, SHA-1, 6 digits, 30 s.',
  },
  errors: ['INVALID_TOKEN'],
  async answer({ body }, deps) {
    const step = await readStep(deps, 'setup', body.setupToken);
    return settle(deps, async (tx) => {
      const user = await userOfStep(tx, step);
      if (!user || user.totp_enabled_at || !(await spendToken(tx, step!.id, step!.expiresAt)))
        return refuse('INVALID_TOKEN');
      const { SECRETS_KEY } = deps.config;
      const secret = newTotpSecret();
      const confirmToken = await signToken(SECRETS_KEY, 'confirm', user.id, {
        ver: user.session_version,
        sealed: seal(SECRETS_KEY, secret),
      });
      return { data: { qrCode: qrCodeOf(secret, user.email, issuer), manualKey: secret, confirmToken } };
    });
  },
});

export const verifyTotpSetup = route({
  name: 'verifyTotpSetup',
  method: 'post',
  path: '/api/v1/auth/2fa/verify-setup',
  summary: 'Finish the enrolment of an authenticator and sign in',
  tag,
  envelope: 'B',
  body: Type.Object({ confirmToken: token, code: Type.String({ pattern: '^[0-9]{6}$' }) }),
  success: {
    status: 200,
    schema: Type.Object({
      ...userSchema.properties,
      backupCodes: Type.Array(Type.String(), { description: 'Each serves once, at login only; shown this once.' }),
    }),
    headers: ['Set-Cookie'],
    description: 'Signed in: the cookies are set.',
  },
  errors: ['INVALID_TOKEN', 'INVALID_CODE', 'FACTOR_LOCKED'],
  async answer({ body, ...from }, deps) {
    const step = await readStep(deps, 'confirm', body.confirmToken);
    if (!step) throw new DomainError('INVALID_TOKEN');
    const { codes, hashes } = await hashedBackupCodes();
    return settle(deps, async (tx) => {
      const user = await userOfStep(tx, step);
      if (!user || user.totp_enabled_at) return refuse('INVALID_TOKEN');
      const locked = await lockedFor(tx, user.id);
      if (locked > 0) return refuse('FACTOR_LOCKED', locked);
      const at = await stepOfCode(tx, openSealed(deps.config.SECRETS_KEY, step.sealed), body.code, 0);
      if (at === null) {
        await noteWrongFactor(tx, user.id, 'totp');
        return refuse('INVALID_CODE');
      }
      if (!(await spendToken(tx, step.id, step.expiresAt))) return refuse('INVALID_TOKEN');
      await enableTotp(tx, user.id, step.sealed, at);
      await replaceBackupCodes(tx, user.id, hashes);
      await recordAct(tx, actorOf(user, from), {
        merchantId: user.merchant_id,
        action: 'user.totp_enrolled',
        target: user.id,
      });
      const answer = await signedIn(tx, deps, user, from, 'enrolment');
      return { ...answer, data: { ...answer.data, backupCodes: codes } };
    });
  },
});
