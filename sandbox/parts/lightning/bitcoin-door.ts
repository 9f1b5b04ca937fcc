import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bitcoinCall, mineBitcoin } from '../../miner';
import { Gate } from '../gate';
import { ownCertificate } from '../own-certificate';

/** A door with TLS in front of btcd's port, for lnd, which speaks to btcd by TLS alone; everybody else goes in without.
 *  btcd shuts its own door until it has its blocks back, so lnd never sees an empty chain: it would take that for a
 *  reorganisation, and open no channel any more. */
export async function bitcoinDoor(
  options: Readonly<{ dataDir: string; port: number; btcdPort: number }>,
): Promise<Readonly<{ port: number; certificateFile: string; shut: () => Promise<void> }>> {
  const { dataDir, port, btcdPort } = options;
  const folder = join(dataDir, 'bitcoin-door');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = ownCertificate();
  const certificateFile = join(folder, 'tls.cert');
  writeFileSync(certificateFile, own.certificate);
  const gate = new Gate(port, btcdPort, own);
  await gate.open();
  return { port, certificateFile, shut: () => gate.shut() };
}

const isOldSeconds = 3600;

/** Makes a block where the newest one is old, or there is none. `btcRpcUrl`: with user and password. */
export async function freshenBitcoin(btcRpcUrl: string): Promise<void> {
  const hash = await bitcoinCall<string>(btcRpcUrl, 'getbestblockhash');
  const { time } = await bitcoinCall<{ time: number }>(btcRpcUrl, 'getblockheader', [hash]);
  if (Date.now() / 1000 - time > isOldSeconds) await mineBitcoin(btcRpcUrl);
}
