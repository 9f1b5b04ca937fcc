import ipaddr from 'ipaddr.js';

/** Whose X-Forwarded-For is believed. Nobody's by default. Invariants: 7, Headers. */
export type ForwardingRules = Readonly<{
  /** Reverse proxies in front of us: that many entries from the right are theirs. */
  proxyCount: number;
  /** Addresses or CIDR ranges of checkout hosts, which add one entry: the payer. */
  checkoutIps: readonly string[];
}>;

/** What of a request tells where it comes from. */
export type Origin = Readonly<{
  socket: Readonly<{ remoteAddress?: string | undefined }>;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}>;

const normal = (address: string): string | null =>
  ipaddr.isValid(address) ? ipaddr.process(address).toString() : null;

/** Whether `address` is one of `entries` (addresses or CIDR ranges). Entries that are neither match nothing. */
export function isListed(address: string, entries: readonly string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const given = ipaddr.process(address);
  return entries.some((entry) => {
    if (ipaddr.isValid(entry)) return ipaddr.process(entry).toString() === given.toString();
    if (!ipaddr.isValidCIDR(entry)) return false;
    const [range, bits] = ipaddr.parseCIDR(entry);
    return range.kind() === given.kind() && given.match(range, bits);
  });
}

/** The address of the caller: the socket's, unless it is a believed proxy's. A checkout's entry is the payer, and the
 *  last that counts. */
export function clientIp({ socket, headers }: Origin, { proxyCount, checkoutIps }: ForwardingRules): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  let address = normal(socket.remoteAddress ?? '') ?? '0.0.0.0';
  for (let believed = 0; ; believed++) {
    const isCheckout = isListed(address, checkoutIps);
    if (!isCheckout && believed >= proxyCount) return address;
    const named = normal(forwarded.pop() ?? '');
    if (isCheckout || named === null) return named ?? address;
    address = named;
  }
}

/** What limits are counted by: the address, or the /64 of a v6 one, which one household or server owns whole. */
export function limitKey(address: string): string {
  const parsed = ipaddr.parse(address);
  if (parsed.kind() === 'ipv4') return address;
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
