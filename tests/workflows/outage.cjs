'use strict';
/* Delivers one event while its receiver is down for as long as it is told, in simulated time:
   node outage.cjs <database> <hours>. Prints what became of it as JSON. Apart from Jest, whose module registry gives
   the SDK two copies of its protobuf library. */
const { createServer } = require('node:http');
const { join } = require('node:path');
const pino = require('pino');
const { TestWorkflowEnvironment } = require('@temporalio/testing');
const { DefaultLogger, Runtime, Worker } = require('@temporalio/worker');

const dist = join(__dirname, '../../dist');
const { webhookActivities } = require(join(dist, 'activities/webhooks/webhooks.js'));
const { createDataSource } = require(join(dist, 'db/data-source.js'));
const { deliveryId, emitEvent } = require(join(dist, 'db/webhooks/events.js'));
const { seal } = require(join(dist, 'db/sealing.js'));
const { parseConfig } = require(join(dist, 'domain/config.js'));
const { newId } = require(join(dist, 'domain/ids.js'));
const { taskQueues } = require(join(dist, 'workflows/messages.js'));

const [databaseUrl, hours] = process.argv.slice(2);
const config = parseConfig({ ALLOW_INSECURE_CALLBACKS: 'true', SECRETS_KEY: 'a key of this test' });

/* The SDK gives the server five seconds to listen. A busy machine may need more, so it is asked again. */
async function startTestServer(tries = 8) {
  const executable = { type: 'existing-path', path: process.env.TEST_SERVER_PATH };
  try {
    return await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  } catch (error) {
    if (tries === 1 || !String(error).includes('did not start within')) throw error;
    return startTestServer(tries - 1);
  }
}

async function main() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const env = await startTestServer();
  const db = createDataSource(databaseUrl);
  await db.initialize();
  const began = await env.currentTimeMs();
  const hoursNow = async () => ((await env.currentTimeMs()) - began) / 3_600_000;

  const seen = [];
  const server = createServer((request, response) => {
    request.resume().on('end', async () => {
      const at = await hoursNow();
      seen.push({ at, id: request.headers['webhook-id'] });
      if (at >= Number(hours)) return response.end('ok');
      // Down in every way there is, one after the other.
      if (seen.length % 3 === 0) return request.socket.destroy();
      if (seen.length % 3 === 1) return response.writeHead(500).end();
      return response.writeHead(429, { 'retry-after': '3600' }).end();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

  const merchantId = newId();
  const secret = `whsec_${Buffer.from('twenty-four bytes of key').toString('base64')}`;
  await db.query(`INSERT INTO merchant (id, name, ipn_secret_sealed, publishable_key) VALUES ($1, 'Shop', $2, 'pk')`, [
    merchantId,
    seal(config.SECRETS_KEY, secret),
  ]);
  await db.query('INSERT INTO merchant_counter (merchant_id) VALUES ($1)', [merchantId]);
  const eventId = await db.transaction((tx) =>
    emitEvent(tx, {
      merchantId,
      type: 'payment.settled',
      entityId: newId(),
      stateVersion: 1,
      data: '{"id":1}',
      previous: {},
      ipnUrl: `http://127.0.0.1:${server.address().port}/ipn`,
      openDelta: 0,
    }),
  );
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue: taskQueues.webhooks,
    workflowBundle: { codePath: join(dist, 'workflow-bundle.js') },
    activities: webhookActivities({ db, config, log: pino({ level: 'silent' }) }),
  });
  const id = deliveryId(eventId, 'ipn');
  const ended = await worker.runUntil(
    env.client.workflow.execute('webhook', { taskQueue: taskQueues.webhooks, workflowId: `webhook/${id}`, args: [id] }),
  );
  const [row] = await db.query('SELECT status, attempts FROM delivery WHERE id = $1', [id]);
  console.log(JSON.stringify({ ended, ...row, eventId, seen }));
  server.close();
  await db.destroy();
  await env.teardown();
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
