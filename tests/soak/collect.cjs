'use strict';
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

/** Preloaded into each thread of our processes while they are watched: once a minute it collects all that nothing
 *  reaches. V8 puts that off for up to half an hour where little is done, and what a process holds meanwhile looks like
 *  growth. */
setFlagsFromString('--expose-gc');
setInterval(runInNewContext('gc'), 60_000).unref();
