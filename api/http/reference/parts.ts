import type { Route } from '../route';

/** The API reference is three documents, so that generated clients have no operation that they could never call. */
export const parts = {
  integrators: {
    path: '/api/v1/openapi.json',
    title: 'Crypto payments API',
    about:
      'Payments in crypto, priced in fiat: what servers call with a secret key, pages with a publishable key or ' +
      'none. What only sessions of the dashboard may call is in `/api/v1/openapi-dashboard.json`, what operators of ' +
      'the platform may in `/api/v1/openapi-operators.json`. ',
  },
  dashboard: {
    path: '/api/v1/openapi-dashboard.json',
    title: 'Crypto payments API for dashboards',
    about:
      'What only people may call who have signed in, and how they sign in. The payments themselves are in ' +
      '`/api/v1/openapi.json`; its operations take sessions too. ',
  },
  operators: {
    path: '/api/v1/openapi-operators.json',
    title: 'Crypto payments API for operators',
    about:
      'What only the operators of the platform may call, in sessions of their own. How they sign in is in ' +
      '`/api/v1/openapi-dashboard.json`. ',
  },
} as const;
export type Part = keyof typeof parts;

/** Tags whose public routes are steps of people on their way to the dashboard. */
const ofPeople: readonly string[] = ['Authentication', 'Team', 'Wallets'];

export function partOf({ may, tag }: Pick<Route, 'may' | 'tag'>): Part {
  if (may === 'public') return ofPeople.includes(tag) ? 'dashboard' : 'integrators';
  if (may === 'super_admin') return 'operators';
  if (may === 'publishable') return 'integrators';
  return typeof may === 'object' && may.key !== null ? 'integrators' : 'dashboard';
}
