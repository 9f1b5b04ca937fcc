import { join } from 'node:path';
import { goBuild, goMinor, pinned } from './go-build.mjs';
import { oneAtATime } from './one-at-a-time.mjs';
import { cache, isProgram } from './places.mjs';
import { say, SetupError } from './say.mjs';

const server = pinned('go.temporal.io/server');
const ui = pinned('github.com/temporalio/ui-server/v2');
const serverFolder = join(cache, `temporal-server-${server}`);
const uiFolder = join(cache, `temporal-ui-${ui}`);

/** By the variable that names it. The server and the tool that makes its schema are of one version. */
const places = {
  TEMPORAL_SERVER_PATH: join(serverFolder, 'temporal-server'),
  TEMPORAL_SQL_TOOL_PATH: join(serverFolder, 'temporal-sql-tool'),
  TEMPORAL_UI_SERVER_PATH: join(uiFolder, 'temporal-ui-server'),
};

/** What Temporal on PostgreSQL is run with, as variables; built where it is not there. Whoever does not choose it does
 *  not pay for it. */
export const temporalOnPostgres = () => oneAtATime('temporal-on-postgres', find, make);

function find() {
  const found = Object.entries(places).map(([variable, place]) => [variable, process.env[variable] ?? place]);
  for (const [variable, path] of found)
    if (process.env[variable] && !isProgram(path))
      throw new SetupError(`${variable} names ${path}, which is no program`);
  if (!found.every(([, path]) => isProgram(path))) return undefined;
  say(`Temporal on PostgreSQL: ${found[0][1]}`);
  return Object.fromEntries(found);
}

async function make() {
  if (goMinor() < 25)
    throw new SetupError(
      'Temporal on PostgreSQL is built with Go 1.25 or newer (https://go.dev/dl), which is missing; or set ' +
        `${Object.keys(places).join(', ')} to programs of ${server} and ${ui}`,
    );
  await goBuild(`Temporal server ${server}`, serverFolder, {
    'temporal-server': 'go.temporal.io/server/cmd/server',
    'temporal-sql-tool': 'go.temporal.io/server/cmd/tools/sql',
  });
  await goBuild(`Temporal UI ${ui}`, uiFolder, {
    'temporal-ui-server': 'github.com/temporalio/ui-server/v2/cmd/server',
  });
  return find();
}
