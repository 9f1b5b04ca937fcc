import ipaddr from 'ipaddr.js';

/** Which pages may open a widget's checkout. A page states its origin; entries are host names. Contract: 2.11, 4.9. */

/** Longest entry as it is given. Contract: 2.11. */
export const originLength = 253;

const isAddress = (host: string): boolean => ipaddr.isValid(host.replace(/^\[|\]$/g, ''));

/** The host name of an entry, which is a host, a host with a port, or a URL; null where it is none of these. One label
 *  alone would authorise a whole top-level domain, so only `localhost` may stand alone. */
export function normaliseOrigin(entry: string): string | null {
  const text = entry.trim();
  if (text === '' || text.length > originLength || /[\s\\@*%\u0000-\u001f\u007f]/.test(text)) return null;
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
  if (isUrl && !/^https?:\/\/[^/]/i.test(text)) return null;
  const url = isUrl ? text : `http://${text}`;
  if (!URL.canParse(url)) return null;
  const host = new URL(url).hostname.replace(/\.$/, '');
  if (isAddress(host) || host === 'localhost') return host;
  const labels = host.split('.');
  const isName = labels.length > 1 && labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  return isName && host.length <= originLength ? host : null;
}

/** Whether a page of this `Origin` header may open the checkout. Browsers write an origin in one way: any other
 *  spelling, `null`, and no origin at all are refused as soon as the widget lists origins. An entry authorises its
 *  sub-domains too. */
export function isOriginAllowed(origin: string | undefined, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  if (origin === undefined || !/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.origin !== origin) return false;
  return allowed.some((entry) => url.hostname === entry || (!isAddress(entry) && url.hostname.endsWith(`.${entry}`)));
}

/** Sources of `frame-ancestors` for these entries: each host and what is below it, with any port where `anyPort` says
 *  so. */
export const frameAncestors = (allowed: readonly string[], anyPort: boolean): string[] =>
  allowed.flatMap((entry) => {
    const port = anyPort ? ':*' : '';
    return isAddress(entry) ? [`${entry}${port}`] : [`${entry}${port}`, `*.${entry}${port}`];
  });
