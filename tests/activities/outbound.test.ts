import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, createServer as createTcpServer, Socket, type AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { lookup, names } from './resolver';
import { askOutside, postOutside, retryAfter } from '../../activities/webhooks/outbound';

const servers: Server[] = [];
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
async function receiver(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const bodyOf = async (request: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};
const guarded = (url: string) => postOutside(url, '{}', {}, false);
const sandbox = (url: string, body = '{}') => postOutside(url, body, {}, true);

describe('addresses that are not public', () => {
  it.each([
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/',
    'https://0.0.0.0/',
    'https://[fd00::1]/',
    'https://localhost/',
  ])('gets no request: %s', async (url) => {
    expect(await guarded(url)).toMatchObject({
      statusCode: null,
      body: '',
      error: expect.stringMatching(/internal|public|private/i),
    });
  });

  it('gets none over http, or on a port of its own choice', async () => {
    expect((await guarded('http://shop.example.com/')).error).toMatch(/https/i);
    for (const port of [22, 80, 5432, 6379, 8080, 65535])
      expect((await guarded(`https://shop.example.com:${port}/`)).error).toBe(
        'url must name port 443 or 8443, or none',
      );
    expect((await guarded('ftp://shop.example.com/')).error).not.toBeNull();
    expect((await guarded('not a url')).error).not.toBeNull();
  });
});

describe('D: odd spellings of addresses, and IPv4 within IPv6', () => {
  it.each([
    'https://1.2.3/',
    'https://0x01020304/',
    'https://01.02.03.04/',
    'https://16909060/',
    'https://[::7f00:1]/',
  ])('are not even tried: %s', async (url) => {
    const emit = jest.spyOn(Socket.prototype, 'emit');
    expect(await guarded(url)).toMatchObject({ statusCode: null, error: expect.stringMatching(/internal/i) });
    expect(emit.mock.calls.filter(([event]) => (event as string) === 'connectionAttempt')).toEqual([]);
    emit.mockRestore();
  });
});

describe('addresses where clouds tell secrets', () => {
  const attempts = async (act: () => Promise<unknown>): Promise<number> => {
    const emit = jest.spyOn(Socket.prototype, 'emit');
    await act();
    const made = emit.mock.calls.filter(([event]) => (event as string) === 'connectionAttempt').length;
    emit.mockRestore();
    return made;
  };

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://169.254.170.2:8080/',
    'http://0xa9fea9fe/',
    'http://[::ffff:169.254.169.254]/',
    'http://[fe80::1]/',
    'http://[fd00:ec2::254]/',
    'http://100.100.100.200/',
  ])('are not even tried by a sandbox: %s', async (url) => {
    const made = await attempts(async () =>
      expect(await sandbox(url)).toMatchObject({ statusCode: null, error: expect.stringMatching(/internal/i) }),
    );
    expect(made).toBe(0);
  });

  it.each([[['169.254.169.254']], [['fe80::1']], [['fd00:ec2::254']], [['127.0.0.1', '169.254.169.254']]])(
    'get no connection by a name: %j',
    async (addresses) => {
      names['metadata.example.com'] = addresses;
      const made = await attempts(async () =>
        expect(await sandbox('http://metadata.example.com:8443/')).toMatchObject({
          statusCode: null,
          error: expect.stringMatching(/is not allowed/),
        }),
      );
      expect(made).toBe(0);
    },
  );
});

describe('names that lead to addresses that are not public', () => {
  let connections = 0;
  const trap = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  beforeAll(() => once(trap.listen(8443, '127.0.0.1'), 'listening'));
  afterAll(() => new Promise((resolve) => trap.close(resolve)));

  const url = 'https://shop.example.com:8443/ipn';
  it.each([
    [['127.0.0.1']],
    [['::1']],
    [['::ffff:127.0.0.1']],
    [['10.1.2.3']],
    [['169.254.169.254']],
    [['100.64.0.1']],
    [['0.0.0.0']],
    [['::']],
    [['64:ff9b::7f00:1']],
    [['::7f00:1']],
    [['::8.8.8.8']],
    [['93.184.216.34', '::127.0.0.1']],
    [['93.184.216.34', '127.0.0.1']],
    [['127.0.0.1', '93.184.216.34']],
  ])('get no connection: %j', async (addresses) => {
    names['shop.example.com'] = addresses;
    expect(await guarded(url)).toMatchObject({ statusCode: null, error: expect.stringMatching(/is not allowed/) });
    expect(connections).toBe(0);
  });

  it('would have been connected to otherwise', async () => {
    names['shop.example.com'] = ['127.0.0.1'];
    const socket = connect({ host: 'shop.example.com', port: 8443, lookup: lookup });
    await once(socket, 'close');
    expect(connections).toBe(1);
    await sandbox(url);
    expect(connections).toBe(2);
  });
});

describe('a receiver', () => {
  it('gets the body and the headers as they are', async () => {
    let seen: unknown;
    const url = await receiver((request, response) => {
      void bodyOf(request).then((body) => {
        seen = { method: request.method, url: request.url, body, ...request.headers };
        response.writeHead(201).end('thanks');
      });
    });
    const body = '{"a": 1.10,\n"text":"žluťoučký \\u0000 🪙"}';
    const posted = await postOutside(`${url}/ipn?shop=1`, body, { 'webhook-id': 'evt_1', 'user-agent': 'Us/1' }, true);
    expect(posted).toEqual({
      statusCode: 201,
      body: 'thanks',
      retryAfterMs: null,
      error: null,
      durationMs: expect.any(Number),
    });
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/ipn?shop=1',
      body,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': 'evt_1',
      'user-agent': 'Us/1',
    });
  });

  it('is not followed to where it points', async () => {
    let followed = 0;
    const target = await receiver((_request, response) => {
      followed += 1;
      response.end();
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await receiver((_request, response) =>
        response.writeHead(status, { location: target }).end('over there'),
      );
      expect(await sandbox(url)).toMatchObject({ statusCode: status, error: `HTTP ${status}`, body: 'over there' });
    }
    expect(followed).toBe(0);
  });

  it.each([
    ['two megabytes', 32],
    ['no end', Infinity],
  ])('may say 2 KB, and is not read to the end: %s', async (_name, times) => {
    let sent = 0;
    let isClosed = false;
    function* chunks(): Generator<Buffer> {
      for (; sent < times; sent += 1) yield Buffer.alloc(2 ** 16, 'x');
    }
    const url = await receiver((_request, response) => {
      response.on('close', () => (isClosed = true));
      Readable.from(chunks()).pipe(response);
    });
    expect(await sandbox(url)).toMatchObject({ statusCode: 200, error: null, body: 'x'.repeat(2048) });
    for (let n = 0; !isClosed && n < 300; n += 1) await pause(100);
    expect(isClosed).toBe(true);
    expect(sent).toBeLessThan(1000);
  });

  it('may say anything: compressed, no text, NUL', async () => {
    const said = [Buffer.from('a\u0000b'), Buffer.from([0xff, 0xfe, 0x00, 0x41]), Buffer.alloc(0)];
    const bodies = [];
    for (const answer of said) {
      const url = await receiver((_request, response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(answer),
      );
      bodies.push((await sandbox(url)).body);
    }
    expect(bodies).toEqual(['ab', '\ufffd\ufffdA', '']);
  });

  it('that says no is heard, with the patience it asks for', async () => {
    const url = await receiver((_request, response) => response.writeHead(503, { 'retry-after': '7' }).end('busy'));
    expect(await sandbox(url)).toMatchObject({ statusCode: 503, error: 'HTTP 503', body: 'busy', retryAfterMs: 7000 });
  });

  it('that is not there, or hangs up, is an attempt without an answer', async () => {
    const hangsUp = await receiver((request) => request.socket.destroy());
    const url = await receiver(() => undefined);
    const gone = servers.pop()!;
    await new Promise((resolve) => gone.close(resolve));
    for (const target of [hangsUp, url]) {
      const posted = await sandbox(target);
      expect(posted).toMatchObject({ statusCode: null, body: '' });
      expect(posted.error).toBeTruthy();
    }
  });

  it('may say 2,048 bytes, and no character of it is cut in two', async () => {
    for (const [said, kept] of [
      ['é'.repeat(2000), 'é'.repeat(1024)],
      [`a${'é'.repeat(2000)}`, `a${'é'.repeat(1023)}`],
      [`${'x'.repeat(2045)}🪙!`, 'x'.repeat(2045)],
    ] as const) {
      const url = await receiver((_request, response) => response.end(said));
      expect((await sandbox(url)).body).toBe(kept);
    }
    const noText = await receiver((_request, response) => response.end(Buffer.alloc(5000, 0xff)));
    expect(Buffer.byteLength((await sandbox(noText)).body)).toBeLessThanOrEqual(2048);
  });

  it('that has said its status may break off after it', async () => {
    for (const status of [200, 503]) {
      const url = await receiver((_request, response) => {
        response.writeHead(status, { 'content-length': '100' }).write('half');
        setTimeout(() => response.destroy(), 100);
      });
      const error = status === 200 ? null : 'HTTP 503';
      expect(await sandbox(url)).toMatchObject({ statusCode: status, error, body: 'half' });
      // Who needs the body has no answer.
      const asked = await askOutside({ method: 'GET', url, headers: {}, allowInsecure: true });
      expect(asked).toMatchObject({ statusCode: null, body: '', error: expect.any(String) });
    }
  });

  it('has 15 s in all, whether it is silent or drips', async () => {
    const silent = await receiver(() => undefined);
    const drips = await receiver((_request, response) => {
      const timer = setInterval(() => response.write('x'), 200);
      response.on('close', () => clearInterval(timer));
    });
    const answers = await Promise.all([sandbox(silent), sandbox(drips)]);
    expect(answers[0]).toMatchObject({ statusCode: null, error: 'No answer within 15 s' });
    expect(answers[1]).toMatchObject({ statusCode: 200, error: null });
    for (const posted of answers) {
      expect(posted.durationMs).toBeGreaterThan(14_000);
      expect(posted.durationMs).toBeLessThan(60_000);
    }
  });
});

it('reads Retry-After in seconds or as a date, and nothing else', () => {
  expect(['0', '120', ' 5 ', '999999'].map(retryAfter)).toEqual([0, 120_000, 5000, 999_999_000]);
  const inAnHour = retryAfter(new Date(Date.now() + 3_600_000).toUTCString())!;
  expect(inAnHour).toBeGreaterThan(3_590_000);
  expect(inAnHour).toBeLessThanOrEqual(3_600_000);
  expect(retryAfter(new Date(0).toUTCString())).toBe(0);
  expect([undefined, null, '', 'soon', '1e9', ['5'], 5].map(retryAfter)).toEqual(Array(7).fill(null));
});
