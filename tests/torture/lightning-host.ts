import { createServer, type Server } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromUnits } from '../../domain/money';
import { listening } from '../../sandbox/parts/listening';
import type { LightningPayer } from './lightning-payer';

/** A host of Lightning addresses gives invoices of the payer's node. What its users are like is in their names. */

/** `shy`: refuses once; `wrong`: gives an invoice of another amount once; `slow`: takes its time. */
export const hostManners = ['usual', 'shy', 'wrong', 'slow'] as const;

/** The only port where addresses are looked for. */
const port = 443;
const host = '127.0.0.1';
export const addressOf = (user: string): string => `${user}@${host}`;

export type LightningHost = Readonly<{ server: Server; of: (payer: LightningPayer) => void }>;

/** null: this machine does not give us the port. */
export async function lightningHost(
  own: Readonly<{ certificate: string; key: string }>,
): Promise<LightningHost | null> {
  let payer: LightningPayer | null = null;
  const asked = new Map<string, number>();
  const answer = async (path: string): Promise<object> => {
    const { pathname, searchParams } = new URL(path, `https://${host}`);
    const user = pathname.split('/').at(-1)!;
    if (pathname.startsWith('/.well-known/')) return payRequestOf(user);
    const times = asked.get(user) ?? 0;
    asked.set(user, times + 1);
    if (user.startsWith('slow')) await sleep(3000);
    if (user.startsWith('shy') && times === 0) return { status: 'ERROR', reason: 'not now' };
    const satoshi = BigInt(searchParams.get('amount') ?? '0') / 1000n;
    const more = user.startsWith('wrong') && times === 0 ? 1n : 0n;
    return { pr: await payer!.invoice(fromUnits(satoshi + more, 8)), routes: [] };
  };
  const server = createServer({ key: own.key, cert: own.certificate }, (request, response) => {
    answer(request.url ?? '/').then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      () => response.writeHead(503).end('the node is away'),
    );
  });
  const isOpen = await listening(server, port).then(
    () => true,
    () => false,
  );
  return isOpen ? { server, of: (one) => void (payer = one) } : null;
}

const payRequestOf = (user: string): object => ({
  ...{ tag: 'payRequest', callback: `https://${host}/pay/${user}`, minSendable: 1000, maxSendable: 100_000_000_000 },
  metadata: JSON.stringify([['text/plain', user]]),
});
