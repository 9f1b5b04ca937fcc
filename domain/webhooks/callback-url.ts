import ipaddr from 'ipaddr.js';
import { DomainError } from '../errors';
import { creationRefused } from '../payments/creation-refusals';

/** Which addresses a merchant may name as targets. The text alone is checked here; what a name resolves to is checked
 *  again at each send. Contract: 4.5, 7.2; Invariants: 7, SSRF. */

export type CallbackRules = Readonly<{
  /** Hosts that the merchant has listed; empty: any. */
  allowedDomains: readonly string[];
  /** Sandbox only: http, any port and internal addresses pass, but for those in `neverAsked`. */
  allowInsecure: boolean;
  /** Browsers are sent there, not we: any port passes. */
  isForBrowsers?: boolean;
}>;

/** Ports that we send to; '' is the scheme's own. */
const allowedPorts = ['', '443', '8443'];

/** Names that lead into our own network wherever they are resolved. */
const internalNames = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|onion)$/;

/** IPv4 within IPv6, in its deprecated form: a public name for an address of another network. */
const veiled = ipaddr.parseCIDR('::/96') as [ipaddr.IPv6, number];

/** Whether an IP address is the public name of another one. */
export function isVeiled(address: string): boolean {
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).match(veiled);
}

/** Where clouds tell any machine of theirs its own secrets: link-local addresses, also by their name in IPv6 (RFC
 *  6052), and those that two clouds have elsewhere. Nobody's receiver is there, so not even a sandbox asks them. */
const neverAsked = [
  '169.254.0.0/16',
  '64:ff9b::a9fe:0/112',
  'fe80::/10',
  'fd00:ec2::254/128',
  '100.100.100.200/32',
].map((range) => ipaddr.parseCIDR(range));

/** A host as the URL parser writes it, without the brackets of IPv6 and the dot of a root. */
const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$|\.$/g, '');

/** Whether a host is such an address, in whatever spelling or within whatever public name of an IPv4 address. */
export function isNeverAsked(hostname: string): boolean {
  const bare = bareHost(hostname);
  if (!ipaddr.isValid(bare)) return false;
  const address = ipaddr.process(bare);
  return neverAsked.some(([range, bits]) => address.kind() === range.kind() && address.match(range, bits));
}

/** Whether an address, in any spelling that is one, is of the public internet. */
function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return !isVeiled(address);
}

/** Whether the parser read an IPv4 address out of another spelling: octal, hex, fewer parts, a dot at the end. What
 *  else reads the same text may read another address. */
function isOddlySpelt(text: string, hostname: string): boolean {
  const host = /^https?:\/\/([^/?#]*?)(:\d*)?([/?#]|$)/i.exec(text)?.[1];
  return ipaddr.IPv4.isValidFourPartDecimal(hostname) && host !== hostname;
}

function isInternalHost(hostname: string): boolean {
  const bare = bareHost(hostname);
  if (ipaddr.isValid(bare)) return !isPublic(bare);
  // Whatever the URL parser left with a number as its last label is an odd spelling of an address.
  const labels = bare.split('.');
  const last = labels.at(-1) ?? '';
  if (/^(0x[0-9a-f]*|\d+)$/i.test(last)) return true;
  return labels.length < 2 || internalNames.test(labels.join('.'));
}

/** Whether `host` is `entry` or lies below it. */
export const isHostWithin = (host: string, entry: string): boolean => {
  const wanted = entry.toLowerCase().replace(/^\.|\.$/g, '');
  const given = host.toLowerCase().replace(/\.$/, '');
  return wanted !== '' && (given === wanted || given.endsWith(`.${wanted}`));
};

/** Refuses a callback or redirect address that the rules do not allow. Throws CALLBACK_NOT_HTTPS, CALLBACK_INTERNAL,
 *  VALIDATION_ERROR (no absolute http address, a port that we do not send to), PAYMENT_CREATION_FAILED (host not on the
 *  merchant's list). */
export function checkCallbackUrl(text: string, property: string, rules: CallbackRules): void {
  const invalid = () => new DomainError('VALIDATION_ERROR', `${property} must be an absolute http or https URL`);
  // The URL parser forgives these; browsers and proxies disagree about them.
  if (/[\s\\\u0000-\u001f\u007f]/.test(text) || !/^https?:\/\/[^/]/i.test(text)) throw invalid();
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !url.hostname || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw invalid();
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) throw invalid();
  if (!rules.allowInsecure) {
    if (url.protocol !== 'https:') throw new DomainError('CALLBACK_NOT_HTTPS');
    if (isOddlySpelt(text, url.hostname) || isInternalHost(url.hostname)) throw new DomainError('CALLBACK_INTERNAL');
    if (!rules.isForBrowsers && !allowedPorts.includes(url.port))
      throw new DomainError('VALIDATION_ERROR', `${property} must name port 443 or 8443, or none`);
  }
  if (isNeverAsked(url.hostname)) throw new DomainError('CALLBACK_INTERNAL');
  if (rules.allowedDomains.length && !rules.allowedDomains.some((entry) => isHostWithin(url.hostname, entry)))
    throw creationRefused('CALLBACK_HOST_NOT_ALLOWED', { property });
}
