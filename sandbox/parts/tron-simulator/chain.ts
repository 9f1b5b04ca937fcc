import { createHash } from 'node:crypto';
import { execute, type Outcome } from './execute';
import { openRecords, type BlockRecord } from './records';
import { checkSignature, readTransaction, Refusal, type Transaction } from './transactions';
import { act, dayMs, emptyWorld, type Act, type ContractKind, type World } from './world';

/** Blocks, the pool, and what a reorganisation takes back. */

export type Mined = Readonly<{ tx: Transaction; outcome: Outcome }>;
/** `time`: Unix milliseconds. */
export type Block = Readonly<{
  height: number;
  id: string;
  parentId: string;
  time: number;
  mined: readonly Mined[];
  record: BlockRecord;
}>;

export type ChainOptions = Readonly<{
  /** The chain is kept in `<dataDir>/tron-chain.json`. */
  dataDir: string;
  /** Unix milliseconds of block 0. */
  genesisTime: number;
  /** By address in hex. */
  contracts: Readonly<Record<string, ContractKind>>;
  /** How many blocks the newest final one is behind the newest; 18 on the main network, where two thirds of 27
   *  producers must have built on a block. Confirmation semantics, developers.tron.network. */
  solidLag: number;
}>;

/** Of the main network. Blocks, developers.tron.network. */
export const slotMs = 3000;
/** How far back a transaction may refer. Transactions, developers.tron.network. */
const references = 65_536;
/** Blocks behind the newest final one whose state is kept, for a node that lags. */
export const keptWorlds = 64;
/** Bytes of a transaction at the most. */
const mostBytes = 500 * 1024;

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The height in eight bytes, and the rest of a hash. The bytes that are hashed are the simulator's own. Blocks,
 *  developers.tron.network. */
function idOf(height: number, parentId: string, { time, salt, raws }: BlockRecord): string {
  const hash = sha256(JSON.stringify([height, parentId, time, salt, raws.map(sha256)]));
  return height.toString(16).padStart(16, '0') + hash.slice(16);
}

export class Chain {
  private readonly blocks: Block[] = [];
  /** After each of the newest blocks, by height. */
  private readonly worlds = new Map<number, World>();
  private readonly places = new Map<string, number>();
  private pool: Transaction[] = [];
  private acts: Act[] = [];
  /** The newest state with the pool on it. */
  private next: World;
  /** Ids that were heard of since the start. A node remembers them whether it took the transaction or not: the repeat
   *  of what it refused is a duplicate. Broadcast and RPC errors, developers.tron.network. */
  private readonly heard = new Set<string>();
  private readonly records: ReturnType<typeof openRecords>;
  private salt = 0;

  constructor(private readonly options: ChainOptions) {
    const { contracts, genesisTime } = options;
    this.records = openRecords(options.dataDir);
    const genesis: BlockRecord = { time: genesisTime, salt: 0, raws: [], acts: [] };
    this.next = emptyWorld(contracts);
    for (const record of this.records.read(genesis)) this.append(record);
    this.salt = this.blocks.reduce((most, { record }) => Math.max(most, record.salt), 0);
    this.records.write(this.blocks.map(({ record }) => record));
  }

  get head(): Block {
    return this.blocks.at(-1)!;
  }

  /** The newest final block. */
  get solid(): Block {
    return this.blocks[Math.max(0, this.blocks.length - 1 - this.options.solidLag)]!;
  }

  /** A transaction waits for a block, or for blocks until it counts: twice as many as make it final. */
  get isBusy(): boolean {
    const young = this.blocks.slice(-2 * this.options.solidLag - 10);
    return this.pool.length > 0 || this.acts.length > 0 || young.some(({ mined }) => mined.length > 0);
  }

  at = (height: number): Block | undefined => this.blocks[height];
  placeOf = (txId: string): number | undefined => this.places.get(txId);
  pending = (): readonly Transaction[] => this.pool;
  worldAt = (height: number): World => this.worlds.get(height)!;

  /** Takes a transaction into the pool, or throws a Refusal. Broadcast and RPC errors, developers.tron.network. */
  submit(tx: Transaction): void {
    if (this.heard.has(tx.txId)) throw new Refusal('DUP_TRANSACTION_ERROR', 'Transaction already exists.');
    this.heard.add(tx.txId);
    if (tx.expiration < this.head.time + slotMs) throw expired();
    checkSignature(tx);
    const world = structuredClone(this.next);
    this.process(world, tx);
    this.next = world;
    this.pool.push(tx);
  }

  /** Forgets a transaction of the pool, as a network may: nothing says that one is mined. */
  drop(txId: string): void {
    this.pool = this.pool.filter((tx) => tx.txId !== txId);
  }

  order(one: Act): void {
    if (one.kind !== 'stake' && one.contract !== null && !this.next.contracts.has(one.contract))
      throw new Error(`No contract ${one.contract}`);
    this.acts.push(one);
  }

  /** Blocks of these times; the first has what the pool has for it, and what cannot be mined any more leaves the
   *  pool. */
  mine(times: readonly number[]): void {
    for (const time of times) this.mineOne(time);
    this.save();
  }

  private mineOne(time: number): void {
    const waiting = this.pool;
    this.pool = [];
    const taken = waiting.length ? this.fitting(waiting, time) : [];
    this.append({ time, salt: this.salt, raws: taken.map(({ raw }) => raw), acts: this.acts });
    this.acts = [];
  }

  /** Those that the next block can have, in their order. */
  private fitting(waiting: readonly Transaction[], time: number): Transaction[] {
    const world = structuredClone(this.worldAt(this.head.height));
    for (const one of this.acts) act(world, one, time);
    return waiting.filter((tx) => this.fits(world, tx));
  }

  /** Takes the newest `depth` blocks back and puts one more in their place, without transactions. `again`: those that
   *  were in them wait for the next block; otherwise the network has forgotten them. Final blocks stay: Consensus and
   *  DPoS, developers.tron.network. */
  reorganise(depth: number, again: boolean): void {
    if (depth < 1 || this.head.height - depth < this.solid.height)
      throw new Error(`Blocks up to ${this.solid.height} are final: ${depth} cannot be taken back`);
    const gone = this.blocks.splice(-depth);
    for (const { height, mined } of gone) {
      this.worlds.delete(height);
      for (const { tx } of mined) this.places.delete(tx.txId);
    }
    const [waiting, acts] = [this.pool, this.acts];
    this.pool = [];
    this.salt += 1;
    this.next = this.worldAt(this.head.height);
    gone.forEach(({ time, record }) => this.append({ time, salt: this.salt, raws: [], acts: record.acts }));
    this.append({ time: this.head.time + slotMs, salt: this.salt, raws: [], acts: [] });
    this.pool = again ? [...gone.flatMap(({ mined }) => mined.map(({ tx }) => tx)), ...waiting] : waiting;
    this.acts = acts;
    this.save();
  }

  private save(): void {
    this.records.write(this.blocks.map(({ record }) => record));
  }

  private fits(world: World, tx: Transaction): boolean {
    try {
      this.process(world, tx);
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  }

  /** The rules of a place in the block after the newest one, beside the signature, which was checked before. */
  private process(world: World, tx: Transaction): Outcome {
    this.checkReference(tx);
    const { time } = this.head;
    // Transactions, developers.tron.network.
    if (tx.expiration <= time || tx.expiration > time + dayMs) throw expired();
    if (tx.size > mostBytes) throw new Refusal('TOO_BIG_TRANSACTION_ERROR', 'Transaction size is too big.');
    if (this.places.has(tx.txId)) throw new Refusal('DUP_TRANSACTION_ERROR', 'Dup transaction.');
    return execute(world, tx, time + slotMs);
  }

  /** TAPOS. Transactions, developers.tron.network. */
  private checkReference({ reference }: Transaction): void {
    const wanted = parseInt(reference.bytes, 16);
    const { height } = this.head;
    const behind = (height - wanted) % references;
    const block = this.blocks[height - (behind < 0 ? behind + references : behind)];
    if (reference.bytes.length !== 4 || block?.id.slice(16, 32) !== reference.hash)
      throw new Refusal('TAPOS_ERROR', 'Tapos check error.');
  }

  /** Carries a block out on the newest state. */
  private append(record: BlockRecord): void {
    const height = this.blocks.length;
    const parentId = this.blocks.at(-1)?.id ?? '0'.repeat(64);
    const before = this.worlds.get(height - 1) ?? this.next;
    const isEmpty = !record.raws.length && !record.acts.length;
    const world = isEmpty ? before : structuredClone(before);
    for (const one of record.acts) act(world, one, record.time);
    const at = (this.blocks.at(-1)?.time ?? 0) + slotMs;
    const mined = record.raws.map((raw): Mined => {
      const tx = readTransaction(raw);
      return { tx, outcome: execute(world, tx, at) };
    });
    this.blocks.push({ height, id: idOf(height, parentId, record), parentId, time: record.time, mined, record });
    for (const { tx } of mined) this.places.set(tx.txId, height);
    this.worlds.set(height, world);
    this.worlds.delete(height - this.options.solidLag - keptWorlds);
    this.next = world;
  }
}

const expired = (): Refusal => new Refusal('TRANSACTION_EXPIRATION_ERROR', 'Transaction expired');
