import { compare, fromUnits, toUnits } from '../../domain/money';
import type { UtxoChain, UtxoNetwork } from '../../domain/chains/assets';
import type { BroadcastAnswer, ChainAdapter, PoolLook, Sighting, Transfer } from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { addressOfScript, utxoCodec } from './codec';
import { inParallel, jsonRpc, RpcError, type NodeLogin } from '../json-rpc';

type Output = { value: number; n: number; scriptPubKey: { hex: string } };
/** Of an output in the extension block (MWEB) the node of Litecoin names an id and nothing else. */
type AnyOutput = Output | { ismweb: true; output_id: string };
/** Without `txid`: of a block's reward, or of the extension block. */
type Input = { txid?: string; vout?: number };
type Tx = { txid: string; vin: Input[]; vout: AnyOutput[]; blockhash?: string };
/** btcd calls the transactions `rawtx`, Bitcoin Core `tx`. */
type BlockAnswer = { hash: string; height: number; previousblockhash?: string; time: number; tx?: Tx[]; rawtx?: Tx[] };
/** `time`: since when it is there, Unix seconds. */
type PoolEntry = { time: number };
type Header = { height: number; confirmations: number; time: number };

const notFound = -5;
const outOfRange = [-1, -8];
/** How nodes say that another transaction has a coin, or that there is none (`orphan`). */
const takenCoins = /missing|orphan|spent|spends|conflict|double|replacement/i;
/** Transactions of a mempool that are read at once. */
const poolWidth = 8;
/** Of a method that this node does not have. */
const notBuilt = [-1, -32601];

/** Bitcoin Core, btcd, or a node that descends from them, with an index of all transactions (`txindex`). */
export function utxoAdapter(
  network: UtxoNetwork,
  options: Readonly<{ login: NodeLogin; chain: UtxoChain }>,
): ChainAdapter {
  const rpc = jsonRpc(options.login.url, options.login.user, options.login.password);
  const { chain } = options;
  /** No estimate goes below what nodes relay. */
  const least = { unitPrice: network.leastPrice, tipPrice: '0' };
  /** Of a chain that people mine by themselves no node can say what is usual. */
  const unknown = chain.isLocal ? least : null;
  let priceMethod: 'estimatesmartfee' | 'estimatefee' = 'estimatesmartfee';

  /** JSON states coins as a number with eight decimals, which a double carries exactly. */
  const unitsOf = (value: number): bigint => toUnits(value.toFixed(8), 8);
  const outpointsOf = (tx: Tx): string[] =>
    tx.vin.flatMap((input) => (input.txid === undefined ? [] : [`${input.txid}:${input.vout}`]));
  const outputsOf = (tx: Tx): Output[] => tx.vout.filter((output) => 'scriptPubKey' in output);
  const addressOf = (output: Output): string =>
    addressOfScript(output.scriptPubKey.hex, chain) ?? `script:${output.scriptPubKey.hex}`;
  const transfersOf = (tx: Tx): Transfer[] => {
    const inputs = outpointsOf(tx);
    return outputsOf(tx).map((output) => ({
      txId: tx.txid,
      index: output.n,
      to: addressOf(output),
      currency: network.native,
      units: unitsOf(output.value),
      inputs,
    }));
  };

  async function unless<T>(codes: readonly number[], call: Promise<T>): Promise<T | null> {
    try {
      return await call;
    } catch (error) {
      if (error instanceof RpcError && codes.includes(error.code)) return null;
      throw error;
    }
  }
  const blockHash = (height: number): Promise<string | null> =>
    unless(outOfRange, rpc<string>('getblockhash', [height]));
  const readTx = (txId: string): Promise<Tx | null> => unless([notFound], rpc<Tx>('getrawtransaction', [txId, 1]));
  /** Of a block off the main chain Core tells -1 confirmations, btcd an error. */
  const readHeader = (hash: string): Promise<Header | null> =>
    unless([notFound], rpc<Header>('getblockheader', [hash, true])).catch((error: unknown) => {
      if (error instanceof RpcError && /not in the main chain/i.test(error.message)) return null;
      throw error;
    });

  async function pooledSince(txIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const since = new Map<string, number>();
    /** btcd tells of its pool as a whole only. */
    let whole: Record<string, PoolEntry> | null = null;
    const entryOf = async (txId: string): Promise<PoolEntry | null> => {
      try {
        return await rpc<PoolEntry>('getmempoolentry', [txId]);
      } catch (error) {
        if (!(error instanceof RpcError) || !notBuilt.includes(error.code)) throw error;
        whole = await rpc<Record<string, PoolEntry>>('getrawmempool', [true]);
        return whole[txId] ?? null;
      }
    };
    for (const txId of txIds) {
      const entry: PoolEntry | null = whole ? (whole[txId] ?? null) : await unless([notFound], entryOf(txId));
      if (entry) since.set(txId, entry.time);
    }
    return since;
  }

  /** A transaction that cannot be read fails alone; where several fail for want of the node, the rest is left. */
  async function readMempool(known: Pick<ReadonlySet<string>, 'has'>, mostMs = Infinity): Promise<PoolLook> {
    const ids = await rpc<string[]>('getrawmempool');
    const until = performance.now() + mostMs;
    const read = new Set<string>();
    const failed = new Map<string, string>();
    const transfers: Transfer[] = [];
    let unreachable = 0;
    const readOne = async (id: string): Promise<void> => {
      if (unreachable >= poolWidth || performance.now() > until) return;
      try {
        const tx = await readTx(id);
        read.add(id);
        if (tx) for (const transfer of transfersOf(tx)) transfers.push(transfer);
      } catch (error) {
        failed.set(id, (error as Error).message);
        if (error instanceof DomainError && error.code === 'NODE_UNREACHABLE') unreachable += 1;
      }
    };
    await inParallel(
      ids.filter((id) => !known.has(id)),
      poolWidth,
      readOne,
    );
    return { ids: new Set(ids), read, failed, transfers };
  }

  async function spentBy(inputs: readonly Input[]): Promise<Output[]> {
    return inParallel(inputs, 8, async (input) => {
      const from = input.txid === undefined ? null : await readTx(input.txid);
      const output = from && outputsOf(from).find((candidate) => candidate.n === input.vout);
      if (!output) throw new DomainError('NODE_UNREACHABLE', `The node does not know ${input.txid}: is txindex on?`);
      return output;
    });
  }

  async function feeOf(tx: Tx): Promise<bigint> {
    const sum = (outputs: readonly Output[]) => outputs.reduce((total, output) => total + unitsOf(output.value), 0n);
    return sum(await spentBy(tx.vin)) - sum(outputsOf(tx));
  }

  async function lookUp(txId: string): Promise<Sighting> {
    const tx = await readTx(txId);
    if (!tx) return { state: 'unknown' };
    if (!tx.blockhash) return { state: 'pool' };
    const header = await readHeader(tx.blockhash);
    if (!header || header.confirmations < 1) return { state: 'unknown' };
    return {
      state: 'mined',
      blockHash: tx.blockhash,
      height: header.height,
      confirmations: header.confirmations,
      success: true,
      feeUnits: await feeOf(tx),
      moves: [],
    };
  }

  return {
    ...utxoCodec(network, chain),
    async head() {
      const hash = await rpc<string>('getbestblockhash');
      const header = await readHeader(hash);
      if (!header) throw new DomainError('NODE_UNREACHABLE', `The best block ${hash} is gone again`);
      return { height: header.height, hash, time: header.time };
    },
    finalHeight: () => Promise.resolve(null),
    async sync() {
      const [peers, { blocks, headers }] = await Promise.all([
        rpc<number>('getconnectioncount'),
        rpc<{ blocks: number; headers: number }>('getblockchaininfo'),
      ]);
      return { peers, missing: Math.max(0, headers - blocks) };
    },
    blockHash,
    async readBlock(height) {
      const hash = await blockHash(height);
      if (hash === null) return null;
      const block = await rpc<BlockAnswer>('getblock', [hash, 2]);
      const txs = block.rawtx ?? block.tx ?? [];
      const spent = new Map<string, string>();
      for (const tx of txs) for (const outpoint of outpointsOf(tx)) spent.set(outpoint, tx.txid);
      return {
        height,
        hash,
        parentHash: block.previousblockhash ?? '',
        time: block.time,
        transfers: txs.flatMap(transfersOf),
        txIds: txs.map((tx) => tx.txid),
        spent,
      };
    },
    readTraces: () => Promise.resolve({ state: 'failed', reason: 'Nothing is traced on this network' }),
    readMempool,
    pooledSince,
    lookUp,
    async verify({ txId, index, to }, hash) {
      const [header, tx] = await Promise.all([readHeader(hash), readTx(txId)]);
      if (!header || header.confirmations < 1 || tx?.blockhash !== hash) return null;
      const found = transfersOf(tx).find((transfer) => transfer.index === index);
      return found?.to === to ? found.units : null;
    },
    async sources({ txId }) {
      const tx = await readTx(txId);
      const inputs = tx?.vin.filter((input) => input.txid !== undefined) ?? [];
      return [...new Set((await spentBy(inputs)).map(addressOf))];
    },
    holding: () => Promise.resolve(null),
    nextNonce: () => Promise.resolve(null),
    estimateGas: () => Promise.resolve(null),
    unspent: async (txId, vout) => (await rpc<object | null>('gettxout', [txId, vout, false])) !== null,
    async estimateFee() {
      try {
        const answer = await rpc<number | { feerate?: number }>(priceMethod, [6]);
        const perThousand = typeof answer === 'number' ? answer : (answer.feerate ?? 0);
        if (perThousand > 0) {
          const price = fromUnits(unitsOf(perThousand), 3);
          return compare(price, least.unitPrice) < 0 ? least : { unitPrice: price, tipPrice: '0' };
        }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        // btcd knows `estimatefee` only, and answers with an error while it has seen too little for an estimate.
        if (error.code === -32601 && priceMethod === 'estimatesmartfee') priceMethod = 'estimatefee';
      }
      return unknown;
    },
    async broadcast(raw): Promise<BroadcastAnswer> {
      try {
        await rpc<string>('sendrawtransaction', [raw]);
        return { outcome: 'accepted' };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        if (error.code === -27 || /already (have|in|known|exist)|txn-already/i.test(error.message))
          return { outcome: 'known' };
        if (
          /min(imum)? (relay )?fee|fee.*(below|under|less than).*minimum|insufficient priority|mempool min fee/i.test(
            error.message,
          )
        ) {
          return { outcome: 'refused', why: 'fee', reason: error.message };
        }
        if (error.code === -25 || takenCoins.test(error.message)) return { outcome: 'conflict', reason: error.message };
        return { outcome: 'refused', why: 'other', reason: error.message };
      }
    },
  };
}
