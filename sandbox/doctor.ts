import { runDoctor } from '../workers/doctor';
import { readSandboxFile } from './sandbox-file';
import { databaseFor } from './services';

/** `npm run doctor`: on the running sandbox, or on what the environment names. In production: `node
 *  dist/workers/doctor/index.js` with the environment of the payments worker. */
async function main(): Promise<number> {
  const args = process.argv.slice(2);
  if (process.env.DATABASE_URL) return runDoctor(process.env, args);
  const { databaseUrl, settings, lightning } = readSandboxFile();
  const { LIGHTNING_PAY_MACAROON_FILE: pays, ...others } = settings;
  const macaroons =
    lightning && pays ? ['--pay-macaroon', pays, '--invoice-macaroon', lightning.invoiceMacaroonFile] : [];
  return runDoctor({ ...others, DATABASE_URL: databaseFor(databaseUrl, 'payments') }, [...macaroons, ...args]);
}

main().then(
  (code) => process.exit(code),
  (error: Error) => {
    console.error(`npm run doctor: ${error.message}`);
    process.exit(1);
  },
);
