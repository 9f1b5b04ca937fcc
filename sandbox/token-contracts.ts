import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from './parts/json-rpc';

/** Contracts by name on the local chain, kept in `file`, deployed once; again where the chain does not know them (any
 *  more). */
export async function deployedOnce(
  dataDir: string,
  file: string,
  ethRpcUrl: string,
  deploy: (ethRpcUrl: string) => Promise<Record<string, string>>,
): Promise<Record<string, string>> {
  const path = join(dataDir, file);
  if (existsSync(path)) {
    const known = JSON.parse(readFileSync(path, 'utf8')) as Record<string, string>;
    const codes = await Promise.all(
      Object.values(known).map((contract) => call<string>(ethRpcUrl, 'eth_getCode', [contract, 'latest'])),
    );
    if (codes.every((code) => code !== '0x')) return known;
  }
  const fresh = await deploy(ethRpcUrl);
  writeFileSync(path, `${JSON.stringify(fresh, null, 2)}\n`);
  return fresh;
}
