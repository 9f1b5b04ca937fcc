'use strict';
/* Somebody who reaches Temporal's frontend: node temporal-thief.cjs <address> <network> <ids of withdrawals …>.
   Takes tasks of the signer, of the chain worker and of the payments worker, and answers them as it likes; starts,
   signals and ends workflows; asks the signer for what nobody has planned. Prints a line of JSON for each answer it
   gives, and goes on until its input ends. Apart from Jest, whose module registry gives the SDK two copies of its
   protobuf library. */
const { join } = require('node:path');
const { Client, Connection } = require('@temporalio/client');
const { DefaultLogger, NativeConnection, Runtime, Worker } = require('@temporalio/worker');

const dist = join(__dirname, '../../dist');
const { taskQueues } = require(join(dist, 'workflows/messages.js'));

const [address, network, ...withdrawals] = process.argv.slice(2);

const told = (what, answer) => {
  console.log(JSON.stringify({ what, answer }));
  return answer;
};
const answering = (answers) =>
  Object.fromEntries(
    Object.entries(answers).map(([what, answer]) => [what, () => Promise.resolve(told(what, answer))]),
  );

const sent = (state) => ({ state, attempts: 1, lookAgainInMs: 100 });
const forged = {
  [taskQueues.signer]: answering({ signOnce: { state: 'stored' }, signBump: { state: 'stored' } }),
  [taskQueues.chain(network)]: answering({ followIntent: sent('final'), sendIntent: sent('final') }),
  [taskQueues.payments]: answering({ nextWithdrawalIntent: null }),
};

async function main() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const connection = await NativeConnection.connect({ address });
  const workers = await Promise.all(
    Object.entries(forged).map(([taskQueue, activities]) =>
      Worker.create({ connection, taskQueue, activities, shutdownForceTime: '1s' }),
    ),
  );
  const working = Promise.all(workers.map((worker) => worker.run()));
  const client = new Client({ connection: await Connection.connect({ address }) });
  let isOver = false;
  process.stdin.resume().once('end', () => {
    isOver = true;
  });
  console.log(JSON.stringify({ what: 'ready' }));
  while (!isOver) {
    for (const id of withdrawals) {
      const handle = client.workflow.getHandle(`withdrawal/${id}`);
      // One that is not there, or not any more, is as good as refused.
      await handle.signal('updated').catch(() => undefined);
      await handle.terminate('stolen').catch(() => undefined);
      const again = { taskQueue: taskQueues.payments, workflowId: `thief/${id}/${Date.now()}`, args: [id] };
      await client.workflow.start('withdrawal', again);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  for (const worker of workers) worker.shutdown();
  await working;
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
