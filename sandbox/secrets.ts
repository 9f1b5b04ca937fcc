import { HDKey } from '@scure/bip32';
import { generateMnemonic, mnemonicToSeedSync } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { p2wpkh } from '@scure/btc-signer';
import { TEST_NETWORK } from '@scure/btc-signer/utils.js';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { networks, type NetworkId } from '../domain/chains/assets';

/** What a sandbox keeps to itself, made on its first start, each file for its owner's eyes only. */
export type Secrets = Readonly<{
  /** SECRETS_KEY of the service. */
  secretsKey: string;
  postgresPassword: string;
  /** Of Temporal's role in PostgreSQL. */
  temporalPassword: string;
  btcRpcUser: string;
  btcRpcPassword: string;
  /** With what the API asks the payers of a test instance. */
  simulatorKey: string;
}>;

/** Those that a sandbox had from the beginning; each later one has a file of its own. */
type First = Omit<Secrets, 'simulatorKey' | 'temporalPassword'>;

export function secretsOf(dataDir: string): Secrets {
  const text = once(join(dataDir, 'secrets.json'), () => {
    const fresh: First = {
      secretsKey: randomBytes(32).toString('hex'),
      postgresPassword: randomBytes(16).toString('hex'),
      btcRpcUser: 'sandbox',
      btcRpcPassword: randomBytes(16).toString('hex'),
    };
    return `${JSON.stringify(fresh, null, 2)}\n`;
  });
  const simulatorKey = once(join(dataDir, 'simulator-key'), () => randomBytes(32).toString('hex'));
  const temporalPassword = once(join(dataDir, 'temporal-password'), () => randomBytes(16).toString('hex'));
  return { ...(JSON.parse(text) as First), simulatorKey, temporalPassword };
}

/** Path of the signer's mnemonic (SIGNER_SEED_FILE). */
export function signerSeedFile(dataDir: string): string {
  const file = join(dataDir, 'signer-seed');
  once(file, () => `${generateMnemonic(wordlist, 256)}\n`);
  return file;
}

/** The mnemonic of the payer, to whom the coins of the local chains go. */
export const payerMnemonic = (dataDir: string): string =>
  once(join(dataDir, 'payer-seed'), () => `${generateMnemonic(wordlist, 128)}\n`).trim();

/** LIGHTNING_PREIMAGE_KEY of the service. */
export const lightningPreimageKey = (dataDir: string): string =>
  once(join(dataDir, 'lightning-preimage-key'), () => randomBytes(32).toString('hex'));

/** The mnemonic of the sandbox's swap provider, who is somebody else. */
export const swapMnemonic = (dataDir: string): string =>
  once(join(dataDir, 'swap-seed'), () => `${generateMnemonic(wordlist, 128)}\n`).trim();

/** The payer's key on the Bitcoin chain, m/84'/1'/0'/0/0, and the regtest address that mined coins go to. */
export function payerBitcoinKey(mnemonic: string): { privateKey: Uint8Array; publicKey: Uint8Array; address: string } {
  const { privateKey, publicKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic)).derive("m/84'/1'/0'/0/0");
  const address = publicKey && p2wpkh(publicKey, { ...TEST_NETWORK, bech32: 'bcrt' }).address;
  if (!privateKey || !publicKey || !address) throw new Error('The payer has no key');
  return { privateKey, publicKey, address };
}

/** The regtest address of the payer's key on another UTXO network. */
export function payerAddressOn(mnemonic: string, id: NetworkId): string {
  const network = networks[id];
  const chain = network.kind === 'utxo' ? network.chains.regtest : undefined;
  if (!chain) throw new Error(`${network.name} has no regtest`);
  return p2wpkh(payerBitcoinKey(mnemonic).publicKey, chain).address!;
}

/** The text of `file`, or what `make` gives, kept there for the next time. */
function once(file: string, make: () => string): string {
  if (!existsSync(file)) {
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(`${file}.new`, make(), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  return readFileSync(file, 'utf8');
}
