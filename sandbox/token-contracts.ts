import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from './parts/json-rpc';

/** Contract per token ticker on the local chain, deployed once; again where the chain does not know them (any more). */
export async function tokenContracts(
  dataDir: string,
  ethRpcUrl: string,
  deploy: (ethRpcUrl: string) => Promise<Record<string, string>>,
): Promise<Record<string, string>> {
  const file = join(dataDir, 'tokens.json');
  if (existsSync(file)) {
    const known = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
    const codes = await Promise.all(
      Object.values(known).map((contract) => call<string>(ethRpcUrl, 'eth_getCode', [contract, 'latest'])),
    );
    if (codes.every((code) => code !== '0x')) return known;
  }
  const fresh = await deploy(ethRpcUrl);
  writeFileSync(file, `${JSON.stringify(fresh, null, 2)}\n`);
  return fresh;
}
