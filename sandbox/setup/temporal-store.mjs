import { SetupError } from './say.mjs';

const option = '--temporal';
const stores = ['sqlite', 'postgres'];

/** Where the Temporal of a command keeps its workflows: `sqlite` is its development server, `postgres` the server of a
 *  production on the PostgreSQL of the sandbox. By the option `--temporal`, else by SANDBOX_TEMPORAL, else `sqlite`.
 *  `rest`: the arguments without the option. Throws SetupError for anything else. */
export function temporalStore(args, env) {
  let store = env.SANDBOX_TEMPORAL || 'sqlite';
  const rest = [];
  for (let n = 0; n < args.length; n += 1) {
    if (args[n] === option) store = args[(n += 1)] ?? '';
    else if (args[n].startsWith(`${option}=`)) store = args[n].slice(option.length + 1);
    else rest.push(args[n]);
  }
  if (!stores.includes(store)) throw new SetupError(`${option} is ${stores.join(' or ')}, not '${store}'`);
  return { store, rest };
}
