import { networks, type NetworkId } from './chains/assets';
import { faultOfNode } from './production';

/** The nodes of the signer's own, for networks whose transactions expire: what it signs a second time is void by their
 *  word alone. docs/decisions/0067-before-expiring-networks.md */

/** By network. `final`: where its final blocks are, if not at the same address. */
export type SignerNodes = Readonly<Record<string, Readonly<{ url: string; final?: string }>>>;

/** Of networks that are on, those whose transactions expire. */
export const expiringAmong = (on: readonly NetworkId[]): NetworkId[] =>
  on.filter((id) => networks[id].expiring !== undefined);

/** Whether two addresses are of one server: other credentials or another path make it no other node. */
export const isSameNode = (one: string, other: string): boolean => {
  const [a, b] = [URL.parse(one), URL.parse(other)];
  return a !== null && b !== null && a.host === b.host;
};

type Known = Readonly<{
  networks: readonly NetworkId[];
  /** Each of them whose transactions expire must have one. */
  isAsked: boolean;
  /** The node of its chain worker. */
  followedAt: (id: NetworkId) => string;
  isProduction: boolean;
}>;

/** Reads the setting. What is wrong with it goes to `faults`. */
export function parseSignerNodes(json: string, faults: string[], known: Known): SignerNodes {
  const given = objectIn(json);
  if (given === null) {
    faults.push('SIGNER_NODES is not a JSON object of network to address');
    return {};
  }
  const nodes: Record<string, SignerNodes[string]> = {};
  for (const [id, value] of Object.entries(given)) {
    const say = (what: string): void => void faults.push(`SIGNER_NODES: ${what}`);
    if (!Object.hasOwn(networks, id)) say(`there is no network '${id}' in the registry`);
    else if (networks[id as NetworkId].expiring === undefined) say(`transactions of ${id} never expire`);
    else nodes[id] = nodeOf(id as NetworkId, value, known, say);
  }
  const missing = known.isAsked ? expiringAmong(known.networks).filter((id) => !nodes[id]) : [];
  for (const id of missing)
    faults.push(`SIGNER_NODES names no node for ${id}: its transactions expire, and the signer asks one of its own`);
  return nodes;
}

function nodeOf(id: NetworkId, value: unknown, known: Known, say: (what: string) => void): SignerNodes[string] {
  const addresses: unknown[] = Array.isArray(value) ? value : [value];
  const most = networks[id].expiring === 'tron' ? 2 : 1;
  if (addresses.length < 1 || addresses.length > most) say(`${id} has ${addresses.length} addresses, not 1 to ${most}`);
  const [url = '', final] = addresses.map((address) => (typeof address === 'string' ? address : ''));
  for (const address of final === undefined ? [url] : [url, final]) {
    // Credentials may be in it: it is not repeated.
    if (!/^https?:$/.test(URL.parse(address)?.protocol ?? '')) say(`an address of ${id} is no http:// or https:// one`);
    else if (known.isProduction) {
      const fault = faultOfNode(address);
      if (fault) say(`an address of ${id} ${fault}`);
      if (isSameNode(address, known.followedAt(id)))
        say(`the node of ${id} is that of its chain worker, whose word the signer must not need to take`);
    }
  }
  return final === undefined ? { url } : { url, final };
}

function objectIn(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json || '{}');
    return value && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
