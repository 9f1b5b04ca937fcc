import { useEffect, useState } from 'react';
import { apiUrl } from '../api/places';
import { queryClient } from '../api/queries';

/** Changes of a moment are one look at the list. */
const gatherMs = 2000;
/** A stream that was refused is asked for again after this time; what is broken otherwise the browser mends itself. */
const againMs = 15_000;

/** Reads the lists of payments anew whenever the server says that one has changed. Whether it would say so now: as long
 *  as it would not, a list asks by itself. */
export function useLivePayments(): boolean {
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    let stream: EventSource | undefined;
    let soon: ReturnType<typeof setTimeout> | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    const renew = (): void => {
      soon ??= setTimeout(() => {
        soon = undefined;
        for (const name of ['payments', 'payment-counts']) void queryClient.invalidateQueries({ queryKey: [name] });
      }, gatherMs);
    };
    const open = (): void => {
      stream = new EventSource(`${apiUrl}/api/v1/payments/stream`, { withCredentials: true });
      stream.onopen = () => {
        setLive(true);
        renew(); // what happened while nobody listened
      };
      stream.onmessage = renew;
      stream.onerror = () => {
        setLive(false);
        if (stream?.readyState === EventSource.CLOSED) again = setTimeout(open, againMs);
      };
    };
    open();
    return () => {
      stream?.close();
      clearTimeout(soon);
      clearTimeout(again);
    };
  }, []);
  return isLive;
}
