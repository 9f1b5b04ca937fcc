'use strict';
/* The pool of first attempts in a process of its own, which its fail points may kill: node pool.cjs <database>. Says
   "ready" once it is started, and goes on until it is killed. */
const { join } = require('node:path');
const pino = require('pino');

const dist = join(__dirname, '../../dist');
const { ServerPlaces } = require(join(dist, 'activities/webhooks/server-places.js'));
const { createDataSource } = require(join(dist, 'db/data-source.js'));
const { armFailPoints } = require(join(dist, 'db/fail-point.js'));
const { parseConfig } = require(join(dist, 'domain/config.js'));
const { DeliveryPool } = require(join(dist, 'workers/deliveries/pool.js'));

async function main() {
  const config = parseConfig({
    DATABASE_URL: process.argv[2],
    ALLOW_INSECURE_CALLBACKS: 'true',
    SECRETS_KEY: 'a key of this test',
  });
  const db = createDataSource(config.DATABASE_URL, { connectTimeoutMs: 30_000 });
  await db.initialize();
  armFailPoints(db);
  new DeliveryPool(db, config, new ServerPlaces(), pino({ level: 'silent' })).start();
  process.stdout.write('ready\n');
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
