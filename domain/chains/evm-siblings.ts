/** EVM networks beside Ethereum, in the registry's order: part of `networks` (networks.ts). */

import type { BatchFigures, EvmNetwork, NetworkId, WorkFigures } from './network';

/** What transfers take where gas is counted as Ethereum counts it. */
export const evmWork: WorkFigures = {
  native: 21_000n,
  token: 65_000n,
  ceiling: { native: 80_000n, token: 200_000n },
  tokenSettlement: 101_000n,
  marginPercent: 25n,
  topUpReserve: '2',
};
export const evmBatch: BatchFigures = {
  limit: { base: 250_000n, each: 90_000n },
  estimate: { base: 60_000n, each: 35_000n, rest: 10_000n },
  delegation: 40_000n,
};

/** Of the OP stack: a small transfer counts as 100 bytes at the least, and ours has about 120. */
const opDataFee = { oracle: '0x420000000000000000000000000000000000000F', bytes: 220, gas: 21_000n } as const;
/** What EVM networks beside Ethereum have in common: its addresses, and blocks of a second or two. */
const evmSibling = {
  kind: 'account',
  addressesOf: 'ethereum',
  confirmLimitSeconds: 86_400,
  hasMempool: false,
  uriScheme: 'ethereum',
  coinType: 60,
  work: evmWork,
  batch: evmBatch,
} as const;
/** What chains of the OP stack have in common. */
const opChain = {
  ...evmSibling,
  confirmations: 60,
  reorgWindow: 1800,
  blockSeconds: 2,
  headMaxAgeSeconds: 90,
  headMaxGap: 45,
  rateHoldBlocks: 600,
  leastPriceCap: '5000000000',
  balanceEveryBlocks: 30,
  leastTip: '1000000',
  dataFee: opDataFee,
} as const;

export const evmSiblings = {
  // Least tip: https://docs.polygon.technology/tools/gas/polygon-gas-station; chain ids: https://chainid.network
  polygon: {
    ...evmSibling,
    id: 'polygon',
    name: 'Polygon PoS',
    native: 'POL',
    confirmations: 128,
    reorgWindow: 1800,
    blockSeconds: 2,
    headMaxAgeSeconds: 90,
    headMaxGap: 45,
    rateHoldBlocks: 600,
    leastPriceCap: '500000000000',
    settings: { prefix: 'POLYGON', node: 'a Polygon PoS node', url: 'http://127.0.0.1:8547' },
    chainId: 137,
    localChainIds: [31137],
    testChains: { 80002: { name: 'Amoy', faucet: 'https://faucet.polygon.technology/' } },
    explorerTxUrls: {
      137: 'https://polygonscan.com/tx/{txId}',
      80002: 'https://amoy.polygonscan.com/tx/{txId}',
    },
    balanceEveryBlocks: 30,
    leastTip: '25000000000',
  },
  // Chains, contracts and explorers: https://docs.base.org, https://docs.optimism.io, https://docs.arbitrum.io,
  // https://docs.bnbchain.org. An L2's blocks are its sequencer's word for some minutes: deep enough is by time.
  base: {
    ...opChain,
    id: 'base',
    name: 'Base',
    native: 'ETH_BASE',
    settings: { prefix: 'BASE', node: 'a Base node', url: 'http://127.0.0.1:8548' },
    chainId: 8453,
    localChainIds: [31453],
    testChains: { 84532: { name: 'Base Sepolia', faucet: 'https://docs.base.org/base-chain/tools/network-faucets' } },
    explorerTxUrls: { 8453: 'https://basescan.org/tx/{txId}', 84532: 'https://sepolia.basescan.org/tx/{txId}' },
  },
  optimism: {
    ...opChain,
    id: 'optimism',
    name: 'OP Mainnet',
    native: 'ETH_OPTIMISM',
    settings: { prefix: 'OPTIMISM', node: 'an OP Mainnet node', url: 'http://127.0.0.1:8549' },
    chainId: 10,
    localChainIds: [31010],
    testChains: { 11155420: { name: 'OP Sepolia', faucet: 'https://console.optimism.io/faucet' } },
    explorerTxUrls: {
      10: 'https://optimistic.etherscan.io/tx/{txId}',
      11155420: 'https://sepolia-optimism.etherscan.io/tx/{txId}',
    },
  },
  // The price of data is part of the gas that the node estimates there.
  arbitrum: {
    ...evmSibling,
    id: 'arbitrum',
    name: 'Arbitrum One',
    native: 'ETH_ARBITRUM',
    confirmations: 480,
    reorgWindow: 7200,
    blockSeconds: 0.25,
    headMaxAgeSeconds: 90,
    headMaxGap: 360,
    rateHoldBlocks: 4800,
    leastPriceCap: '5000000000',
    settings: { prefix: 'ARBITRUM', node: 'an Arbitrum One node', url: 'http://127.0.0.1:8550' },
    chainId: 42161,
    localChainIds: [31161],
    testChains: {
      421614: {
        name: 'Arbitrum Sepolia',
        faucet: 'https://docs.arbitrum.io/build-decentralized-apps/reference/development-resources',
      },
    },
    explorerTxUrls: { 42161: 'https://arbiscan.io/tx/{txId}', 421614: 'https://sepolia.arbiscan.io/tx/{txId}' },
    balanceEveryBlocks: 240,
    leastTip: '1',
    work: {
      ...evmWork,
      native: 100_000n,
      token: 200_000n,
      ceiling: { native: 1_000_000n, token: 1_500_000n },
      tokenSettlement: 350_000n,
    },
    batch: {
      limit: { base: 1_500_000n, each: 300_000n },
      estimate: { base: 200_000n, each: 100_000n, rest: 30_000n },
      delegation: 80_000n,
    },
  },
  bnb: {
    ...evmSibling,
    id: 'bnb',
    name: 'BNB Smart Chain',
    native: 'BNB',
    confirmations: 60,
    reorgWindow: 2400,
    blockSeconds: 0.75,
    headMaxAgeSeconds: 60,
    headMaxGap: 80,
    rateHoldBlocks: 1600,
    leastPriceCap: '5000000000',
    settings: { prefix: 'BNB', node: 'a BNB Smart Chain node', url: 'http://127.0.0.1:8551' },
    chainId: 56,
    localChainIds: [31056],
    testChains: { 97: { name: 'BNB testnet', faucet: 'https://www.bnbchain.org/en/testnet-faucet' } },
    explorerTxUrls: { 56: 'https://bscscan.com/tx/{txId}', 97: 'https://testnet.bscscan.com/tx/{txId}' },
    balanceEveryBlocks: 80,
    leastTip: '50000000',
  },
} satisfies Partial<Record<NetworkId, EvmNetwork>>;
