import { fault, good, type Finding } from '../../domain/finding';
import type { TronNode } from './node';

const mostAgeSeconds = 60;

/** What the service needs of a node of TRON, `name` begins a sentence. `isLocal`: blocks come when
 *  somebody makes one. Throws NODE_UNREACHABLE, also where its first block is that of another chain. */
export async function checkTronNode(
  node: Pick<TronNode, 'head' | 'expiring'>,
  { name, isLocal }: Readonly<{ name: string; isLocal: boolean }>,
): Promise<Finding[]> {
  const { height, time } = await node.head();
  const final = await node.expiring.finalBlock();
  const age = Math.floor(Date.now() / 1000) - time;
  return [
    !isLocal && age > mostAgeSeconds
      ? fault(
          `${name} stands still: block ${height}, its newest, is ${age} seconds old`,
          'Wait until it has newer ones',
        )
      : good(`${name} is at block ${height}, and ${final.height} is final`),
  ];
}
