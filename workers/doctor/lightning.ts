import type { DataSource } from 'typeorm';
import { lightningReader, macaroonRights, tryMacaroon, type MacaroonSetting } from '../../chains/lightning/node';
import { capacityOf, type LndReadings } from '../../chains/lightning/readings';
import { readCursor } from '../../db/chains/cursor';
import { knownNode } from '../../db/lightning/node';
import { networks } from '../../domain/chains/assets';
import type { Config } from '../../domain/config';
import { fault, good, warning, type Finding } from '../../domain/finding';
import { fromUnits } from '../../domain/money';

/** Its worker tells of the node every ten seconds. */
const heardOfSeconds = 60;
/** The adapter was made for it. */
const leastVersion = 20;

const readerOf = (config: Config): LndReadings => lightningReader(config)!;
const btc = (satoshi: bigint): string => `${fromUnits(satoshi, 8)} BTC`;

/** Our Lightning node: whether it is reached by the files that are set, is of our chain, knows the newest block, and
 *  can receive. Throws where a file is not as it must be, and NODE_UNREACHABLE, for a node of another chain too. */
export async function checkLightning(config: Config): Promise<Finding[]> {
  const reader = readerOf(config);
  const { key, version, network, height, isSynced } = await reader.info();
  const minor = /^0\.(\d+)\./.exec(version)?.[1];
  return [
    good(`Node ${key} answers (lnd ${version}, ${network}, block ${height})`),
    ...(minor !== undefined && parseInt(minor, 10) < leastVersion
      ? [warning(`lnd ${version} is older than what this release was made for`, `Update it to 0.${leastVersion}`)]
      : []),
    isSynced
      ? good('It knows the newest block')
      : fault(
          'It does not know the newest block: no money is taken until it does',
          'Wait, or look at its Bitcoin node',
        ),
    ...(await capacity(reader, config)),
  ];
}

async function capacity(reader: LndReadings, { LIGHTNING_WITHDRAWALS: pays }: Config): Promise<Finding[]> {
  const channels = await reader.channels();
  const { receivable, sendable } = capacityOf(channels);
  const up = channels.filter(({ isActive }) => isActive).length;
  const what = `${up} of ${channels.length} channels are up: ${btc(receivable)} can be received, ${btc(sendable)} sent`;
  const away = channels.length - up;
  return [
    receivable > 0n ? good(what) : fault(what, 'Have somebody open a channel to the node, or its peers come back'),
    ...(pays && sendable === 0n
      ? [fault('It can send nothing, and withdrawals are offered', 'Open a channel from the node, with coins in it')]
      : []),
    ...(away > 0 && up > 0
      ? [warning(`${away} channels are down`, 'See whether their peers are there: lncli listchannels --inactive_only')]
      : []),
  ];
}

const bakeAnew = 'Bake it anew for what it is for, see docs/operations/lightning.md';

/** A macaroon of another process, where the caller names its file: what it may do, and whether the node knows it. */
export async function checkMacaroon(config: Config, name: MacaroonSetting, path: string): Promise<Finding[]> {
  const holder = name === 'LIGHTNING_PAY_MACAROON_FILE' ? 'the signer' : 'the chain worker of Bitcoin';
  try {
    await tryMacaroon({ ...config, [name]: path }, name);
    return [good(`The macaroon of ${holder} may ${macaroonRights[name].join(', ')}, and nothing else`)];
  } catch (error) {
    return [fault(`The macaroon of ${holder}: ${(error as Error).message.split('\n')[0]}`, bakeAnew)];
  }
}

/** The node beside what a running service knows: it is that of the books, it is followed, and it and the follower of
 *  Bitcoin see one chain. */
export async function checkLightningFollower(db: DataSource, config: Config): Promise<Finding[]> {
  const { key, height } = await readerOf(config).info();
  const [known, read] = [await knownNode(db), await readCursor(db.manager, 'bitcoin')];
  return [
    known === null
      ? fault('The Lightning node was never followed', startWorker)
      : known.key !== key
        ? fault(
            `The node is ${key}, and the books are of ${known.key}`,
            'Point LIGHTNING_URL to the node of the books; see docs/operations/lightning.md',
          )
        : known.ageSeconds > heardOfSeconds
          ? fault(`Nothing was heard of the node for ${Math.round(known.ageSeconds)} s`, startWorker)
          : good('The Lightning node is followed'),
    ...(read !== null && Math.abs(read.height - height) > networks.bitcoin.headMaxGap
      ? [fault(`It is at block ${height}, and Bitcoin is read to ${read.height}`, 'Look at the Bitcoin node of either')]
      : []),
  ];
}

const startWorker = 'Start worker-chain for bitcoin with LIGHTNING_INVOICE_MACAROON_FILE, and read its log if it runs';
