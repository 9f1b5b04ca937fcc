'use strict';
/* Runs workflows that were asked for in traces, with activities that do nothing, and prints the spans and the traces of
   their activities as JSON; then replays a run. Apart from Jest, whose module registry gives the SDK two copies of its
   protobuf library. */
const { createServer } = require('node:http');
const { join } = require('node:path');
const { TestWorkflowEnvironment } = require('@temporalio/testing');
const { WithStartWorkflowOperation } = require('@temporalio/client');
const { DefaultLogger, Runtime, Worker } = require('@temporalio/worker');

const dist = join(__dirname, '../../dist');
const { parseConfig } = require(join(dist, 'domain/config.js'));
const { inSpan, traceparentNow } = require(join(dist, 'domain/tracing.js'));
const { temporalBinary } = require(join(dist, 'sandbox/binaries.js'));
const { traceInterceptor } = require(join(dist, 'workers/tracing/client.js'));
const { inTrace, traceSinks } = require(join(dist, 'workers/tracing/in-trace.js'));
const { startTracing } = require(join(dist, 'workers/tracing/start.js'));
const { refreshQuoteUpdate, taskQueues } = require(join(dist, 'workflows/messages.js'));

const traceOf = (digit) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
const taskQueue = taskQueues.payments;
const workflowBundle = { codePath: join(dist, 'workflow-bundle.js') };

async function main() {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const bodies = [];
  const collector = createServer((request, response) => {
    let text = '';
    request
      .on('data', (chunk) => (text += chunk))
      .on('end', () => {
        bodies.push(JSON.parse(text));
        response.setHeader('content-type', 'application/json').end('{}');
      });
  });
  await new Promise((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.address().port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  };
  Object.assign(process.env, settings);
  const tracing = await startTracing(parseConfig(settings), 'test');
  const executable = { type: 'existing-path', path: temporalBinary() };
  const env = await TestWorkflowEnvironment.createLocal({
    server: { executable },
    client: { interceptors: { workflow: [traceInterceptor] } },
  });
  const { workflow } = env.client;

  const told = {};
  const note = (name, answer) => () => {
    told[name] = traceparentNow();
    return Promise.resolve(answer);
  };
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    workflowBundle,
    activities: {
      sendMail: note('sendMail'),
      advancePayment: note('advancePayment', { status: 'WAITING', next: 'wait', lookAgainInMs: 600_000 }),
      refreshQuote: note('refreshQuote', {}),
    },
    interceptors: { activity: [inTrace] },
    sinks: traceSinks,
  });
  const runId = await worker.runUntil(async () => {
    const mail = await inSpan({ name: 'ask', kind: 'internal', parent: traceOf('a') }, () =>
      workflow.start('mail', { taskQueue, workflowId: 'mail/1', args: ['1'] }),
    );
    await mail.result();
    await workflow.execute('mail', { taskQueue, workflowId: 'mail/2', args: ['2'] });
    told.untraced = told.sendMail;
    await inSpan({ name: 'ask', kind: 'internal', parent: traceOf('b') }, () =>
      workflow.start('payment', { taskQueue, workflowId: 'payment/1', args: ['1', 'WAITING'] }),
    );
    await inSpan({ name: 'ask', kind: 'internal', parent: traceOf('c') }, () =>
      workflow.executeUpdateWithStart(refreshQuoteUpdate, {
        args: [],
        startWorkflowOperation: new WithStartWorkflowOperation('payment', {
          taskQueue,
          workflowId: 'payment/1',
          args: ['1', 'WAITING'],
          workflowIdConflictPolicy: 'USE_EXISTING',
        }),
      }),
    );
    await workflow.getHandle('payment/1').terminate('the test is over');
    return mail.firstExecutionRunId;
  });
  for (const workflowId of ['mail/1', 'mail/2', 'payment/1'])
    await Worker.runReplayHistory(
      { workflowBundle, sinks: traceSinks },
      await workflow.getHandle(workflowId).fetchHistory(),
    );
  await tracing.stop();
  const spans = bodies.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
  );
  console.log(
    JSON.stringify({
      runId,
      told,
      spans: spans.map(({ name, traceId, spanId, parentSpanId }) => ({ name, traceId, spanId, parentSpanId })),
    }),
  );
  collector.closeAllConnections();
  await env.teardown();
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
