import { holds } from '../../../domain/access/access';
import type { Me } from '../api/queries';
import { tabsOf } from '../money/tabs';
import { pagesFor } from '../developers/pages';
import { isOperator } from '../operators/pages';
import { paymentPagesFor } from '../payments/pages';
import { teamPagesFor } from '../team/pages';
import type { Texts } from '../texts/en';

/** The sections of the navigation, in its order, and whom each is for. */
type Section = Readonly<{ to: string; name: keyof Texts['nav']; isFor: (me: Me) => boolean }>;

const maySee =
  (permission: Parameters<typeof holds>[1]) =>
  (me: Me): boolean =>
    me.merchantId !== null && holds(me, permission);

export const sections: readonly Section[] = [
  { to: '/', name: 'home', isFor: maySee('payments:view') },
  { to: '/payments', name: 'payments', isFor: (me) => paymentPagesFor(me).length > 0 },
  { to: '/money', name: 'money', isFor: (me) => tabsOf(me).length > 0 },
  { to: '/developers', name: 'developers', isFor: (me) => pagesFor(me).length > 0 },
  { to: '/widgets', name: 'widgets', isFor: maySee('widgets:view') },
  { to: '/team', name: 'team', isFor: (me) => teamPagesFor(me).length > 0 },
  { to: '/settings', name: 'settings', isFor: maySee('settings:view') },
  { to: '/operators', name: 'operators', isFor: isOperator },
  { to: '/account', name: 'account', isFor: () => true },
];
