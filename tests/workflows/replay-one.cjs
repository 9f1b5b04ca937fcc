'use strict';
/* Replays one recorded history in a process of its own: node replay-one.cjs <bundle> <history.bin>. Ends with 1 and the
   reason where it does not replay. Apart from Jest, whose module registry gives the SDK two copies of its protobuf
   library. */
const { readFileSync } = require('node:fs');
const { basename } = require('node:path');
const { temporal } = require('@temporalio/proto');
const { DefaultLogger, Runtime, Worker } = require('@temporalio/worker');

const [codePath, file] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('ERROR') });
const name = basename(file, '.bin');
Worker.runReplayHistory(
  { workflowBundle: { codePath }, replayName: name },
  temporal.api.history.v1.History.decode(readFileSync(file)),
  name,
).then(
  () => process.exit(0),
  (error) => {
    console.error(error.message);
    process.exit(1);
  },
);
