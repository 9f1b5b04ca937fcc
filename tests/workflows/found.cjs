'use strict';
/* Runs workflows with activities that only answer, and prints by which transactions each is found, how many events its
   history has, and what a search finds, as JSON; then replays each. With RECORD it keeps the histories of those that
   are found, for tests/workflows/replay.test.ts. Apart from Jest, whose module registry gives the SDK two copies of its
   protobuf library. */
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { TestWorkflowEnvironment } = require('@temporalio/testing');
const { temporal } = require('@temporalio/proto');
const { DefaultLogger, Runtime, Worker } = require('@temporalio/worker');

const dist = join(__dirname, '../../dist');
const { temporalBinary } = require(join(dist, 'sandbox/binaries.js'));
const { registerSearchAttributes } = require(join(dist, 'workers/search-attributes.js'));
const { startOptions } = require(join(dist, 'workflows/start-options.js'));
const { taskQueues } = require(join(dist, 'workflows/messages.js'));

const workflowBundle = { codePath: join(dist, 'workflow-bundle.js') };
const hash = (n) => `0x${String(n).padStart(64, '0')}`;
const hashes = (from, count) => Array.from({ length: count }, (_, n) => hash(from + n));

/* What the activities of each workflow answer, one after the other; the last one for ever. Of two that differ in
   nothing but hashes, the one without them is named `…-without`. */
const step = (summary) => ({ sign: false, networks: ['ethereum'], lookAgainInMs: 1, summary });
const intent = (id, summary) => ({ id, network: 'ethereum', summary });
const answers = {
  advancePayment: {
    paid: [
      { status: 'CONFIRMING', next: 'advance', txIds: [hash(1)] },
      { status: 'CONFIRMED', next: 'advance', txIds: [hash(2)] },
      { status: 'SETTLED', next: 'end', txIds: [hash(2), hash(3)] },
    ],
    'paid-without': [
      { status: 'CONFIRMING', next: 'advance' },
      { status: 'CONFIRMED', next: 'advance' },
      { status: 'SETTLED', next: 'end' },
    ],
  },
  nextIntent: {
    sent: [intent('1', 'Gas'), intent('2', 'Sweep'), null],
    'sent-without': [intent('3', 'Gas'), intent('4', 'Sweep'), null],
    dropped: [intent('5', 'Sweep'), null],
  },
  signOnce: Object.fromEntries([1, 2, 3, 4, 5].map((id) => [id, [{ state: id === 5 ? 'dropped' : 'stored' }]])),
  followIntent: {
    1: [{ state: 'final', txId: hash(11) }],
    2: [{ state: 'failed', txId: hash(12) }],
    3: [{ state: 'final' }],
    4: [{ state: 'failed' }],
  },
  payoutNetworks: { many: [['ethereum']], 'many-without': [['ethereum']] },
  payoutStep: {
    many: [step('first'), step('second'), null],
    'many-without': [step('first'), step('second'), null],
  },
  sendPayouts: {
    many: [
      { stuck: [], isLeft: false, txIds: hashes(100, 3) },
      { stuck: [], isLeft: false, txIds: hashes(100, 40) },
    ],
    'many-without': [{ stuck: [], isLeft: false }],
  },
};
const activities = Object.fromEntries(
  Object.entries(answers).map(([name, byId]) => [
    name,
    async (id) => (byId[id].length > 1 ? byId[id].shift() : byId[id][0]),
  ]),
);

async function main() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const executable = { type: 'existing-path', path: temporalBinary() };
  const env = await TestWorkflowEnvironment.createLocal({
    server: { executable },
    client: { identity: 'client@test' },
  });
  const namespace = env.namespace ?? 'default';
  await registerSearchAttributes(env.connection, namespace);
  await registerSearchAttributes(env.connection, namespace);
  const queues = [taskQueues.payments, taskQueues.signer, taskQueues.chain('ethereum')];
  const workers = await Promise.all(
    queues.map((taskQueue) =>
      Worker.create({
        connection: env.nativeConnection,
        taskQueue,
        identity: 'worker@test',
        activities,
        ...(taskQueue === taskQueues.payments ? { workflowBundle } : {}),
      }),
    ),
  );
  const running = workers.map((worker) => worker.run());
  const { workflow } = env.client;
  const told = {};
  for (const [type, id, ...args] of [
    ['payment', 'paid', 'WAITING'],
    ['payment', 'paid-without', 'WAITING'],
    ['sweep', 'sent'],
    ['sweep', 'sent-without'],
    ['sweep', 'dropped'],
    ['payoutBatch', 'many'],
    ['payoutBatch', 'many-without'],
  ]) {
    const workflowId = `${type}/${id}`;
    const options = { ...startOptions(type), workflowId, args: [id, ...args], workflowRunTimeout: '1 minute' };
    await workflow.execute(type, options);
    const handle = workflow.getHandle(workflowId);
    const history = await handle.fetchHistory();
    const { searchAttributes } = await handle.describe();
    const ofTasks = ({ workflowTaskScheduledEventAttributes: a, workflowTaskStartedEventAttributes: b, ...c }) =>
      a || b || c.workflowTaskCompletedEventAttributes;
    const events = history.events.filter((one) => !ofTasks(one)).length;
    told[workflowId] = { events, txIds: searchAttributes.TxId ?? [] };
    await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
    if (process.env.RECORD && searchAttributes.TxId) {
      const binary = temporal.api.history.v1.History.encode(history).finish();
      writeFileSync(join(__dirname, '../histories', `${type}-found.bin`), binary);
    }
  }
  const find = async (txId) => {
    const found = [];
    for await (const one of workflow.list({ query: `TxId = '${txId}'` })) found.push(one.workflowId);
    return found;
  };
  /* What is written last is seen by searches a little later. */
  const soon = async (txId) => {
    for (let n = 0; n < 100; n += 1) {
      const found = await find(txId);
      if (found.length) return found;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return [];
  };
  const found = {};
  for (const n of [1, 3, 11, 12, 100]) found[n] = await soon(hash(n));
  found.strange = await find(hash(999));
  for (const worker of workers) worker.shutdown();
  await Promise.all(running);
  console.log(JSON.stringify({ told, found }));
  await env.teardown();
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
