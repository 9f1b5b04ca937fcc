/** The one registry of networks, with the parameters of each; EVM networks beside Ethereum are in evm-siblings.ts. What
 *  a new one takes: docs/adding-a-network.md. */

import { evmBatch, evmSiblings, evmWork } from './evm-siblings';
import type { Network, NetworkId, WorkFigures } from './network';

const bitcoinTest = { coinType: 1, bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef } as const;
const litecoinTest = { coinType: 1, pubKeyHash: 0x6f, scriptHash: 0x3a, otherScriptHashes: [0xc4], wif: 0xef } as const;
/** The same words are a key of the dashboard's translations. */
const mweb = 'MWEB addresses cannot be paid: give a usual Litecoin address, which begins with ltc1, L or M';

/** A payment is charged for as such, and a fee is burned exactly as it is signed. */
const paymentWork: WorkFigures = {
  ...{ native: 1n, token: 1n, ceiling: { native: 1n, token: 1n }, tokenSettlement: 1n },
  ...{ marginPercent: 0n, topUpReserve: '2' },
};

export const networks: Readonly<Record<NetworkId, Network>> = {
  bitcoin: {
    id: 'bitcoin',
    kind: 'utxo',
    name: 'Bitcoin',
    native: 'BTC',
    confirmations: 2,
    reorgWindow: 200,
    blockSeconds: 600,
    headMaxAgeSeconds: 7200,
    headMaxGap: 3,
    confirmLimitSeconds: 14 * 86_400,
    rateHoldBlocks: 12,
    hasMempool: true,
    leastPriceCap: '50',
    uriScheme: 'bitcoin',
    settings: { prefix: 'BTC', node: 'Bitcoin Core or btcd', url: 'http://127.0.0.1:18334' },
    chains: {
      mainnet: {
        ...{ coinType: 0, bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
        explorerTxUrl: 'https://mempool.space/tx/{txId}',
      },
      testnet: {
        ...bitcoinTest,
        faucet: 'https://coinfaucet.eu/en/btc-testnet/',
        explorerTxUrl: 'https://mempool.space/testnet/tx/{txId}',
      },
      testnet4: {
        ...bitcoinTest,
        faucet: 'https://mempool.space/testnet4/faucet',
        explorerTxUrl: 'https://mempool.space/testnet4/tx/{txId}',
      },
      signet: {
        ...bitcoinTest,
        faucet: 'https://signetfaucet.com/',
        explorerTxUrl: 'https://mempool.space/signet/tx/{txId}',
      },
      regtest: { coinType: 1, bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef, isLocal: true },
      simnet: { coinType: 1, bech32: 'sb', pubKeyHash: 0x3f, scriptHash: 0x7b, wif: 0x64, isLocal: true },
    },
    leastPrice: '1',
    sizes: { base: 11, input: 68, output: 31 },
    joining: { maxPrice: 5n, smallCoin: 1_000_000n },
  },
  ethereum: {
    id: 'ethereum',
    kind: 'account',
    name: 'Ethereum',
    native: 'ETH',
    confirmations: 12,
    reorgWindow: 300,
    blockSeconds: 12,
    headMaxAgeSeconds: 180,
    headMaxGap: 15,
    confirmLimitSeconds: 86_400,
    rateHoldBlocks: 100,
    hasMempool: false,
    leastPriceCap: '50000000000',
    uriScheme: 'ethereum',
    settings: { prefix: 'ETH', node: 'an Ethereum node', url: 'http://127.0.0.1:8545' },
    coinType: 60,
    chainId: 1,
    localChainIds: [31337, 1337],
    testChains: {
      11155111: { name: 'Sepolia', faucet: 'https://sepolia-faucet.pk910.de/' },
      560048: { name: 'Hoodi', faucet: 'https://hoodi-faucet.pk910.de/' },
    },
    explorerTxUrls: {
      1: 'https://etherscan.io/tx/{txId}',
      11155111: 'https://sepolia.etherscan.io/tx/{txId}',
      560048: 'https://hoodi.etherscan.io/tx/{txId}',
    },
    balanceEveryBlocks: 5,
    leastTip: '1000000',
    work: evmWork,
    batch: evmBatch,
  },
  // Chains: https://github.com/litecoin-project/litecoin, src/chainparams.cpp; coin type: SLIP-44.
  litecoin: {
    id: 'litecoin',
    kind: 'utxo',
    name: 'Litecoin',
    native: 'LTC',
    // A coin that left the extension block can be spent six blocks later, not before.
    confirmations: 6,
    reorgWindow: 600,
    blockSeconds: 150,
    headMaxAgeSeconds: 2700,
    headMaxGap: 6,
    confirmLimitSeconds: 14 * 86_400,
    rateHoldBlocks: 48,
    hasMempool: true,
    leastPriceCap: '200',
    uriScheme: 'litecoin',
    settings: { prefix: 'LTC', node: 'Litecoin Core', url: 'http://127.0.0.1:19443' },
    chains: {
      mainnet: {
        ...{ coinType: 2, bech32: 'ltc', pubKeyHash: 0x30, scriptHash: 0x32, otherScriptHashes: [0x05], wif: 0xb0 },
        unpayable: { ltcmweb: mweb },
        explorerTxUrl: 'https://litecoinspace.org/tx/{txId}',
      },
      testnet: {
        ...{ ...litecoinTest, bech32: 'tltc', unpayable: { tmweb: mweb } },
        faucet: 'https://testnet-faucet.com/ltc-testnet/',
        explorerTxUrl: 'https://litecoinspace.org/testnet/tx/{txId}',
      },
      regtest: { ...litecoinTest, bech32: 'rltc', unpayable: { tmweb: mweb }, isLocal: true },
    },
    leastPrice: '1',
    sizes: { base: 11, input: 68, output: 31 },
    joining: { maxPrice: 20n, smallCoin: 10_000_000n },
  },
  ...evmSiblings,
  // Network ids, explorers and faucets: https://xrpl.org/docs/concepts/networks-and-servers/parallel-networks
  xrpl: {
    id: 'xrpl',
    kind: 'account',
    name: 'XRP Ledger',
    native: 'XRP',
    // A validated ledger is final.
    confirmations: 1,
    reorgWindow: 200,
    blockSeconds: 4,
    headMaxAgeSeconds: 60,
    headMaxGap: 10,
    confirmLimitSeconds: 86_400,
    rateHoldBlocks: 300,
    hasMempool: false,
    // 10 drops on a quiet day, 5,000 when everybody is in haste.
    leastPriceCap: '5000',
    mostPrice: '100000',
    uriScheme: 'xrpl',
    destinationTags: { largest: '4294967295' },
    settings: { prefix: 'XRPL', node: 'a node of the XRP Ledger', url: 'http://127.0.0.1:5005' },
    expiring: 'xrpl',
    chains: {
      mainnet: {
        ...{ family: 'xrpl', networkId: 0, isTest: false },
        explorerTxUrl: 'https://livenet.xrpl.org/transactions/{txId}',
      },
      testnet: {
        ...{ family: 'xrpl', networkId: 1, isTest: true },
        faucet: 'https://xrpl.org/resources/dev-tools/xrp-faucets',
        explorerTxUrl: 'https://testnet.xrpl.org/transactions/{txId}',
      },
      // Its id is above 1024, so that nothing signed for it is valid anywhere else.
      simulator: { family: 'xrpl', networkId: 55_555, isTest: true, isLocal: true },
    },
    addressForm: 'begins with r',
    balanceEveryBlocks: 20,
    hasReserve: true,
    work: paymentWork,
  },
  // Chains, explorers and faucets: https://developers.tron.network/docs/networks
  tron: {
    id: 'tron',
    kind: 'account',
    name: 'TRON',
    native: 'TRX',
    confirmations: 20,
    reorgWindow: 200,
    blockSeconds: 3,
    headMaxAgeSeconds: 60,
    headMaxGap: 20,
    confirmLimitSeconds: 86_400,
    rateHoldBlocks: 300,
    hasMempool: false,
    // What an energy cost before it was made cheaper by vote.
    leastPriceCap: '420',
    mostPrice: '1000',
    uriScheme: 'tron',
    settings: { prefix: 'TRON', node: 'a FullNode of TRON', url: 'http://127.0.0.1:8090' },
    expiring: 'tron',
    chains: {
      mainnet: {
        ...{ family: 'tron', feeLimitCeiling: 50_000_000n },
        genesis: '00000000000000001ebf88508a03865c71d452e25f4d51194196a1d22b6653dc',
        explorerTxUrl: 'https://tronscan.org/#/transaction/{txId}',
      },
      nile: {
        ...{ family: 'tron', feeLimitCeiling: 50_000_000n },
        genesis: '0000000000000000d698d4192c56cb6be724a558448e2684802de4d6cd8690dc',
        faucet: 'https://nileex.io/join/getJoinPage',
        explorerTxUrl: 'https://nile.tronscan.org/#/transaction/{txId}',
      },
      simulator: {
        ...{ family: 'tron', feeLimitCeiling: 50_000_000n, isLocal: true },
        genesis: '00000000000000005c5d2a5dd02d9debda25d6826dce3eba5772e96adb3f3889',
      },
    },
    addressForm: 'begins with T',
    balanceEveryBlocks: 20,
    isFoundUnclaimed: true,
    // Work is energy. What bandwidth burns counts as so much of it that it is paid for at the price of energy.
    work: {
      ...{ native: 3500n, token: 81_000n, ceiling: { native: 16_000n, token: 300_000n }, tokenSettlement: 96_000n },
      // What is brought beside it and not burned stays on the address.
      ...{ marginPercent: 0n, topUpReserve: '1.02' },
    },
  },
};
