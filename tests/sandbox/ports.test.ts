/** @jest-environment node */
import { createServer } from 'node:net';
import { freePort, takenPort } from '../../sandbox/ports';
import { needsOwnModules } from '../own-modules';

type Ports = typeof import('../../sandbox/ports');

/** What another process would ask: it knows nothing of the ports that were given here. */
function elsewhere(): Ports {
  needsOwnModules();
  let ports: Ports | undefined;
  jest.isolateModules(() => {
    ports = jest.requireActual<Ports>('../../sandbox/ports');
  });
  return ports!;
}

it('gives a port to one process alone, even before anything listens there', async () => {
  const here = await freePort();
  jest.spyOn(Math, 'random').mockReturnValueOnce((here - 15_000 + 0.5) / 15_000);
  expect(await elsewhere().freePort()).not.toBe(here);
});

it('says in one line who holds a port and how to choose another', async () => {
  const port = await freePort();
  const holder = createServer().listen(port, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  try {
    expect(await takenPort(port, 'API', 'API_PORT')).toMatch(
      new RegExp(`^Port ${port} \\(API\\) is taken( by process ${process.pid} \\(.+\\))?: .*API_PORT=<port>$`),
    );
  } finally {
    holder.close();
  }
});
