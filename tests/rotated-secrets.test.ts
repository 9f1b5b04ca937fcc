import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { changenowProvider } from '../activities/conversions/changenow';
import { createAdapter } from '../chains/adapters';
import { createMailer } from '../commands/mail/mailer';
import { parseConfig } from '../domain/config';

/** B6: secrets of others' servers are changed as docs/operations/secrets.md says. A server takes two for a while; a
 *  process with the old one and a process with the new one work side by side, and the old one ends. */

let taken: Set<string>;
const servers: Array<Server | SMTPServer> = [];
beforeEach(() => {
  taken = new Set(['old', 'new']);
});
afterEach(async () => {
  for (const server of servers.splice(0)) {
    if (!(server instanceof SMTPServer)) server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
});

/** A server over HTTP that answers `result` to who names a secret that it takes, and 401 to others. */
async function serve(secretOf: (request: IncomingMessage) => string, result: object): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.statusCode = taken.has(secretOf(request)) ? 200 : 401;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(response.statusCode === 200 ? result : {}));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Both work; then the old secret ends, and who has it is refused while the other goes on. */
async function rotates(processWith: (secret: string) => () => Promise<unknown>): Promise<void> {
  const [before, after] = [processWith('old'), processWith('new')];
  await before();
  await after();
  taken.delete('old');
  await expect(before()).rejects.toThrow();
  await after();
}

const passwordOf = (request: IncomingMessage): string =>
  Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64')
    .toString()
    .split(':')[1] ?? '';

it('the password of a Bitcoin node: two rpcauth lines', async () => {
  const url = await serve(passwordOf, { jsonrpc: '2.0', id: 1, result: 'ab'.repeat(32), error: null });
  await rotates((secret) => {
    const login = { BTC_RPC_URL: url, BTC_RPC_USER: 'pay', BTC_RPC_PASSWORD: secret, BTC_NETWORK: 'regtest' };
    const adapter = createAdapter('bitcoin', parseConfig(login));
    return () => adapter.blockHash(1);
  });
});

it('the key in the address of an Ethereum node', async () => {
  const block = { jsonrpc: '2.0', id: 1, result: { number: '0x1', hash: `0x${'ab'.repeat(32)}` } };
  const url = await serve((request) => request.url!.split('/').at(-1)!, block);
  await rotates((secret) => {
    const adapter = createAdapter(
      'ethereum',
      parseConfig({ ETH_RPC_URL: `${url}/v2/${secret}`, ETH_CHAIN_ID: '31337' }),
    );
    return () => adapter.blockHash(1);
  });
});

it('the key of the swap provider', async () => {
  const url = await serve((request) => String(request.headers['x-changenow-api-key']), {
    minAmount: 1,
    maxAmount: null,
  });
  await rotates((secret) => {
    const provider = changenowProvider({ url, apiKey: secret, allowInsecure: true });
    return () => provider.range({ from: 'BTC', to: 'ETH' });
  });
});

it('the user of the mail server', async () => {
  const server = new SMTPServer({
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: ({ username, password }, _, done) =>
      taken.has(username ?? '') && password === `of-${username}`
        ? done(null, { user: username })
        : done(new Error('Unknown user')),
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  await rotates((secret) => {
    const mailer = createMailer(parseConfig({ SMTP_URL: `smtp://${secret}:of-${secret}@127.0.0.1:${port}` }));
    return () => mailer.verify();
  });
});
