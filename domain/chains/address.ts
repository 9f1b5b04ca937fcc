import { DomainError } from '../errors';
import { assetsOn, networks, type Network, type NetworkId } from './assets';
import type { ChainCodec } from './chain';

/** What takes addresses from people. */
export type AddressReader = Pick<ChainCodec, 'network' | 'normalise' | 'refusalOf' | 'readDestination'>;

/** What is told of an address that is right on its network, and the service's own. */
export const ownAddress = 'This address belongs to this service itself: give one of a wallet outside it';

/** An address that somebody gives, in the one spelling of its network. null: it is none, or not taken from people. */
export const givenAddress = (codec: AddressReader, address: string): string | null =>
  codec.refusalOf(address) === null ? codec.normalise(address) : null;

/** The same. Throws INVALID_ADDRESS, which says what is wrong with it. */
export function readAddress(codec: AddressReader, address: string): string {
  const own = givenAddress(codec, address);
  if (own !== null) return own;
  throw new DomainError('INVALID_ADDRESS', codec.refusalOf(address) ?? faultOf(codec.network, address));
}

/** What is wrong with an address that cannot be read, and what would be right. */
function faultOf(network: NetworkId, address: string): string {
  const { name, kind } = networks[network];
  if (isOfLightning(address)) return `This is of Lightning: give an address of ${name}`;
  if (isLike(network, address)) {
    const otherwise =
      kind === 'account' ? "is a token's contract, or the zero address" : 'is of another chain (live, test)';
    return `This address of ${name} is mistyped, or ${otherwise}: copy it again`;
  }
  // Of networks whose addresses are the same, the one that they are known by.
  const others = Object.values(networks).filter(({ id, addressesOf }) => !addressesOf && isLike(id, address));
  return others.length
    ? `Not an address of ${name}: it looks like one of ${others.map((other) => other.name).join(', ')}`
    : `Not an address of ${name}: one ${formOf(networks[network])}`;
}

/** Whether it has the form of an address of this network, whatever its checksum says. */
const isLike = (network: NetworkId, address: string): boolean =>
  assetsOn([network]).some(({ addressRegex }) => new RegExp(addressRegex).test(address));

/** An invoice (BOLT 11), an LNURL or a Lightning address, by its form; perhaps cut off. */
const isOfLightning = (text: string): boolean =>
  /^(lightning:)?(ln(bcrt|bc|tbs?)\d|lnurl1)/i.test(text) || /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(text);

function formOf(network: Network): string {
  if (network.expiring) return network.addressForm;
  if (network.kind === 'account') return 'is 0x and 40 hexadecimal digits';
  const [live, ...test] = new Set(Object.values(network.chains).map(({ bech32 }) => `${bech32}1`));
  return `begins with ${live} (on test chains ${test.join(', ')}), or is of the older kind without that`;
}
