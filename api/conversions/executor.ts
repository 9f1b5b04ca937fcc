import type { UsedKey } from '../../db/access/api-keys';
import type { Executor } from '../../commands/conversions/execute';
import type { User } from '../../domain/access/access';
import { DomainError, type ErrorCode } from '../../domain/errors';
import { requireFactor, withFactor, type FactorFields } from '../access/step-up';
import { actorOf } from '../access/users';
import type { ApiDeps } from '../http/deps';

/** Who executes a conversion: a secret key, or a user whose session brings a second factor. Contract: 4.4, 7.2. */

type Caller = Readonly<{ user: User | undefined; key: UsedKey | undefined; ip: string; requestId: string }>;

/** The codes that an execution answers a refused factor with. */
const factorCodes: Partial<Record<ErrorCode, ErrorCode>> = {
  FACTOR_MISSING: 'MFA_REQUIRED',
  FACTOR_WRONG: 'CONVERSION_FACTOR_WRONG',
  FACTOR_NOT_ENROLLED: 'CONVERSION_FACTOR_NOT_ENROLLED',
  FACTOR_LOCKED: 'CONVERSION_FACTOR_LOCKED',
};

const toConversionError = (error: unknown): never => {
  const code = error instanceof DomainError ? factorCodes[error.code] : undefined;
  throw code ? new DomainError(code, undefined, (error as DomainError).details) : error;
};

/** Throws MFA_SETUP_REQUIRED, MFA_REQUIRED: a session brings exactly one factor. */
function checkFactor(user: User, factor: FactorFields): void {
  if (!user.totpEnabled && !user.hasPasskey) throw new DomainError('MFA_SETUP_REQUIRED');
  try {
    requireFactor(factor);
  } catch (error) {
    toConversionError(error);
  }
}

/** Throws MFA_SETUP_REQUIRED, MFA_REQUIRED. */
export function executorOf(deps: Pick<ApiDeps, 'db' | 'config'>, caller: Caller, factor: FactorFields): Executor {
  const { user, key } = caller;
  if (!user) return { key: key! };
  checkFactor(user, factor);
  return {
    actor: { ...actorOf(user, caller), id: user.id },
    byFactor: (act) => withFactor(deps, user, 'conversion', factor, (tx) => act(tx)).catch(toConversionError),
  };
}
