import { createAdapter } from '../chains/adapters';
import { lightningReader } from '../chains/lightning/node';
import { createDataSource } from '../db/data-source';
import { requiredDepth } from '../db/payments/payments';
import { lightningPosition } from '../db/audit/reconcile-lightning';
import { reconcileAssets } from '../db/audit/reconciliation';
import type { NetworkId } from '../domain/chains/assets';
import { isZero } from '../domain/money';
import { runningConfig } from './running-config';

/** `npm run reconcile`: what the books say that we hold, against what the chains say, asset by asset. Changes nothing.
 *  Ends with 1 where something is not explained, with 2 where a node could not be read or an asset did not hold
 *  still. */
async function main(): Promise<number> {
  const config = runningConfig();
  const db = createDataSource(config.DATABASE_URL, { pool: 2, name: 'reconcile' });
  await db.initialize();
  try {
    const adapters = config.networks.map((network) => createAdapter(network, config));
    const depthOf = (network: NetworkId): number => requiredDepth(network, config.confirmations);
    const { positions, unknown, unclear } = await reconcileAssets(db, adapters, depthOf);
    for (const one of positions) {
      console.log(`${one.currency.padEnd(12)} at block ${one.height}`);
      for (const name of ['ledger', 'arriving', 'leaving', 'chain', 'unexplained', 'open'] as const)
        console.log(`  ${name.padEnd(12)} ${one[name]}`);
      for (const place of one.where) console.log(`  differs: ${place}`);
    }
    for (const network of unknown) console.log(`${network}: not now; its node is away, or a block came in between`);
    for (const currency of unclear) console.log(`${currency}: not now; it differed by another amount a moment before`);
    const lightning = lightningReader(config);
    const ofLightning = lightning && (await lightningPosition(db, lightning));
    for (const { currency, ledger } of ofLightning?.booked ?? [])
      console.log(`${currency.padEnd(12)} Lightning ${ledger}`);
    if (ofLightning?.missing) console.log(`The Lightning node has ${ofLightning.missing} less than all of that`);
    if (ofLightning?.missing || positions.some(({ unexplained }) => !isZero(unexplained))) return 1;
    return unknown.length || unclear.length ? 2 : 0;
  } finally {
    await db.destroy();
  }
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(`npm run reconcile: ${error.message}`);
    process.exit(1);
  },
);
