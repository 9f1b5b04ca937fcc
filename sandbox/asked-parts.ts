import { parseArgs } from 'node:util';
import { StartError } from './process';
import { optionalNetworks, type OptionalNetwork } from './stack/networks';

/** What `npm start` runs beside what every sandbox has. */
export type AskedParts = Readonly<{ networks: OptionalNetwork[]; lightning: boolean }>;

/** Runs without being asked for, beside Bitcoin and Ethereum. */
const usualNetworks: readonly OptionalNetwork[] = ['base'];

const names = [...optionalNetworks, 'lightning'];

/** The usual networks, and what `--with` names, comma-separated. Throws StartError. */
export function askedParts(args: readonly string[]): AskedParts {
  const usage = `Usage: npm start [-- --with ${names.join(',')} --temporal postgres]`;
  let named: string[];
  try {
    const { values } = parseArgs({ args: [...args], options: { with: { type: 'string', multiple: true } } });
    named = (values.with ?? []).flatMap((one) => one.split(',')).map((one) => one.trim());
  } catch (error) {
    throw new StartError(`${(error as Error).message}\n${usage}`);
  }
  const unknown = named.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new StartError(`--with '${unknown}': there is no such part here\n${usage}`);
  const networks = optionalNetworks.filter((one) => usualNetworks.includes(one) || named.includes(one));
  return { networks, lightning: named.includes('lightning') };
}
