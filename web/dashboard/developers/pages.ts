import { mayCall, type Rights } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import type { Me } from '../api/queries';

/** The pages of the section, and the route that each of them reads: who may call it sees the page. */
const pages = [
  { to: '/developers/keys', name: 'keys', may: access.listApiKeys.may },
  { to: '/developers/webhooks', name: 'webhooks', may: access.listWebhookEndpoints.may },
  { to: '/developers/deliveries', name: 'deliveries', may: access.listDeliveries.may },
  { to: '/developers/requests', name: 'requests', may: access.listRequestLogs.may },
  { to: '/developers/events', name: 'events', may: access.listEvents.may },
] as const satisfies ReadonlyArray<Readonly<{ to: string; name: string; may: Rights }>>;

export const pagesFor = (me: Me) => (me.merchantId === null ? [] : pages.filter(({ may }) => mayCall(me, may)));
