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

const keyOf = (node: LndNode): Promise<string> =>
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

const activeChannels = (node: LndNode): Promise<number> =>
  node.admin().ask({
    path: '/v1/channels?active_only=true',
    shape: (answer) => list(fields(answer, 'The list'), 'channels').length,
  });

/** Waits until a node has so many channels, with peers that are there. */
export const untilActive = (node: LndNode, channels = 1): Promise<void> =>
  until(`${node.name} has ${channels} channels that are up`, async () => (await activeChannels(node)) >= channels);

/** Opens a channel in which both sides have something, and waits until both can use it. Satoshi; `pushed`: what is the
 *  other's at once. `mine`: makes blocks. */
export async function openChannel(
  from: LndNode,
  to: LndNode,
  {
    capacity,
    pushed,
    mine,
  }: Readonly<{ capacity: bigint; pushed: bigint; mine: (blocks: number) => Promise<unknown> }>,
): Promise<void> {
  await Promise.all([from, to].map(untilSynced));
  const before = await Promise.all([from, to].map(activeChannels));
  const pubkey = await keyOf(to);
  const admin = from.admin();
  await admin.ask<object>({
    path: '/v1/peers',
    body: { addr: { pubkey, host: to.peerAddress } },
    shape: (answer) => fields(answer, 'The answer'),
    refused: (message) => (/already connected/.test(message) ? {} : undefined),
  });
  await admin.ask({
    path: '/v1/channels',
    body: {
      node_pubkey: Buffer.from(pubkey, 'hex').toString('base64'),
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
