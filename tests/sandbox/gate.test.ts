import { createServer, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Gate } from '../../sandbox/parts/gate';
import { closed, listening } from '../../sandbox/parts/listening';
import { ownCertificate } from '../../sandbox/parts/own-certificate';
import { freePort } from '../../sandbox/ports';

const own = ownCertificate();
let server: Server;
let gate: Gate;
let port: number;

beforeEach(async () => {
  server = createServer((_, response) => response.end('inside'));
  await listening(server, 0);
  port = await freePort();
  gate = new Gate(port, (server.address() as AddressInfo).port, own);
});
afterEach(async () => {
  await gate.shut();
  await closed(server);
});

/** What comes back through the door, by a client that knows this certificate and no other. */
const answer = (certificate: string, host = '127.0.0.1'): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ host, port, ca: certificate, agent: false }, (response) => {
      response.setEncoding('utf8').on('data', resolve).on('error', reject);
    })
      .on('error', reject)
      .end();
  });

it('a door with TLS lets in who knows its certificate, to a server that hears no TLS', async () => {
  await expect(answer(own.certificate)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await gate.open();
  expect([await answer(own.certificate), await answer(own.certificate, 'localhost')]).toEqual(['inside', 'inside']);
  await expect(answer(ownCertificate().certificate)).rejects.toThrow(/certificate/);
  const plain = fetch(`http://127.0.0.1:${port}`, { signal: AbortSignal.timeout(5000) });
  await expect(plain).rejects.toThrow();
  expect(await answer(own.certificate)).toBe('inside');
  await gate.shut();
  await expect(answer(own.certificate)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it('does not believe a certificate whose time is over', async () => {
  await gate.shut();
  const old = ownCertificate('localhost', 2021);
  gate = new Gate(port, (server.address() as AddressInfo).port, old);
  await gate.open();
  await expect(answer(old.certificate)).rejects.toMatchObject({ code: 'CERT_HAS_EXPIRED' });
});
