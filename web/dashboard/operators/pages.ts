import type { Me } from '../api/queries';

/** The pages of the section; operators see all of them, and nobody else any. */
export const operatorPages = [
  { to: '/operators/overview', name: 'overview' },
  { to: '/operators/incidents', name: 'incidents' },
  { to: '/operators/merchants', name: 'merchants' },
  { to: '/operators/registrations', name: 'registrations' },
  { to: '/operators/requests', name: 'requests' },
  { to: '/operators/stops', name: 'stops' },
  { to: '/operators/limits', name: 'limits' },
  { to: '/operators/treasury', name: 'treasury' },
  { to: '/operators/recoveries', name: 'recoveries' },
  { to: '/operators/screenings', name: 'screenings' },
  { to: '/operators/swap-orders', name: 'swaps' },
  { to: '/operators/audit', name: 'audit' },
] as const;

export const isOperator = (me: Me): boolean => me.role === 'super_admin';
