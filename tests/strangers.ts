import { createHash } from 'node:crypto';
import type { Transfer } from '../domain/chains/chain';

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Transactions of people that we know nothing of, as a mempool shows them: each with two coins and two or three
 *  outputs. The same seed, the same transactions. */
export function strangers(count: number, seed: string): Transfer[] {
  return Array.from({ length: count }, (_, n) => {
    const txId = digest(`${seed}/${n}`);
    const inputs = [`${digest(`${txId}/a`)}:0`, `${digest(`${txId}/b`)}:1`];
    return Array.from({ length: 2 + (n % 2) }, (_unused, index) => ({
      txId,
      index,
      to: `bcrt1q${digest(`${txId}/${index}`).slice(0, 38)}`,
      currency: 'BTC' as const,
      units: BigInt(1000 + n),
      inputs,
    }));
  }).flat();
}
