import ipaddr from 'ipaddr.js';

/** An address or CIDR range in its one spelling (host bits cut, v4 in v6 as v4, a range of one as an address), or null:
 *  odd spellings (`127.1`, `0x7f.1`, zones, blanks) and ranges that hold everything are none. */
export function normaliseRange(text: string): string | null {
  const [address, bits, ...rest] = text.split('/');
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address!);
  if (rest.length || !(isV4 || (ipaddr.IPv6.isValid(address!) && !address!.includes('%')))) return null;
  let parsed = ipaddr.parse(address!);
  let width = isV4 ? 32 : 128;
  if (bits !== undefined && !/^(0|[1-9]\d{0,2})$/.test(bits)) return null;
  let prefix = bits === undefined ? width : parseInt(bits, 10);
  if (prefix > width) return null;
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && prefix >= 96) {
    parsed = parsed.toIPv4Address();
    prefix -= 96;
    width = 32;
  }
  if (prefix === 0) return null;
  if (prefix === width) return parsed.toString();
  const bytes = parsed.toByteArray().map((byte, i) => {
    const kept = Math.min(Math.max(prefix - i * 8, 0), 8);
    return byte & (0xff << (8 - kept)) & 0xff;
  });
  return `${ipaddr.fromByteArray(bytes).toString()}/${prefix}`;
}

/** Whether every address of `inner` (an address or a range) is one of `outer`. What is neither is within nothing. */
export function isWithinRange(inner: string, outer: string): boolean {
  const [narrow, wide] = [normaliseRange(inner), normaliseRange(outer)];
  if (narrow === null || wide === null) return false;
  const parse = (range: string): [ipaddr.IPv4 | ipaddr.IPv6, number] => {
    const address = ipaddr.parse(range.split('/')[0]!);
    return range.includes('/') ? ipaddr.parseCIDR(range) : [address, address.kind() === 'ipv4' ? 32 : 128];
  };
  const [address, bits] = parse(narrow);
  const [base, width] = parse(wide);
  return address.kind() === base.kind() && bits >= width && address.match(base, width);
}
