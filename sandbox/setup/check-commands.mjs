/** The checks that need no server, as arguments of Node; files follow where a check takes some. */

export const prettier = ['node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn'];
export const eslint = ['node_modules/eslint/bin/eslint.js', '--max-warnings', '0'];
export const types = ['node_modules/typescript7/bin/tsc', '-p', 'tsconfig.json', '--noEmit'];
/** The dashboard is for browsers: it is checked against their types, and against those that the build makes of the
 *  API. */
export const dashboard = ['node_modules/typescript7/bin/tsc', '-p', 'web/dashboard'];
/** What uses the built package of sdk/. */
export const sdk = ['node_modules/typescript7/bin/tsc', '-p', 'tests/sdk'];
export const samples = ['node_modules/typescript7/bin/tsc', '-p', 'docs/samples'];
/** Files, exports and dependencies that nothing uses; of the build too. */
export const unused = ['node_modules/knip/bin/knip.js'];
