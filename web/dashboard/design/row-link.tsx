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

/** A row's link to the page of what it shows. The router's own link follows every change of the address: with one in
 *  each row that costs more than all the rest of a list. */
export function RowLink(props: Readonly<{ to: Section; id: string; className?: string; children: ReactNode }>) {
  const { to, id, className, children } = props;
  const router = useRouter();
  const path = `${to}/${encodeURIComponent(id)}`;
  const follow = (event: MouseEvent): void => {
    const isForBrowser = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (isForBrowser || event.defaultPrevented) return;
    event.preventDefault();
    void router.navigate({ to: path });
  };
  const preload = (): void => void router.preloadRoute({ to: path }).catch(() => undefined);
  return (
    <a href={router.basepath + path} className={className} onClick={follow} onPointerEnter={preload} onFocus={preload}>
      {children}
    </a>
  );
}
