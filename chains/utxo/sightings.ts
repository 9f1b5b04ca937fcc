import type { UtxoChain } from '../../domain/chains/assets';
import type { Sighting, Transfer } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { inParallel, type Rpc } from '../json-rpc';
import { readHeader, readTx } from './reads';
import { addressOf, outputsOf, unitsOf, type Input, type Output, type Tx } from './transactions';

/** Where a transaction is, what it cost, and who paid it. */
export async function lookUp(rpc: Rpc, txId: string): Promise<Sighting> {
  const tx = await readTx(rpc, txId);
  if (!tx) return { state: 'unknown' };
  if (!tx.blockhash) return { state: 'pool' };
  const header = await readHeader(rpc, tx.blockhash);
  if (!header || header.confirmations < 1) return { state: 'unknown' };
  return {
    state: 'mined',
    blockHash: tx.blockhash,
    height: header.height,
    confirmations: header.confirmations,
    success: true,
    feeUnits: await feeOf(rpc, tx),
    moves: [],
  };
}

export async function verify(
  rpc: Rpc,
  transfersOf: (tx: Tx) => Transfer[],
  { txId, index, to }: Pick<Transfer, 'txId' | 'index' | 'to'>,
  hash: string,
): Promise<bigint | null> {
  const [header, tx] = await Promise.all([readHeader(rpc, hash), readTx(rpc, txId)]);
  if (!header || header.confirmations < 1 || tx?.blockhash !== hash) return null;
  const found = transfersOf(tx).find((transfer) => transfer.index === index);
  return found?.to === to ? found.units : null;
}

export async function sourcesOf(rpc: Rpc, chain: UtxoChain, txId: string): Promise<string[]> {
  const tx = await readTx(rpc, txId);
  const inputs = tx?.vin.filter((input) => input.txid !== undefined) ?? [];
  return [...new Set((await spentBy(rpc, inputs)).map((output) => addressOf(output, chain)))];
}

async function spentBy(rpc: Rpc, inputs: readonly Input[]): Promise<Output[]> {
  return inParallel(inputs, 8, async (input) => {
    const from = input.txid === undefined ? null : await readTx(rpc, input.txid);
    const output = from && outputsOf(from).find((candidate) => candidate.n === input.vout);
    if (!output) throw new DomainError('NODE_UNREACHABLE', `The node does not know ${input.txid}: is txindex on?`);
    return output;
  });
}

async function feeOf(rpc: Rpc, tx: Tx): Promise<bigint> {
  const sum = (outputs: readonly Output[]) => outputs.reduce((total, output) => total + unitsOf(output.value), 0n);
  return sum(await spentBy(rpc, tx.vin)) - sum(outputsOf(tx));
}
