import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Session } from './session.js';
import { create, type Scene, type Stage } from './stage.js';

/** Events of wallets and webhook endpoints. */

/** The wallet that is switched off and added again: payments in other currencies go on meanwhile. */
const currency = 'USDC_ERC20';
const code = { path: '/api/v1/merchant-wallets/send-email-code' };

/** Switches the wallet off and adds it again. */
const wallet =
  (told: 'added' | 'deactivated'): Scene =>
  async (stage) => {
    const session = await Session.of(stage.sandbox);
    const add = async (): Promise<string> =>
      (await session.confirmed('POST', '/api/v1/merchant-wallets', { currency }, code))['id'] as string;
    const wallets = await stage.client.wallets.list();
    const known = wallets.find((one) => one.currency === currency && one.isActive);
    if (!known && told === 'added') return add();
    const id = known?.id ?? (await add());
    await session.confirmed('DELETE', `/api/v1/merchant-wallets/${id}`, {}, code);
    const added = await add();
    return told === 'added' ? added : id;
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
