import { createSocket } from 'node:dgram';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { commandOf } from './process-table';

/** A free loopback port below those that the system hands to outgoing connections, so that a part that is down for a
 *  moment finds its port still free. Nobody else is given it as long as this process lives. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
}

/** Takes the port of this number for UDP, which nothing of ours uses, until this process ends: what will listen at the
 *  one for TCP may start much later. False where another process has it. */
const reserve = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = createSocket('udp4');
    socket.once('error', (error) => {
      socket.close();
      if (isTaken(error)) resolve(false);
      else reject(error);
    });
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      socket.unref();
      resolve(true);
    });
  });

const isTaken = ({ code }: NodeJS.ErrnoException): boolean => code === 'EADDRINUSE' || code === 'EACCES';

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => (isTaken(error) ? resolve(false) : reject(error)));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });

/** One line that says which port is taken, by whom, and what to do; undefined when it is free. */
export async function takenPort(port: number, forWhat: string, variable: string): Promise<string | undefined> {
  if (await isFree(port)) return undefined;
  const holder = holderOf(port);
  const by = holder ? ` by process ${holder}` : '';
  return `Port ${port} (${forWhat}) is taken${by}: end that, or choose another with ${variable}=<port>`;
}

/** Pid and command of who listens on `port`, where /proc tells. */
function holderOf(port: number): string | undefined {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  try {
    const inodes = ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap((file) => readFileSync(file, 'utf8').split('\n').slice(1))
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[1]?.endsWith(`:${hex}`) && fields[3] === '0A')
      .map((fields) => `socket:[${fields[9]}]`);
    for (const pid of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)))
      if (filesOf(pid).some((file) => inodes.includes(file)))
        return `${pid} (${commandOf(parseInt(pid, 10)).slice(0, 80)})`;
  } catch {
    return undefined; // no /proc here: the port alone has to do
  }
  return undefined;
}

function filesOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((descriptor) => readlinkSync(`/proc/${pid}/fd/${descriptor}`));
  } catch {
    return []; // somebody else's, or it has just ended
  }
}
