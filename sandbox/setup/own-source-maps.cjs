'use strict';
const { setSourceMapsSupport } = require('node:module');

// Stack traces name our own lines. To read the maps of all packages at a start takes longer than to compile them.
if (setSourceMapsSupport) setSourceMapsSupport(true, { nodeModules: false, generatedCode: false });
else process.setSourceMapsEnabled(true); // before Node 22.14
