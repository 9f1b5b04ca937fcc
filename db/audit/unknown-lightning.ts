import type { DataSource } from 'typeorm';
import { answered } from './answered';
import { mostSilent, type EndedWitness } from './ended-lightning';
import {
  endUnknown,
  forgetKnown,
  forgetUnknown,
  markOf,
  moveMark,
  noteUnknown,
  openUnknown,
  setMark,
  type UnknownKind,
} from '../lightning/unknown';

/** All that our Lightning node took or paid, against the rows: from the first look on, or from where a restored
 *  database left off. See docs/decisions/0096-lightning-money-beside-the-rows.md. */

type Told = Readonly<{ hash: string; state: 'open' | 'done' | 'gone'; msat: bigint; memo: string }>;
export type UnknownWitness = EndedWitness &
  Readonly<{
    toldAfter(
      kind: UnknownKind,
      after: number,
    ): Promise<Readonly<{ all: readonly Told[]; through: number; isLast: boolean }>>;
    newestOf(kind: UnknownKind): Promise<number>;
  }>;

const kinds = ['invoice', 'payment'] as const;
/** Of the node's list, in one look. */
const mostPages = 20;

/** Reads the node's lists on, and writes down what no row is for. One that the node says nothing of hides no other.
 *  Throws NODE_UNREACHABLE. */
export async function lookForUnknown(db: DataSource, node: UnknownWitness): Promise<void> {
  for (const kind of kinds) {
    await readOn(db, node, kind);
    let silent = 0;
    for (const one of await openUnknown(db, kind)) {
      const isTold = await answered(followOpen(db, node, kind, one).then(() => true));
      silent = isTold === null ? silent + 1 : 0;
      if (silent >= mostSilent) break;
    }
  }
  await db.transaction(forgetKnown);
}

async function readOn(db: DataSource, node: UnknownWitness, kind: UnknownKind): Promise<void> {
  // What a node did before it was ours is nobody's business here.
  let mark = await markOf(db, kind);
  const newest = await node.newestOf(kind);
  // A node that has lost its memory counts from the beginning.
  if (mark === null || newest < mark) {
    await setMark(db, kind, newest);
    return;
  }
  for (let page = 0; page < mostPages; page += 1) {
    // The node first, then the rows: a row names its hash before the node hears of it.
    const { all, through, isLast } = await node.toldAfter(kind, mark);
    const mayMove = all.flatMap(({ state, ...one }) => (state === 'gone' ? [] : [{ ...one, state }]));
    await db.transaction(async (tx) => {
      await noteUnknown(tx, kind, mayMove);
      await moveMark(tx, kind, through);
    });
    if (isLast || through <= mark) return;
    mark = through;
  }
}

/** How one that was open is now. */
async function followOpen(
  db: DataSource,
  node: UnknownWitness,
  kind: UnknownKind,
  { hash, memo }: Readonly<{ hash: string; memo: string }>,
): Promise<void> {
  const { state, msat } = kind === 'invoice' ? await invoiceNow(node, hash) : await paymentNow(node, hash);
  if (state === 'done') await db.transaction((tx) => endUnknown(tx, kind, { hash, msat, memo }));
  if (state === 'gone') await forgetUnknown(db, kind, hash);
}

type Now = Pick<Told, 'state' | 'msat'>;
async function invoiceNow(node: UnknownWitness, hash: string): Promise<Now> {
  const { state, paidMsat = 0n } = await node.lookUp(hash);
  if (state === 'settled') return { state: 'done', msat: paidMsat };
  return { state: state === 'open' || state === 'accepted' ? 'open' : 'gone', msat: 0n };
}
async function paymentNow(node: UnknownWitness, hash: string): Promise<Now> {
  const { state, amountMsat = 0n, feeMsat = 0n } = await node.track(hash);
  if (state === 'paid') return { state: 'done', msat: amountMsat + feeMsat };
  return { state: state === 'under way' ? 'open' : 'gone', msat: 0n };
}
