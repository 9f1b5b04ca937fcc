'use strict';
/* node --require loaded.cjs <file>: writes the packages of OpenTelemetry that a process loads to the file that LOADED
   names, a line each. */
const { appendFileSync } = require('node:fs');
const { registerHooks } = require('node:module');

registerHooks({
  load(url, context, next) {
    const found = /node_modules\/(@opentelemetry\/[\w-]+)\//.exec(url);
    if (found) appendFileSync(process.env.LOADED, `${found[1]}\n`);
    return next(url, context);
  },
});
