import { useRouter } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';

type Section =
  | '/payments'
  | '/money/withdrawals'
  | '/money/conversions'
  | '/money/payouts'
  | '/developers/webhooks'
  | '/widgets'
  | '/operators/incidents'
  | '/operators/merchants';

type Shown = Readonly<{ className?: string | undefined; children: ReactNode }>;
type Search = Readonly<Record<string, string>>;

/** A row's link to the page of what it shows. */
export const RowLink = ({ to, id, ...shown }: Readonly<{ to: Section; id: string }> & Shown) => (
  <QuickLink {...shown} path={`${to}/${encodeURIComponent(id)}`} />
);

/** A row's link to a list of what belongs to it. */
export const RowListLink = ({
  to,
  search,
  ...shown
}: Readonly<{ to: '/developers/deliveries' | '/operators/find'; search: Search }> & Shown) => (
  <QuickLink {...shown} path={to} search={search} />
);

/** The router's own link follows every change of the address: with one in each row that costs more than all the rest
 *  of a list. */
function QuickLink({ path, search, className, children }: Readonly<{ path: string; search?: Search }> & Shown) {
  const router = useRouter();
  const there = { to: path, ...(search ? { search } : {}) } as { to: string };
  const query = search ? router.options.stringifySearch(search) : '';
  const follow = (event: MouseEvent): void => {
    const isForBrowser = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (isForBrowser || event.defaultPrevented) return;
    event.preventDefault();
    void router.navigate(there);
  };
  const preload = (): void => void router.preloadRoute(there).catch(() => undefined);
  return (
    <a
      href={router.basepath + path + query}
      className={className}
      onClick={follow}
      onPointerEnter={preload}
      onFocus={preload}
    >
      {children}
    </a>
  );
}
