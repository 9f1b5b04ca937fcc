import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Refusal } from './refusal.js';
import { Session } from './session.js';
import { create, post, type Scene, type Stage } from './stage.js';

/** Events of wallets and webhook endpoints. */

/** The wallet that is switched off and added again: payments in other currencies go on meanwhile. */
const currency = 'USDC_ERC20';
const code = { path: '/api/v1/merchant-wallets/send-email-code' };

const add = async (session: Session): Promise<string> =>
  (await session.confirmed('POST', '/api/v1/merchant-wallets', { currency }, code))['id'] as string;
async function knownWallet({ client }: Stage): Promise<string | undefined> {
  const wallets = await client.wallets.list();
  return wallets.find((one) => one.currency === currency && one.isActive)?.id;
}

/** Switches the wallet off and adds it again. */
const wallet =
  (told: 'added' | 'deactivated'): Scene =>
  async (stage) => {
    const session = await Session.of(stage.sandbox);
    const known = await knownWallet(stage);
    if (!known && told === 'added') return add(session);
    const id = known ?? (await add(session));
    await session.confirmed('DELETE', `/api/v1/merchant-wallets/${id}`, {}, code);
    const added = await add(session);
    return told === 'added' ? added : id;
  };

/** Points the wallet at an address of nobody's, and stops that by the link that is mailed to all admins. */
const settledElsewhere: Scene = async (stage) => {
  const session = await Session.of(stage.sandbox);
  const id = (await knownWallet(stage)) ?? (await add(session));
  const since = Date.now();
  const to = { settlementAddress: `0x${randomBytes(20).toString('hex')}` };
  const after = await session.confirmed('PATCH', `/api/v1/merchant-wallets/${id}/settlement`, to, code);
  stage.afterwards(async () => {
    const token = await session.inMail(since, `Where ${currency} of`, /\/w\/(\S+)/);
    if (!token) throw new Refusal(`No mail came to stop the change of the ${currency} wallet`, 'NOT_TRIGGERED');
    await post(stage, `${stage.apiUrl}/settlement-changes/${token}/stop`, { confirm: true });
  });
  if (after['pendingChange'])
    throw new Refusal('The change would wait: for its cooling-off, or for a second person', 'NOT_TRIGGERED');
  return id;
};

/** An endpoint of this process, as long as the event is waited for. */
async function endpoint(stage: Stage, status: number, enabledEvents: string[]): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(status).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  const { id } = await stage.client.webhookEndpoints.create({ url, enabledEvents });
  stage.afterwards(async () => {
    server.closeAllConnections();
    server.close();
    await stage.client.webhookEndpoints.delete(id);
  });
  return id;
}

export const accountScenes: Readonly<Record<string, Scene>> = {
  'wallet.added': wallet('added'),
  'wallet.deactivated': wallet('deactivated'),
  'wallet.settlement_changed': settledElsewhere,
  'webhook_endpoint.disabled': async (stage) => {
    const id = await endpoint(stage, 410, ['payment.created']);
    await create(stage, stage.currency);
    return id;
  },
  'webhook.test': async (stage) => {
    await stage.client.webhookEndpoints.test(await endpoint(stage, 204, ['*']));
    return undefined;
  },
};
