import type { NetworkId } from '../../domain/chains/assets';
import { litecoindName, startLitecoind, type CoinNode, type LitecoindOptions } from '../parts/litecoind';
import { payerAddressOn } from '../secrets';

/** A program that is the node of coins. `spells`: the network whose addresses it reads and writes. */
type Program = Readonly<{ name: string; start: typeof startLitecoind; spells: NetworkId }>;
const litecoind: Program = { name: litecoindName, start: startLitecoind, spells: 'litecoin' };

/** The node of each coin beside Bitcoin's. A node knows scripts: a program with other prefixes of addresses serves as
 *  well, where it has `generatetoaddress`. Who brings it to the machine: sandbox/setup/plan.mjs. */
const programs: Readonly<Partial<Record<NetworkId, Program>>> = { litecoin: litecoind };

/** The name of the part that is the node of a coin, or undefined where no program is. */
export function coinNodeName(id: NetworkId): string | undefined {
  const program = programs[id];
  return program && (program.spells === id ? program.name : `${program.name}-${id}`);
}

/** `payer`: the mnemonic of who gets the coins of blocks. `crashed`: told with the name of the part. */
type Wanted = Pick<LitecoindOptions, 'dataDir' | 'port' | 'user' | 'password'> &
  Readonly<{ payer: string; crashed: (name: string) => (how: string) => void }>;

/** Starts the node of a coin. Throws where no program is one. */
export async function startCoinNode(id: NetworkId, { payer, crashed, ...wanted }: Wanted): Promise<CoinNode> {
  const [program, name] = [programs[id], coinNodeName(id)];
  if (!program || !name) throw new Error(`No program is the node of '${id}' (sandbox/stack/coin-nodes.ts)`);
  return program.start({
    ...wanted,
    name,
    miningAddress: payerAddressOn(payer, program.spells),
    onCrash: crashed(name),
  });
}
