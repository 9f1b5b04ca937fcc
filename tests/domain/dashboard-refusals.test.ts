import { routes } from '../../api/routes';
import { errorTable, factorRefusals, type ErrorCode } from '../../domain/errors';
import type { Row } from '../../domain/errors/row';
import { refusals as german } from '../../web/dashboard/texts/refusals-de';
import { refusals as english } from '../../web/dashboard/texts/refusals-en';

/** What the dashboard is refused, it says in its reader's language. */

/** Routes that a person of a merchant calls: not those of shops, payers and operators. */
const ofDashboard = routes.filter(
  ({ may, path }) =>
    may === 'user' ||
    (may === 'public' && /^\/api\/v1\/(auth|team-invitations)\//.test(path)) ||
    (typeof may === 'object' && 'session' in may && may.session !== null),
);
/** What the guard answers for any of them. Limits of rates have a text of their own, with the time to wait. */
const ofGuard: readonly ErrorCode[] = ['INSUFFICIENT_PERMISSION', 'CSRF_ORIGIN_MISMATCH', 'VALIDATION_ERROR'];
const refusals = ofDashboard.flatMap(({ name, envelope, errors, factor }) =>
  [...(errors as readonly ErrorCode[]), ...(factor ? factorRefusals : []), ...ofGuard]
    .filter((code) => code !== 'RATE_LIMITED' && errorTable[code].status !== 429)
    .map((code) => [code, keyOf(errorTable[code], code, envelope), name] as const),
);

/** By what `readError` of the dashboard knows it: its code, or its sentence where the body has no code. */
function keyOf({ shape, as, message }: Row, code: ErrorCode, envelope: 'A' | 'B'): string {
  const hasCode = shape === 'route' ? envelope === 'A' : shape !== 'B';
  return hasCode ? (as ?? code) : message;
}

describe('11: the refusals of the API in the dashboard', () => {
  it('are looked at for every route that a person calls', () => {
    expect(ofDashboard.length).toBeGreaterThan(80);
    expect(refusals.length).toBeGreaterThan(200);
  });

  it.each([
    ['English', english],
    ['German', german],
  ])('have words in %s', (_, words) => {
    const missing = refusals.filter(([, key]) => !(key in words)).map(([code, key]) => `${code}: ${key}`);
    expect([...new Set(missing)].sort()).toEqual([]);
  });

  it('have the same keys in both', () => {
    expect(Object.keys(german).sort()).toEqual(Object.keys(english).sort());
  });
});
