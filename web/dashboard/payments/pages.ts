import { mayCall, type Rights } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import type { Me } from '../api/queries';

/** The pages of the section, and the route that each of them reads: who may call it sees the page. */
const pages = [
  { to: '/payments', name: 'payments', may: access.listPayments.may },
  { to: '/payments/refunds', name: 'refunds', may: access.listRefunds.may },
] as const satisfies ReadonlyArray<Readonly<{ to: string; name: string; may: Rights }>>;

export const paymentPagesFor = (me: Me) => (me.merchantId === null ? [] : pages.filter(({ may }) => mayCall(me, may)));
