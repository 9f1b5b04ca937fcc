'use strict';
/* Runs mass payouts on two networks with activities that only answer, while one of the networks is held up in several
   ways, and prints what was asked on the other meanwhile, as JSON; then replays each history. With RECORD it keeps one
   of them for tests/workflows/replay.test.ts. Apart from Jest, whose module registry gives the SDK two copies of its
   protobuf library. */
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { ApplicationFailure } = require('@temporalio/common');
const { TestWorkflowEnvironment } = require('@temporalio/testing');
const { temporal } = require('@temporalio/proto');
const { DefaultLogger, Runtime, Worker } = require('@temporalio/worker');

const dist = join(__dirname, '../../dist');
const { temporalBinary } = require(join(dist, 'sandbox/binaries.js'));
const { registerSearchAttributes } = require(join(dist, 'workers/search-attributes.js'));
const { startOptions } = require(join(dist, 'workflows/start-options.js'));
const { taskQueues } = require(join(dist, 'workflows/messages.js'));

const workflowBundle = { codePath: join(dist, 'workflow-bundle.js') };

/* What is asked, as `signPayouts away ethereum`. */
const asked = [];
const times = (what) => asked.filter((one) => one === what).length;
const healed = new Set();

const step = (network) => ({ sign: true, networks: [network], lookAgainInMs: 1, summary: `on ${network}` });
/* A look that takes many events: some twenty of them fill a history. */
const large = (network) => ({ ...step(network), sign: false, networks: Array(20).fill(network) });
/* So many steps on each network, and then the end. What holds Bitcoin up until it is healed: `away`: nobody takes what
   is to be sent; `silent`: a step is asked again and again; `refused`: it fails for good, once. */
const steps = { away: 3, silent: 24, refused: 2 };
const activities = {
  payoutNetworks: async () => ['bitcoin', 'ethereum'],
  async payoutStep(id, network) {
    asked.push(`payoutStep ${id} ${network}`);
    const n = times(`payoutStep ${id} ${network}`);
    if (network === 'ethereum') return n > steps[id] ? null : id === 'silent' ? large(network) : step(network);
    if (id === 'silent' && !healed.has(id)) throw new Error('no answer in time');
    if (id === 'refused' && n === 1) throw ApplicationFailure.nonRetryable('differs', 'INTENT_MISMATCH');
    return id === 'away' && n === 1 ? step(network) : null;
  },
  signPayouts: async (id, network) => void asked.push(`signPayouts ${id} ${network}`),
  sendPayouts: async () => ({ stuck: [], isLeft: false }),
};

const until = async (what, is) => {
  for (let n = 0; n < 1500; n += 1) {
    if (await is()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`Not in time: ${what}. Asked: ${JSON.stringify(asked.slice(-20))}`);
};

async function main() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const env = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'existing-path', path: temporalBinary() } },
    client: { identity: 'client@test' },
  });
  await registerSearchAttributes(env.connection, env.namespace ?? 'default');
  const workerOf = (taskQueue) =>
    Worker.create({
      connection: env.nativeConnection,
      taskQueue,
      identity: 'worker@test',
      activities,
      ...(taskQueue === taskQueues.payments ? { workflowBundle } : {}),
    });
  const queues = [taskQueues.payments, taskQueues.signer, taskQueues.chain('ethereum')];
  const workers = await Promise.all(queues.map(workerOf));
  const running = workers.map((worker) => worker.run());
  const { workflow } = env.client;
  const start = (id) =>
    workflow.start('payoutBatch', { ...startOptions('payoutBatch'), workflowId: `payout-batch/${id}`, args: [id] });
  const statusOf = async (handle) => (await handle.describe()).status.name;
  const told = {};

  for (const id of ['away', 'silent', 'refused']) {
    const handle = await start(id);
    const ended = `payoutStep ${id} ethereum`;
    await until(`${id}: all steps on Ethereum`, () => times(ended) > steps[id]);
    await until(`${id}: it goes on`, async () => (await statusOf(workflow.getHandle(handle.workflowId))) === 'RUNNING');
    told[id] = {
      signed: times(`signPayouts ${id} ethereum`),
      before: await statusOf(workflow.getHandle(handle.workflowId, handle.firstExecutionRunId)),
    };
    // What had ended is looked at again where something has changed, and what rests does not wait for its time.
    const looks = times(ended);
    await handle.signal('updated');
    await until(`${id}: Ethereum once more`, () => times(ended) > looks);
    healed.add(id);
    if (id === 'away') {
      workers.push(await workerOf(taskQueues.chain('bitcoin')));
      running.push(workers.at(-1).run());
    }
    told[id].result = await handle.result();
    const history = await handle.fetchHistory();
    await Worker.runReplayHistory({ workflowBundle }, history, handle.workflowId);
    if (process.env.RECORD && id === 'away') {
      const binary = temporal.api.history.v1.History.encode(history).finish();
      writeFileSync(join(__dirname, '../histories', 'payoutBatch-networks.bin'), binary);
    }
  }
  for (const worker of workers) worker.shutdown();
  await Promise.all(running);
  console.log(JSON.stringify(told));
  await env.teardown();
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
