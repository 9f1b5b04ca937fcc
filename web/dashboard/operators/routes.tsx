import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { signedIn } from '../signed-in';
import {
  findFilterOf,
  incidentFilterOf,
  merchantFilterOf,
  orderFilterOf,
  platformAuditFilterOf,
  registrationFilterOf,
  requestStateOf,
  screeningFilterOf,
} from './filter';

const operators = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators',
  beforeLoad: () => {
    throw redirect({ to: '/operators/overview' });
  },
});
const operatorsFind = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/find',
  validateSearch: findFilterOf,
  component: lazyRouteComponent(() => import('./find'), 'FindPage'),
});
const operatorsOverview = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/overview',
  component: lazyRouteComponent(() => import('./overview'), 'OverviewPage'),
});
const operatorsIncidents = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/incidents',
  validateSearch: incidentFilterOf,
  component: lazyRouteComponent(() => import('./incidents'), 'IncidentsPage'),
});
const operatorsIncident = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/incidents/$incidentId',
  component: lazyRouteComponent(() => import('./incident'), 'IncidentPage'),
});
const operatorsMerchants = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/merchants',
  validateSearch: merchantFilterOf,
  component: lazyRouteComponent(() => import('./merchants'), 'MerchantsPage'),
});
const operatorsMerchant = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/merchants/$merchantId',
  component: lazyRouteComponent(() => import('./merchant'), 'MerchantPage'),
});
const operatorsRequests = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/requests',
  validateSearch: requestStateOf,
  component: lazyRouteComponent(() => import('./requests'), 'RequestsPage'),
});
const operatorsStops = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/stops',
  component: lazyRouteComponent(() => import('./stops'), 'StopsPage'),
});
const operatorsLimits = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/limits',
  component: lazyRouteComponent(() => import('./limits'), 'LimitsPage'),
});
const operatorsTreasury = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/treasury',
  component: lazyRouteComponent(() => import('./treasury'), 'TreasuryPage'),
});
const operatorsRecoveries = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/recoveries',
  component: lazyRouteComponent(() => import('./recoveries'), 'RecoveriesPage'),
});
const operatorsRegistrations = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/registrations',
  validateSearch: registrationFilterOf,
  component: lazyRouteComponent(() => import('./registrations'), 'RegistrationsPage'),
});
const operatorsScreenings = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/screenings',
  validateSearch: screeningFilterOf,
  component: lazyRouteComponent(() => import('./screenings'), 'ScreeningsPage'),
});
const operatorsSwapOrders = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/swap-orders',
  validateSearch: orderFilterOf,
  component: lazyRouteComponent(() => import('./swap-orders'), 'SwapOrdersPage'),
});
const operatorsAudit = createRoute({
  getParentRoute: () => signedIn,
  path: '/operators/audit',
  validateSearch: platformAuditFilterOf,
  component: lazyRouteComponent(() => import('./audit'), 'PlatformAuditPage'),
});
/** The pages of operators. */
export const operatorsPages = [
  operators,
  operatorsFind,
  operatorsOverview,
  operatorsIncidents,
  operatorsIncident,
  operatorsMerchants,
  operatorsMerchant,
  operatorsRegistrations,
  operatorsRequests,
  operatorsStops,
  operatorsLimits,
  operatorsTreasury,
  operatorsRecoveries,
  operatorsScreenings,
  operatorsSwapOrders,
  operatorsAudit,
] as const;
