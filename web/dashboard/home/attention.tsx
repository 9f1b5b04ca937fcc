import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { compare, times } from '../../../domain/money';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { endpointsQuery, readDeliveries } from '../developers/data';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton } from '../design/feedback';
import { useNumbers } from '../design/show';
import { summaryQuery } from './data';
import { useHeld } from './held';
import { slow, type Line, type Part } from './part';
import { useHomeTexts } from './texts/use';

/** What waits for a person; each line leads to it. Nothing is asked that this person may not see. */

export function Attention({ me }: Readonly<{ me: Me }>) {
  const words = useHomeTexts();
  const parts = [usePayments(), useRefunds(me), useOutgoing(me), useHeld(me), useWebhooks(me), useLimits(me)];
  const lines = parts.flatMap((part) => part.lines);
  const isPending = parts.some((part) => part.isPending);
  const error = parts.find((part) => part.error)?.error;
  return (
    <section className={css.card} aria-labelledby="attention">
      <h2 id="attention">{words.attention}</h2>
      {isPending && !lines.length && <Skeleton lines={2} />}
      <ErrorNotice error={error} />
      {!isPending && !error && !lines.length && <p className={css.soft}>{words.quiet}</p>}
      <ul className={css.list}>
        {lines.map(({ key, link }) => (
          <li key={key}>{link}</li>
        ))}
      </ul>
    </section>
  );
}

function usePayments(): Part {
  const words = useHomeTexts();
  const { data, error, isPending } = useQuery(summaryQuery(30));
  if (!data) return { lines: [], error, isPending };
  const { current } = data;
  const from = current.dateFrom.slice(0, 10);
  const lines = [
    ...(
      [
        ['partiallyPaid', 'PARTIALLY_PAID'],
        ['crossChainPending', 'CROSS_CHAIN_PENDING'],
      ] as const
    ).map(([name, status]) => ({ name, search: { status, from } })),
    ...(['underpaid', 'paidLate', 'wrongCurrency'] as const).map((name) => ({
      name,
      search: { exception: name, from },
    })),
  ]
    .filter(({ name }) => current[name] > 0)
    .map(({ name, search }) => ({
      key: name,
      link: (
        <Link to="/payments" search={search}>
          {words[name](current[name])}
        </Link>
      ),
    }));
  return { lines, error, isPending };
}

function useRefunds(me: Me): Part {
  const words = useHomeTexts();
  const numbers = useNumbers();
  const enabled = mayCall(me, access.listRefunds.may);
  const { data, error, isLoading } = useQuery({
    queryKey: ['refunds', 'to-approve'],
    queryFn: () =>
      payload(client.GET('/api/v1/refunds', { params: { query: { status: 'awaiting_approval', limit: 5 } } })),
    enabled,
    ...slow,
  });
  const lines = (data?.items ?? []).map(({ _id, paymentId, amount, currency }) => ({
    key: _id,
    link: (
      <Link to="/payments/$paymentId" params={{ paymentId }}>
        {words.refundWaits(numbers.crypto(amount, currency))}
      </Link>
    ),
  }));
  const more = (data?.total ?? 0) - lines.length;
  if (more > 0)
    lines.push({
      key: 'more-refunds',
      link: (
        <Link to="/payments/refunds" search={{ status: 'awaiting_approval' }}>
          {words.moreRefunds(more)}
        </Link>
      ),
    });
  return { lines, error, isPending: isLoading };
}

function useOutgoing(me: Me): Part {
  const words = useHomeTexts();
  const withdrawals = useQuery({
    queryKey: ['withdrawals', 'to-approve'],
    queryFn: () =>
      payload(client.GET('/api/v1/withdrawals', { params: { query: { status: 'awaiting_approval', limit: 1 } } })),
    enabled: mayCall(me, access.listWithdrawals.may),
    ...slow,
  });
  const payouts = useQuery({
    queryKey: ['payouts', 'to-approve'],
    queryFn: () =>
      payload(client.GET('/api/v1/mass-payouts', { params: { query: { status: 'awaiting_approval', limit: 1 } } })),
    enabled: mayCall(me, access.listPayouts.may),
    ...slow,
  });
  const waiting = { status: 'awaiting_approval' } as const;
  const [one, many] = [withdrawals.data?.total ?? 0, payouts.data?.total ?? 0];
  const lines: Line[] = [];
  if (one > 0)
    lines.push({
      key: 'withdrawals',
      link: (
        <Link to="/money/withdrawals" search={waiting}>
          {words.withdrawals(one)}
        </Link>
      ),
    });
  if (many > 0)
    lines.push({
      key: 'payouts',
      link: (
        <Link to="/money/payouts" search={waiting}>
          {words.payouts(many)}
        </Link>
      ),
    });
  return { lines, error: withdrawals.error ?? payouts.error, isPending: withdrawals.isLoading || payouts.isLoading };
}

function useWebhooks(me: Me): Part {
  const words = useHomeTexts();
  const enabled = mayCall(me, access.listWebhookEndpoints.may);
  const endpoints = useQuery({ ...endpointsQuery, enabled, ...slow });
  const retried = useQuery({
    queryKey: ['deliveries', 'retrying'],
    queryFn: () => readDeliveries({ status: 'retrying' }, null),
    enabled: enabled && mayCall(me, access.listDeliveries.may),
    ...slow,
  });
  const lines: Line[] = (endpoints.data?.items ?? [])
    .filter(({ disabledReason }) => disabledReason !== null)
    .map(({ id, url }) => ({
      key: id,
      link: (
        <Link to="/developers/webhooks/$endpointId" params={{ endpointId: id }}>
          {words.endpointOff(url)}
        </Link>
      ),
    }));
  if (retried.data?.items.length)
    lines.push({
      key: 'retrying',
      link: (
        <Link to="/developers/deliveries" search={{ status: 'retrying' }}>
          {words.deliveriesFail}
        </Link>
      ),
    });
  return { lines, error: endpoints.error ?? retried.error, isPending: endpoints.isLoading || retried.isLoading };
}

/** From this share of a limit on it is worth a word. */
const isLow = (used: string, limit: string): boolean => compare(used, times(limit, '0.8', 18, 'down')) >= 0;

/** A hold of all outgoing money, and limits that are nearly used. */
function useLimits(me: Me): Part {
  const words = useHomeTexts();
  const numbers = useNumbers();
  const { data, error, isLoading } = useQuery({
    queryKey: ['egress-limits'],
    queryFn: () => payload(client.GET('/api/v1/settings/egress-limits')),
    enabled: mayCall(me, access.getEgressLimits.may),
    ...slow,
  });
  const texts: string[] = [];
  if (data) {
    const { effective, used, outgoingHeldSince } = data;
    if (outgoingHeldSince !== null) texts.push(words.outgoingHeld);
    const { dailyUsd, hourlyCount } = effective;
    if (dailyUsd !== null && isLow(used.dailyUsd, dailyUsd))
      texts.push(words.limitLow(numbers.fiat(used.dailyUsd, 'USD'), numbers.fiat(dailyUsd, 'USD')));
    if (hourlyCount !== null && isLow(String(used.hourlyCount), String(hourlyCount)))
      texts.push(words.countLow(used.hourlyCount, hourlyCount));
  }
  const lines = texts.map((text) => ({ key: text, link: <Link to="/money/limits">{text}</Link> }));
  return { lines, error, isPending: isLoading };
}
