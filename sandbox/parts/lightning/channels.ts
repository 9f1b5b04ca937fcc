import { setTimeout as sleep } from 'node:timers/promises';
import { fields, hexText, list, text, whole, yes } from '../../../chains/lightning/answers';
import type { LndNode } from './index';

/** What owners of nodes do: coins, peers, channels, macaroons. */

type Permission = readonly [entity: string, action: 'read' | 'write'];

/** A macaroon for these rights and no others, hex. */
export const bakeMacaroon = (node: LndNode, permissions: readonly Permission[]): Promise<string> =>
  node.admin().ask({
    path: '/v1/macaroon',
    body: { permissions: permissions.map(([entity, action]) => ({ entity, action })) },
    shape: (answer) => text(fields(answer, 'The answer'), 'macaroon'),
  });

/** The public key of a node, hex. */
export const keyOf = (node: LndNode): Promise<string> =>
  node.admin().ask({
    path: '/v1/getinfo',
    shape: (answer) => hexText(fields(answer, 'The node'), 'identity_pubkey', 33),
  });

/** Where coins for the node's channels go. */
export const addressOf = (node: LndNode): Promise<string> =>
  node.admin().ask({
    path: '/v1/newaddress?type=WITNESS_PUBKEY_HASH',
    shape: (answer) => text(fields(answer, 'The answer'), 'address'),
  });

/** Until it holds, for a minute at the most; says what did not. */
export async function until(what: string, holds: () => Promise<boolean>, withinMs = 60_000): Promise<void> {
  for (const end = Date.now() + withinMs; !(await holds()); await sleep(100))
    if (Date.now() > end) throw new Error(`After ${withinMs / 1000} s it does not hold that ${what}`);
}

/** Waits until the node has coins of its own, and knows the newest block. */
export async function untilFunded(node: LndNode): Promise<void> {
  await until(`${node.name} has coins`, () =>
    node.admin().ask({
      path: '/v1/balance/blockchain',
      shape: (answer) => whole(fields(answer, 'The balance'), 'confirmed_balance') > 0n,
    }),
  );
}

export const untilSynced = (node: LndNode): Promise<void> =>
  until(`${node.name} has the newest block`, () =>
    node.admin().ask({
      path: '/v1/getinfo',
      shape: (answer) => yes(fields(answer, 'The node'), 'synced_to_chain'),
    }),
  );

const channelsOf = (node: LndNode, which: 'active_only=true' | ''): Promise<number> =>
  node.admin().ask({
    path: `/v1/channels?${which}`,
    shape: (answer) => list(fields(answer, 'The list'), 'channels').length,
  });
const activeChannels = (node: LndNode): Promise<number> => channelsOf(node, 'active_only=true');

/** Channels whose opening is in too few blocks. */
const openingChannels = (node: LndNode): Promise<number> =>
  node.admin().ask({
    path: '/v1/channels/pending',
    shape: (answer) => list(fields(answer, 'The pending channels'), 'pending_open_channels').length,
  });

/** Waits until a node has so many channels, with peers that are there. */
export const untilActive = (node: LndNode, channels = 1): Promise<void> =>
  until(`${node.name} has ${channels} channels that are up`, async () => (await activeChannels(node)) >= channels);

/** Has a node look for a peer, wherever that was before. */
async function connect(from: LndNode, to: LndNode): Promise<void> {
  const pubkey = await keyOf(to);
  await from.admin().ask<object>({
    path: '/v1/peers',
    body: { addr: { pubkey, host: to.peerAddress } },
    shape: (answer) => fields(answer, 'The answer'),
    refused: (message) => (/already connected/.test(message) ? {} : undefined),
  });
}

/** Satoshi; `pushed`: what is the other's at once. `mine`: makes blocks. */
type Terms = Readonly<{ capacity: bigint; pushed: bigint; mine: (blocks: number) => Promise<unknown> }>;

/** Opens a channel in which both sides have something, and waits until both can use it. */
export async function openChannel(from: LndNode, to: LndNode, { capacity, pushed, mine }: Terms): Promise<void> {
  await Promise.all([from, to].map(untilSynced));
  const before = await Promise.all([from, to].map(activeChannels));
  await connect(from, to);
  await from.admin().ask({
    path: '/v1/channels',
    body: {
      node_pubkey: Buffer.from(await keyOf(to), 'hex').toString('base64'),
      local_funding_amount: capacity.toString(),
      push_sat: pushed.toString(),
      sat_per_vbyte: '2',
    },
    shape: (answer) => fields(answer, 'The channel'),
    tries: 1,
    waitMs: 60_000,
  });
  await mine(6);
  await Promise.all([from, to].map((node, n) => untilActive(node, before[n]! + 1)));
}

/** Brings the channel of an earlier start up again, or opens one. `fund`: pays to an address, deep enough to spend. */
export async function keepChannel(
  from: LndNode,
  to: LndNode,
  { fund, ...terms }: Terms & Readonly<{ fund: (address: string) => Promise<unknown> }>,
): Promise<void> {
  await Promise.all([from, to].map(untilSynced));
  const opening = await openingChannels(from);
  if (opening || (await channelsOf(from, ''))) {
    await connect(from, to);
    if (opening) await terms.mine(6); // the end of the sandbox came in between
    await Promise.all([from, to].map((node) => untilActive(node)));
    return;
  }
  await fund(await addressOf(from));
  await untilFunded(from);
  await openChannel(from, to, terms);
}
