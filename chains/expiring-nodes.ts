import type { ChainSettings, ExpiringNetwork, NetworkId } from '../domain/chains/assets';
import type { ExpiringFamily } from '../domain/chains/chain';
import { isLocalChain } from '../domain/chains/freshness';
import { warning, type Finding } from '../domain/finding';
import { expiringAmong, isSameNode, type SignerNodes } from '../domain/signer-nodes';
import { loginOf, type Config } from '../domain/config';
import { expiringChainOf, registered, tronChainOf, type Registered } from './codecs';
import { tronFamily } from './tron/expiring-family';
import { tronLogins } from './tron/http';
import { tronNode } from './tron/node';
import { checkTronNode } from './tron/node-check';
import { xrplFamily } from './xrpl/expiring-family';
import { ofNetwork, xrplNode } from './xrpl/node';
import { checkXrplNode, ofSigner } from './xrpl/node-check';

/** The signer's own nodes of networks whose transactions expire. docs/decisions/0067-before-expiring-networks.md */

type SignerNode = SignerNodes[string];

function familyOf({ network, assets }: Registered, settings: ChainSettings, node: SignerNode): ExpiringFamily {
  const chain = expiringChainOf(network as ExpiringNetwork, settings);
  if (chain.family === 'xrpl') return xrplFamily(chain, ofNetwork(xrplNode(node), chain));
  const tron = tronChainOf(chain, assets, settings);
  return tronFamily(tron, tronNode(tron, tronLogins(node)));
}

/** What the signer signs with, and asks, of each network that is on and whose transactions expire. Throws where one has
 *  no node: the settings of the signer are refused before that. */
export const expiringFamilies = ({
  networks,
  signerNodes,
  chain: settings,
}: Pick<Config, 'networks' | 'signerNodes' | 'chain'>): Readonly<Partial<Record<NetworkId, ExpiringFamily>>> =>
  Object.fromEntries(
    expiringAmong(networks).map((id) => {
      const node = signerNodes[id];
      if (!node) throw new Error(`The signer has no node for ${id}`);
      return [id, familyOf(registered(id), settings, node)];
    }),
  );

/** Whether the signer's own node of a network is of its chain and can prove what has expired; nothing of a network
 *  whose transactions never expire. Throws NODE_UNREACHABLE where it does not answer. */
export async function checkSignerNode(id: NetworkId, config: Config): Promise<Finding[]> {
  const { network, assets } = registered(id);
  if (!network.expiring) return [];
  const chain = expiringChainOf(network, config.chain);
  const node = config.signerNodes[id];
  if (!node) {
    const what = "Nobody has said where the signer's own node is: it is not looked at";
    return [warning(what, 'Give SIGNER_NODES to this process too')];
  }
  const found =
    chain.family === 'xrpl'
      ? await checkXrplNode(chain, xrplNode(node), ofSigner)
      : await checkTronNode(tronNode(tronChainOf(chain, assets, config.chain), tronLogins(node)), {
          name: "The signer's node",
          isLocal: isLocalChain(network, config.chain),
        });
  return isSameNode(node.url, loginOf(id, config).url)
    ? [...found, warning("The signer asks its chain worker's node: it believes what that one says", 'Set another')]
    : found;
}
