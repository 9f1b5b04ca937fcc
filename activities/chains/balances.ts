import { assetOf, networks, type Currency } from '../../domain/chains/assets';
import { fromUnits } from '../../domain/money';
import {
  dueHoldings,
  noteDueLooked,
  noteLooked,
  openInvoicesToLookAt,
  type HoldingToLookAt,
} from '../../db/chains/balance-looks';
import type { Cursor } from '../../db/chains/cursor';
import { storeFoundByBalance } from '../../db/chains/found-by-balance';
import { advanceScan, isUntraced, nextOfScan } from '../../db/chains/untraced';
import { inParallel, RpcError } from '../../chains/json-rpc';
import type { FollowerDeps, GoOn } from './deps';

/** Balances that one look at the network asks for at the most, of each kind, and at once. */
const looksAtOnce = 100;
const width = 16;

type Place = Readonly<{ address: string; currency: Currency; height: number; hash: string }>;

/** Asks the node what each of these holds at its block, and stores what is beyond our rows. Says which of them it told:
 *  a node may have left the state of a block. */
async function lookAt({ db, adapter, log }: FollowerDeps, places: readonly Place[]): Promise<boolean[]> {
  const { network } = adapter;
  const held = await inParallel(places, width, async ({ address, currency, height }) =>
    adapter.holding(address, currency, height).catch((error: unknown) => {
      if (!(error instanceof RpcError)) throw error;
      log.warn({ network, address, height, error: error.message }, 'A balance was refused');
      return undefined;
    }),
  );
  for (const [index, { address, currency, height, hash }] of places.entries()) {
    const units = held[index];
    if (!units) continue;
    const look = { network, address, currency, held: fromUnits(units, assetOf(currency).decimals) };
    const id = await db.transaction((tx) => storeFoundByBalance(tx, { ...look, block: { height, hash } }));
    if (id !== null) log.warn({ network, address, depositId: id, height }, 'A deposit was found by its balance');
  }
  return held.map((units) => units !== undefined);
}

/** Looks at balances where transfers may not tell all: single holdings that are due, open invoices, and every address
 *  of a block whose trace does not come. So many at a look, and it goes on at the next. */
export async function lookAtBalances(deps: FollowerDeps, cursor: Cursor, goOn: GoOn): Promise<void> {
  const { db, adapter } = deps;
  const { network } = adapter;
  const entry = networks[network];
  if (entry.kind === 'utxo') return;
  const { native, balanceEveryBlocks } = entry;
  goOn();
  const due = await dueHoldings(db, network, cursor.height, looksAtOnce);
  if (due.length) {
    await lookAt(
      deps,
      due.map((one) => ({ ...one, ...cursor })),
    );
    await db.transaction((tx) => noteDueLooked(tx, network, cursor.height, due));
  }
  if (await isUntraced(db, network)) await lookAtInvoices(deps, cursor, balanceEveryBlocks);
  goOn();
  const next = await nextOfScan(db, network, cursor.height, looksAtOnce);
  if (!next) return;
  const places = next.addresses.map((address) => ({ address, currency: native, ...cursor }));
  const told = await lookAt(deps, places);
  // A refused balance keeps the scan where it is: it must not count as looked at.
  if (told.every(Boolean)) await db.transaction((tx) => advanceScan(tx, network, next.addresses));
}

async function lookAtInvoices(deps: FollowerDeps, cursor: Cursor, everyBlocks: number): Promise<void> {
  const { db, adapter } = deps;
  const currency = networks[adapter.network].native;
  const wanted = await openInvoicesToLookAt(db, adapter.network, everyBlocks, looksAtOnce);
  if (!wanted.length) return;
  const told = await lookAt(
    deps,
    wanted.map((one) => ({ ...one, currency })),
  );
  // The state of an older block may be gone: then the newest one says what it can.
  const left = wanted.filter((_, index) => !told[index]).map((one) => ({ ...one, ...cursor, currency }));
  const toldNow = await lookAt(deps, left);
  const looked: HoldingToLookAt[] = [
    ...wanted.filter((_, index) => told[index]),
    ...left.filter((_, index) => toldNow[index]),
  ];
  await db.transaction((tx) => noteLooked(tx, adapter.network, looked));
}
