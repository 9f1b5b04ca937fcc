import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { createHash } from 'node:crypto';
import { readFileSync, statSync, type Stats } from 'node:fs';
import type { DataSource, EntityManager } from 'typeorm';
import type { NetworkId } from '../domain/chains/assets';
import type { ChainCodec, KeyRole, Seeds } from '../domain/chains/chain';
import { ConfigError, type Config } from '../domain/config';
import { ofBranch, seedsOf, type SeedSpan } from '../domain/recovery/seeds';
import { registeredKeys, registerKeys, type SeedKey } from '../db/chains/extended-keys';
import { EpochRefused, type EpochFile } from '../db/recovery/epoch';
import { beginSeed } from '../db/recovery/seeds';

/** The seeds of the signer: docs/operations/secrets.md. */

type GivenSeed = Readonly<{ seed: Uint8Array; fingerprint: string }>;

/** Whether nobody else can read a file. Kubernetes mounts a secret as a file of root, which the group of the pod reads;
 *  a file of our own is ours alone. `ownUid`: of this process. */
export const isPrivate = ({ mode, uid }: Pick<Stats, 'mode' | 'uid'>, ownUid = process.getuid?.()): boolean =>
  (mode & (uid === ownUid ? 0o077 : 0o037)) === 0;

/** The seed of the mnemonic in `path`. Throws where others could read the file or it holds no mnemonic. */
function readSeed(setting: string, path: string): Uint8Array {
  if (!path) throw new ConfigError(`${setting} is missing: the signer needs a file with a BIP-39 mnemonic, mode 0600`);
  if (!isPrivate(statSync(path))) throw new ConfigError(`${setting}: others may read ${path}; set its mode to 0600`);
  const mnemonic = readFileSync(path, 'utf8').trim();
  if (!validateMnemonic(mnemonic, wordlist)) throw new ConfigError(`${setting}: ${path} holds no BIP-39 mnemonic`);
  return mnemonicToSeedSync(mnemonic);
}

/** The seeds that the settings name, the newest last. Throws ConfigError. */
export function readSeeds(config: Pick<Config, 'SIGNER_SEED_FILE' | 'SIGNER_EARLIER_SEED_FILES'>): GivenSeed[] {
  const earlier = config.SIGNER_EARLIER_SEED_FILES.split(',').map((path) => path.trim());
  const seeds = [
    ...earlier.filter((path) => path !== '').map((path) => readSeed('SIGNER_EARLIER_SEED_FILES', path)),
    readSeed('SIGNER_SEED_FILE', config.SIGNER_SEED_FILE),
  ];
  return seeds.map((seed) => ({ seed, fingerprint: fingerprintOf(seed) }));
}

/** Of its public key: it tells nothing of the seed. */
export const fingerprintOf = (seed: Uint8Array): string =>
  createHash('sha256').update(HDKey.fromMasterSeed(seed).publicExtendedKey).digest('hex').slice(0, 16);

type SeedDeps = Readonly<{
  db: DataSource;
  codecs: Readonly<Record<NetworkId, ChainCodec>>;
  networks: readonly NetworkId[];
  lanes: Readonly<Record<string, number>>;
  file: EpochFile;
}>;

/** The seeds of a signer that may start. `isNew`: the newest has no branch yet; `begin` gives it one, once the database
 *  is confirmed. `seeds` answers for every branch that a seed has. */
type Ring = Readonly<{
  seeds: Seeds;
  isNew: boolean;
  /** Registers the keys of all seeds that have a branch. Answers the networks that have fewer hot wallets than asked
   *  for. */
  register: () => Promise<ReadonlyArray<Readonly<{ network: NetworkId; lanes: number; wanted: number }>>>;
  /** The first branch of the newest seed. */
  begin: () => Promise<number>;
}>;

/** Compares the seeds that are given with what the epoch file and the database know. Throws EpochRefused. */
export async function seedRing(deps: SeedDeps, given: readonly GivenSeed[]): Promise<Ring> {
  const { db, codecs, file } = deps;
  const registered = await spansIn(db, codecs, given);
  const verdict = seedsOf(
    given.map(({ fingerprint }) => fingerprint),
    file.read()?.seeds ?? [],
    registered,
  );
  if (verdict.act === 'refuse') throw new EpochRefused(verdict.reason);
  const seedOf = (fingerprint: string): Uint8Array => given.find((one) => one.fingerprint === fingerprint)!.seed;
  let spans = verdict.spans;
  const register = (tx: EntityManager, of: readonly SeedSpan[]) => registerAll(tx, deps, of, seedOf);
  return {
    seeds: (branch) => seedOf(ofBranch(spans, branch)!.seed),
    isNew: verdict.act === 'begin',
    register: () => db.transaction((tx) => register(tx, spans)),
    async begin() {
      const newest = given.at(-1)!.fingerprint;
      const begun = await db.transaction((tx) =>
        beginSeed(tx, file, { before: verdict.spans, newest }, async (inner, of) => void (await register(inner, of))),
      );
      spans = begun;
      return begun.at(-1)!.from;
    },
  };
}

/** What the database has registered, by the fingerprints of the given seeds; '' for a seed that is not among them. The
 *  longest of its networks: one that is registered later gets the keys of all seeds. */
async function spansIn(
  db: DataSource,
  codecs: SeedDeps['codecs'],
  given: readonly GivenSeed[],
): Promise<readonly SeedSpan[]> {
  const keys = (await registeredKeys(db)).filter(({ role, network }) => role === 'deposit' && network in codecs);
  const byNetwork = Map.groupBy(keys, ({ network }) => network as NetworkId);
  const spans = [...byNetwork].map(([network, rows]) =>
    rows.map(({ xpub, from }) => ({
      seed: given.find(({ seed }) => codecs[network].extendedKey(seed, 'deposit') === xpub)?.fingerprint ?? '',
      from,
    })),
  );
  return spans.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Registers the keys of every network that is on, with its hot wallets, and of those that are registered already: a
 *  branch is of one seed everywhere. */
async function registerAll(
  tx: EntityManager,
  { codecs, networks, lanes }: SeedDeps,
  spans: readonly SeedSpan[],
  seedOf: (fingerprint: string) => Uint8Array,
): ReturnType<Ring['register']> {
  const known = (await registeredKeys(tx)).map(({ network }) => network as NetworkId);
  const all = [...new Set([...networks, ...known.filter((network) => network in codecs)])];
  const few: Array<{ network: NetworkId; lanes: number; wanted: number }> = [];
  for (const network of all) {
    const codec = codecs[network];
    const keys = new Map<KeyRole, readonly SeedKey[]>();
    const keysOf = (role: KeyRole): readonly SeedKey[] => {
      const made =
        keys.get(role) ?? spans.map(({ seed, from }) => ({ xpub: codec.extendedKey(seedOf(seed), role), from }));
      keys.set(role, made);
      return made;
    };
    const wanted = networks.includes(network) ? lanes[network]! : null;
    const made = await registerKeys(tx, codec, keysOf, wanted);
    if (wanted !== null && made < wanted) few.push({ network, lanes: made, wanted });
  }
  return few;
}
