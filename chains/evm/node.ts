import { encodeFunctionData, erc20Abi, getAddress, zeroAddress, type Hex } from 'viem';
import type { Currency, EvmNetwork } from '../../domain/chains/assets';
import type {
  BroadcastAnswer,
  ChainAdapter,
  GasAnswer,
  Sighting,
  TokenMove,
  Transfer,
} from '../../domain/chains/chain';
import { DomainError } from '../../domain/errors';
import { bloomOf } from './bloom';
import { assetIn, evmCodec, type EvmChain } from './codec';
import { dataPrice } from './data-fee';
import { checkDecimals } from './token-decimals';
import { inParallel, jsonRpc, RpcError, type NodeLogin } from '../json-rpc';
import { tracerOf } from './traces';

type Tx = { hash: string; from: string; to: string | null; value: string; blockHash: string | null };
type BlockAnswer = {
  number: string;
  hash: string;
  parentHash: string;
  timestamp: string;
  baseFeePerGas?: string;
  logsBloom: string;
  transactions: Tx[];
};
type Log = { address: string; topics: string[]; data: string };
type Receipt = {
  transactionHash: string;
  blockHash: string;
  blockNumber: string;
  status: string;
  gasUsed: string;
  effectiveGasPrice: string;
  /** What the data on another chain was charged beside the gas, where a network does. */
  l1Fee?: string;
  logs: Log[];
};

/** keccak256('Transfer(address,address,uint256)') */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const isTransfer = (log: Log): boolean =>
  log.topics[0] === transferTopic && log.topics.length === 3 && /^0x[0-9a-f]{64}$/i.test(log.data);
const addressIn = (topic: string): string => getAddress(`0x${topic.slice(26)}`);

const quantity = (height: number): string => `0x${height.toString(16)}`;
const heightOf = (text: string): number => parseInt(text, 16);

/** Any EVM node that speaks JSON-RPC; value sent by contracts is seen where it offers `debug_traceBlockByHash`. */
export function evmAdapter(
  network: EvmNetwork,
  options: Readonly<{ login: NodeLogin; chain: EvmChain; warn?: (text: string) => void }>,
): ChainAdapter {
  const rpc = jsonRpc(options.login.url, options.login.user, options.login.password);
  const { chain } = options;
  const { native } = network;
  const leastTip = BigInt(network.leastTip);
  const currencies = new Map<string, Currency>(
    [...chain.assets].flatMap(([currency, { contract }]) =>
      contract ? [[contract.toLowerCase(), currency] as const] : [],
    ),
  );
  const tracer = tracerOf(rpc, native, options.warn);
  let isRightChain = false;

  /** A node of another chain would make every answer wrong, and so would a token that counts otherwise. */
  async function checkChain(): Promise<void> {
    if (isRightChain) return;
    const id = BigInt(await rpc<string>('eth_chainId'));
    if (id !== BigInt(chain.chainId))
      throw new DomainError('NODE_UNREACHABLE', `The node is on chain ${id}, and ${network.name} is ${chain.chainId}`);
    await checkDecimals(chain, rpc);
    isRightChain = true;
  }

  const readBlockBy = (height: string, whole: boolean): Promise<BlockAnswer | null> =>
    rpc('eth_getBlockByNumber', [height, whole]);
  const headers = new Map<string, Promise<BlockAnswer | null>>();
  /** Who asks for a block while it is asked for shares the answer: many transactions are looked up at once. */
  function readHeader(height: string): Promise<BlockAnswer | null> {
    const asked = headers.get(height) ?? readBlockBy(height, false).finally(() => headers.delete(height));
    headers.set(height, asked);
    return asked;
  }
  const receiptOf = (txId: string): Promise<Receipt | null> => rpc('eth_getTransactionReceipt', [txId]);

  async function receiptsOf(block: BlockAnswer): Promise<Receipt[]> {
    if (!block.transactions.length) return [];
    try {
      const receipts = await rpc<Receipt[] | null>('eth_getBlockReceipts', [block.number]);
      if (receipts) return receipts;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error; // a node without this method is asked one by one
    }
    const one = await inParallel(block.transactions, 8, (tx) => receiptOf(tx.hash));
    return one.map((receipt, index) => {
      if (!receipt) throw new DomainError('NODE_UNREACHABLE', `No receipt of ${block.transactions[index]!.hash} yet`);
      return receipt;
    });
  }

  const tokenTransfers = (receipt: Receipt): Transfer[] =>
    receipt.logs.flatMap((log, index): Transfer[] => {
      if (!isTransfer(log)) return [];
      const to = addressIn(log.topics[2]!);
      return [
        {
          txId: receipt.transactionHash,
          index,
          to,
          currency: currencies.get(log.address.toLowerCase()) ?? null,
          units: BigInt(log.data),
          inputs: [],
        },
      ];
    });

  const tokenMoves = (receipt: Receipt): TokenMove[] =>
    receipt.logs.flatMap((log) => {
      const currency = currencies.get(log.address.toLowerCase());
      if (!currency || !isTransfer(log)) return [];
      return [{ currency, from: addressIn(log.topics[1]!), to: addressIn(log.topics[2]!), units: BigInt(log.data) }];
    });

  async function holdingAt(address: string, currency: Currency, block: string): Promise<bigint> {
    const contract = assetIn(chain, currency).contract;
    if (!contract) return BigInt(await rpc<string>('eth_getBalance', [address, block]));
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address as Hex] });
    const answer = await rpc<string>('eth_call', [{ to: contract, data }, block]);
    return answer === '0x' ? 0n : BigInt(answer);
  }

  const isMined = (receipt: Receipt): boolean => receipt.status === '0x1';

  return {
    ...evmCodec(network, chain),
    async head() {
      await checkChain();
      const block = await readBlockBy('latest', false);
      if (!block) throw new DomainError('NODE_UNREACHABLE', 'The node has no block');
      return { height: heightOf(block.number), hash: block.hash, time: heightOf(block.timestamp) };
    },
    async finalHeight() {
      const block = await unlessRefused(readBlockBy('finalized', false));
      return block ? heightOf(block.number) : 0;
    },
    async sync() {
      const [peers, syncing] = await Promise.all([
        unlessRefused(rpc<string>('net_peerCount')),
        unlessRefused(rpc<false | { currentBlock?: string; highestBlock?: string }>('eth_syncing')),
      ]);
      const { currentBlock = '0x0', highestBlock = '0x0' } = syncing || {};
      return {
        peers: peers === null ? null : heightOf(peers),
        missing: Math.max(0, heightOf(highestBlock) - heightOf(currentBlock)),
      };
    },
    async blockHash(height) {
      return (await readBlockBy(quantity(height), false))?.hash ?? null;
    },
    async readBlock(height) {
      const block = await readBlockBy(quantity(height), true);
      if (!block) return null;
      const [receipts, { traces, inner }] = await Promise.all([
        receiptsOf(block),
        tracer.ofBlock(
          block.hash,
          block.transactions.map((tx) => tx.hash),
        ),
      ]);
      if (
        receipts.some((receipt) => receipt.blockHash !== block.hash) ||
        receipts.length !== block.transactions.length
      ) {
        throw new DomainError('NODE_UNREACHABLE', `Block ${height} changed while it was read`);
      }
      if (bloomOf(receipts.flatMap((receipt) => receipt.logs)) !== block.logsBloom.toLowerCase()) {
        throw new DomainError('NODE_UNREACHABLE', `The logs of block ${height} are not those that its header states`);
      }
      const ok = new Set(receipts.filter(isMined).map((receipt) => receipt.transactionHash));
      const direct = block.transactions.flatMap((tx): Transfer[] =>
        tx.to && ok.has(tx.hash) && BigInt(tx.value) > 0n
          ? [
              {
                txId: tx.hash,
                index: -1,
                to: getAddress(tx.to as Hex),
                currency: native,
                units: BigInt(tx.value),
                inputs: [],
              },
            ]
          : [],
      );
      return {
        height,
        hash: block.hash,
        parentHash: block.parentHash,
        time: heightOf(block.timestamp),
        transfers: [
          ...direct,
          ...inner.filter((transfer) => ok.has(transfer.txId)),
          ...receipts.filter(isMined).flatMap(tokenTransfers),
        ],
        txIds: block.transactions.map((tx) => tx.hash),
        spent: new Map(),
        ...(traces ? { traces } : {}),
      };
    },
    async readTraces(hash) {
      const block = await rpc<{ timestamp: string; transactions: string[] } | null>('eth_getBlockByHash', [
        hash,
        false,
      ]);
      if (!block) return { state: 'failed', reason: 'The node does not know the block' };
      const { traces, inner } = await tracer.ofBlock(hash, block.transactions, true);
      if (traces && traces.state !== 'read') return { state: 'failed', reason: traces.reason };
      return { state: 'read', time: heightOf(block.timestamp), transfers: inner };
    },
    readMempool: () => Promise.resolve({ ids: new Set(), read: new Set(), failed: new Map(), transfers: [] }),
    pooledSince: () => Promise.resolve(new Map()),
    async lookUp(txId): Promise<Sighting> {
      const receipt = await receiptOf(txId);
      if (receipt) {
        const [canonical, head] = await Promise.all([readHeader(receipt.blockNumber), readHeader('latest')]);
        if (canonical?.hash !== receipt.blockHash || !head) return { state: 'unknown' };
        const height = heightOf(receipt.blockNumber);
        return {
          state: 'mined',
          blockHash: receipt.blockHash,
          height,
          confirmations: heightOf(head.number) - height + 1,
          success: isMined(receipt),
          feeUnits: BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice) + BigInt(receipt.l1Fee ?? 0),
          moves: tokenMoves(receipt),
        };
      }
      const tx = await rpc<Tx | null>('eth_getTransactionByHash', [txId]);
      return tx && tx.blockHash === null ? { state: 'pool' } : { state: 'unknown' };
    },
    async verify({ txId, index, to, currency }, hash) {
      const receipt = await receiptOf(txId);
      if (!receipt || receipt.blockHash !== hash || !isMined(receipt)) return null;
      const canonical = await readBlockBy(receipt.blockNumber, false);
      if (canonical?.hash !== hash) return null;
      let found: Transfer | undefined;
      if (index >= 0) found = tokenTransfers(receipt).find((transfer) => transfer.index === index);
      else if (index === -1) {
        const tx = await rpc<Tx | null>('eth_getTransactionByHash', [txId]);
        if (tx?.to)
          found = { txId, index, to: getAddress(tx.to as Hex), currency: native, units: BigInt(tx.value), inputs: [] };
      } else {
        const traced = await tracer.find(txId, index);
        if (traced === null) return 'untraceable';
        found = traced;
      }
      return found && found.to === to && found.currency === currency ? found.units : null;
    },
    async sources({ txId, index }) {
      if (index < 0) {
        const tx = await rpc<Tx | null>('eth_getTransactionByHash', [txId]);
        return tx ? [getAddress(tx.from as Hex)] : [];
      }
      const log = (await receiptOf(txId))?.logs[index];
      const from = log && isTransfer(log) ? addressIn(log.topics[1]!) : zeroAddress;
      return from === zeroAddress ? [] : [from];
    },
    holding: (address, currency, height) => holdingAt(address, currency, quantity(height)),
    unspent: () => Promise.resolve(null),
    async nextNonce(address) {
      return heightOf(await rpc<string>('eth_getTransactionCount', [address, 'pending']));
    },
    async estimateFee() {
      const block = await readBlockBy('latest', false);
      if (block?.baseFeePerGas === undefined) return null;
      const base = BigInt(block.baseFeePerGas);
      const suggested = await rpc<string>('eth_maxPriorityFeePerGas').catch((error: unknown) => {
        if (error instanceof RpcError) return quantity(0); // a node that suggests none gets the least
        throw error;
      });
      const tip = BigInt(suggested) > leastTip ? BigInt(suggested) : leastTip;
      const offered = base * 2n + tip;
      if (!network.dataFee) return { unitPrice: offered.toString(), tipPrice: tip.toString() };
      const dataPart = await dataPrice(rpc, network.dataFee);
      return {
        unitPrice: (offered + dataPart).toString(),
        tipPrice: tip.toString(),
        dataPart: dataPart.toString(),
      };
    },
    async estimateGas({ from, to, currency, units, ceiling }): Promise<GasAnswer> {
      const contract = assetIn(chain, currency).contract;
      const held = await holdingAt(from, currency, 'latest');
      if (held < units) return { state: 'short', reason: `${from} holds ${held} of ${units}` };
      const call = contract
        ? {
            to: contract,
            data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, units] }),
          }
        : { to, value: `0x${units.toString(16)}` };
      try {
        const gas = BigInt(await rpc<string>('eth_estimateGas', [{ from, gas: `0x${ceiling.toString(16)}`, ...call }]));
        if (gas <= ceiling) return { state: 'done', gas };
        return { state: 'reverts', reason: `it takes ${gas} gas` };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        const { code, message: reason } = error;
        return { state: code === revertCode || failsInside.test(reason) ? 'reverts' : 'unclear', reason };
      }
    },
    async broadcast(raw): Promise<BroadcastAnswer> {
      try {
        await rpc<string>('eth_sendRawTransaction', [raw]);
        return { outcome: 'accepted' };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        const reason = error.message;
        if (/already (known|imported)|known transaction|already exists/i.test(reason)) return { outcome: 'known' };
        if (/insufficient funds/i.test(reason)) return { outcome: 'refused', why: 'funds', reason };
        if (
          /less than block base fee|fee cap|below base fee|gas price too low|transaction underpriced/i.test(reason) &&
          !/replacement/i.test(reason)
        ) {
          return { outcome: 'refused', why: 'fee', reason };
        }
        if (takenNonce.test(reason)) return { outcome: 'conflict', reason };
        return { outcome: 'refused', why: 'other', reason };
      }
    },
  };
}

/** How nodes say that a nonce is used, or that what they have on it stays. */
const takenNonce = /nonce.{0,20}(low|old|used|expired|less than)|old ?nonce|replace(ment|\b)/i;

/** null where the node refuses to answer: not every service tells of itself. */
const unlessRefused = <T>(call: Promise<T>): Promise<T | null> =>
  call.catch((error: unknown) => {
    if (error instanceof RpcError) return null;
    throw error;
  });

/** The code of an execution that a contract has reverted, and how nodes name the other ways in which one fails. */
const revertCode = 3;
const failsInside =
  /revert|invalid (opcode|jump)|stack (under|over)flow|out ?of ?gas|gas required exceeds|write protection/i;
