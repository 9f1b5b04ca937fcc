import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { knownNode } from '../../db/lightning/node';
import { addLightningWallet } from '../../db/wallets/wallets';
import { DomainError } from '../../domain/errors';
import { lightningCurrency } from '../../domain/lightning/currency';
import { openChannel, untilActive } from '../../sandbox/parts/lightning/channels';
import { closed } from '../../sandbox/parts/listening';
import { ownCertificate } from '../../sandbox/parts/own-certificate';
import type { Stack } from '../../sandbox/stack';
import { capacity } from '../../sandbox/stack/lightning';
import { RpcProxy } from '../faults/rpc-proxy';
import type { Shop, World } from '../world';
import { lightningHost, type LightningHost } from './lightning-host';
import { LightningPayer } from './lightning-payer';

/** Lightning in a run: the way to our node goes through a proxy, and the payer has a node and addresses. */

/** What a run has of Lightning. `host`: null where this machine gives it no port. */
export type Lightning = Readonly<{ payer: LightningPayer; host: LightningHost | null }> & {
  /** Between the two nodes. */
  channels: number;
};

export type LightningDoors = Readonly<{
  proxy: RpcProxy;
  host: LightningHost | null;
  env: Readonly<Record<string, string>>;
  close: () => Promise<void>;
}>;

/** What stands between our processes and our node, and the host of Lightning addresses, whose certificate they take. */
export async function lightningDoors({ lightning, dataDir }: Stack): Promise<LightningDoors> {
  const { url, files } = lightning!.ours;
  const own = ownCertificate();
  const proxy = await RpcProxy.before(url, { certificate: readFileSync(files.certificate, 'utf8'), own });
  const host = await lightningHost(own);
  const folder = join(dataDir, 'lightning');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const certificateFile = join(folder, 'proxy.cert');
  writeFileSync(certificateFile, own.certificate);
  const env = {
    LIGHTNING_URL: proxy.url,
    LIGHTNING_TLS_FILE: certificateFile,
    NODE_EXTRA_CA_CERTS: certificateFile,
  };
  return { proxy, host, env, close: async () => void (host && (await closed(host.server))) };
}

/** Once the worker has heard of our node: the shop takes Lightning. */
export async function beginLightning(world: World, shop: Shop, { host }: LightningDoors): Promise<Lightning> {
  const payer = new LightningPayer(world.stack.lightning!);
  host?.of(payer);
  await world.until('our Lightning node is followed', async () => (await knownNode(world.db)) !== null, 120_000);
  await addLightningWallet(world.db.manager, { merchantId: shop.id, currency: lightningCurrency });
  return { payer, host, channels: 1 };
}

/** Opens another channel, in which all is the payer's, where theirs does not come up again, as its owner would: after a
 *  kill lnd 0.20 can refuse a channel for good (docs/operations/alerts.md, LightningNoChannel). Throws where a node
 *  does not answer. */
export async function mendChannel({ stack, payer }: World, lightning: Lightning): Promise<void> {
  const { ours, payer: theirs } = stack.lightning!;
  try {
    for (const node of [ours, theirs]) await untilActive(node);
  } catch (error) {
    if (error instanceof DomainError) throw error;
    await openChannel(theirs, ours, { capacity, pushed: 0n, mine: (blocks) => payer.mine('BTC', blocks) });
    lightning.channels += 1;
  }
}
