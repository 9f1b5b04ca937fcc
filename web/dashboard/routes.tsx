import { createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { holds } from '../../domain/access/access';
import { conversionFilterOf, ledgerFilterOf, payoutFilterOf, withdrawalFilterOf } from './money/filter';
import { tabsOf } from './money/tabs';
import { deliveryFilterOf } from './developers/delivery-filter';
import { eventFilterOf } from './developers/event-filter';
import { requestFilterOf } from './developers/request-filter';
import { pagesFor } from './developers/pages';
import { isOperator } from './operators/pages';
import { operatorsPages } from './operators/routes';
import { filterOf } from './payments/filter';
import { paymentPagesFor } from './payments/pages';
import { refundFilterOf } from './payments/refund-filter';
import { auditFilterOf } from './team/audit-filter';
import { teamPagesFor } from './team/pages';
import { Failed, FailedAlone } from './shell/shell';
import { root, signedIn } from './signed-in';

/** Every page by its address. A page's code is fetched when it is opened. */

/** Where a person wants to go after signing in, as the address says. It is checked where it is followed: `pageAfter`. */
const nextOf = (search: Readonly<Record<string, unknown>>): { next?: unknown } =>
  search['next'] === undefined ? {} : { next: search['next'] };

const guest = <const Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component, errorComponent: FailedAlone });
const guestPages = () => import('./account/guest-routes');
const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: nextOf,
  component: lazyRouteComponent(guestPages, 'SignInPage'),
  errorComponent: FailedAlone,
});
const guests = [
  signIn,
  guest(
    '/register',
    lazyRouteComponent(() => import('./account/register'), 'RegisterPage'),
  ),
  guest('/forgot-password', lazyRouteComponent(guestPages, 'ForgotPasswordPage')),
  guest('/reset-password', lazyRouteComponent(guestPages, 'ResetPasswordPage')),
  guest('/accept-invitation', lazyRouteComponent(guestPages, 'AcceptInvitationPage')),
] as const;

const home = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  beforeLoad: ({ context: { me } }) => {
    if (isOperator(me)) throw redirect({ to: '/operators' });
    if (me.merchantId === null || !holds(me, 'payments:view')) throw redirect({ to: '/account' });
  },
  component: lazyRouteComponent(() => import('./home/home'), 'HomePage'),
});
const payments = createRoute({
  getParentRoute: () => signedIn,
  path: '/payments',
  validateSearch: filterOf,
  beforeLoad: ({ context: { me } }) => {
    const [first] = paymentPagesFor(me);
    if (first && first.to !== '/payments') throw redirect({ to: first.to });
  },
  component: lazyRouteComponent(() => import('./payments/list'), 'PaymentsPage'),
});
const refunds = createRoute({
  getParentRoute: () => signedIn,
  path: '/payments/refunds',
  validateSearch: refundFilterOf,
  component: lazyRouteComponent(() => import('./payments/refund-list'), 'RefundsPage'),
});
const payment = createRoute({
  getParentRoute: () => signedIn,
  path: '/payments/$paymentId',
  component: lazyRouteComponent(() => import('./payments/payment'), 'PaymentPage'),
});
const money = createRoute({
  getParentRoute: () => signedIn,
  path: '/money',
  beforeLoad: ({ context: { me } }) => {
    throw redirect({ to: tabsOf(me)[0]?.to ?? '/account' });
  },
});
const balances = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/balances',
  component: lazyRouteComponent(() => import('./money/balances'), 'BalancesPage'),
});
const ledger = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/balances/$currency',
  validateSearch: ledgerFilterOf,
  component: lazyRouteComponent(() => import('./money/ledger'), 'LedgerPage'),
});
const withdrawals = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/withdrawals',
  validateSearch: withdrawalFilterOf,
  component: lazyRouteComponent(() => import('./money/withdrawals'), 'WithdrawalsPage'),
});
const withdrawal = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/withdrawals/$withdrawalId',
  component: lazyRouteComponent(() => import('./money/withdrawal'), 'WithdrawalPage'),
});
const conversions = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/conversions',
  validateSearch: conversionFilterOf,
  component: lazyRouteComponent(() => import('./money/conversions'), 'ConversionsPage'),
});
const conversion = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/conversions/$conversionId',
  component: lazyRouteComponent(() => import('./money/conversion'), 'ConversionPage'),
});
const payouts = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/payouts',
  validateSearch: payoutFilterOf,
  component: lazyRouteComponent(() => import('./money/payouts'), 'PayoutsPage'),
});
const newPayout = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/payouts/new',
  component: lazyRouteComponent(() => import('./money/payout-new'), 'NewPayoutPage'),
});
const payout = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/payouts/$payoutId',
  component: lazyRouteComponent(() => import('./money/payout'), 'PayoutPage'),
});
const whitelist = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/whitelist',
  component: lazyRouteComponent(() => import('./money/whitelist'), 'WhitelistPage'),
});
const wallets = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/wallets',
  component: lazyRouteComponent(() => import('./money/wallets'), 'WalletsPage'),
});
const limits = createRoute({
  getParentRoute: () => signedIn,
  path: '/money/limits',
  component: lazyRouteComponent(() => import('./money/limits'), 'LimitsPage'),
});
const moneyPages = [
  money,
  balances,
  ledger,
  withdrawals,
  withdrawal,
  conversions,
  conversion,
  payouts,
  newPayout,
  payout,
  whitelist,
  wallets,
  limits,
] as const;
const developers = createRoute({
  getParentRoute: () => signedIn,
  path: '/developers',
  beforeLoad: ({ context: { me } }) => {
    const [first] = pagesFor(me);
    if (first) throw redirect({ to: first.to });
  },
  component: lazyRouteComponent(() => import('./developers/frame'), 'NoDeveloperPage'),
});
const keys = createRoute({
  getParentRoute: () => signedIn,
  path: '/developers/keys',
  component: lazyRouteComponent(() => import('./developers/keys'), 'KeysPage'),
});
const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: '/developers/webhooks',
  component: lazyRouteComponent(() => import('./developers/webhooks'), 'WebhooksPage'),
});
const endpoint = createRoute({
  getParentRoute: () => signedIn,
  path: '/developers/webhooks/$endpointId',
  component: lazyRouteComponent(() => import('./developers/endpoint'), 'EndpointPage'),
});
const deliveries = createRoute({
  getParentRoute: () => signedIn,
  path: '/developers/deliveries',
  validateSearch: deliveryFilterOf,
  component: lazyRouteComponent(() => import('./developers/deliveries'), 'DeliveriesPage'),
});
const requests = createRoute({
  getParentRoute: () => signedIn,
  path: '/developers/requests',
  validateSearch: requestFilterOf,
  component: lazyRouteComponent(() => import('./developers/requests'), 'RequestsPage'),
});
const events = createRoute({
  getParentRoute: () => signedIn,
  path: '/developers/events',
  validateSearch: eventFilterOf,
  component: lazyRouteComponent(() => import('./developers/events'), 'EventsPage'),
});
const developerPages = [developers, keys, webhooks, endpoint, deliveries, requests, events] as const;
const team = createRoute({
  getParentRoute: () => signedIn,
  path: '/team',
  beforeLoad: ({ context: { me } }) => {
    const [first] = teamPagesFor(me);
    if (first) throw redirect({ to: first.to });
  },
  component: lazyRouteComponent(() => import('./team/frame'), 'NoTeamPage'),
});
const members = createRoute({
  getParentRoute: () => signedIn,
  path: '/team/members',
  component: lazyRouteComponent(() => import('./team/members'), 'MembersPage'),
});
const audit = createRoute({
  getParentRoute: () => signedIn,
  path: '/team/audit',
  validateSearch: auditFilterOf,
  component: lazyRouteComponent(() => import('./team/audit'), 'AuditPage'),
});
const teamPages = [team, members, audit] as const;
const widgetEditor = () => import('./widgets/editor');
const widgets = createRoute({
  getParentRoute: () => signedIn,
  path: '/widgets',
  component: lazyRouteComponent(() => import('./widgets/list'), 'WidgetsPage'),
});
const newWidget = createRoute({
  getParentRoute: () => signedIn,
  path: '/widgets/new',
  component: lazyRouteComponent(widgetEditor, 'NewWidgetPage'),
});
const widget = createRoute({
  getParentRoute: () => signedIn,
  path: '/widgets/$widgetId',
  component: lazyRouteComponent(widgetEditor, 'WidgetPage'),
});
const widgetPages = [widgets, newWidget, widget] as const;
const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  component: lazyRouteComponent(() => import('./settings/settings'), 'SettingsPage'),
});
const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: lazyRouteComponent(() => import('./account/account-page'), 'AccountPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    ...guests,
    signedIn.addChildren([
      home,
      payments,
      refunds,
      payment,
      ...moneyPages,
      ...developerPages,
      ...widgetPages,
      ...teamPages,
      ...operatorsPages,
      settings,
      account,
    ]),
  ]),
  basepath: '/dashboard',
  defaultErrorComponent: Failed,
  defaultPreload: 'intent',
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
