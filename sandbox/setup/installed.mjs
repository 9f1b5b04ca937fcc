import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from './say.mjs';

// Proof that what is installed is what the lock names. `npm ci` cannot be used: it refuses a lock that leaves out
// binaries of platforms that the registry did not serve when the lock was written, though they are optional and of
// other platforms.

const read = (path) => JSON.parse(readFileSync(path, 'utf8')).packages;
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** What differs between the lock of `folder` and the packages in its `node_modules`, in words; empty: nothing. A
 *  binary that the lock leaves out may be there for tools alone (`tools`), in the very version that a locked package
 *  names. Tests load it by its path.
 *  @public */
export function differences(folder, { tools = true } = {}) {
  const lock = read(join(folder, 'package-lock.json'));
  const installed = read(join(folder, 'node_modules', '.package-lock.json'));
  const optional = new Set(
    Object.values(lock).flatMap((one) => Object.entries(one.optionalDependencies ?? {}).map((pair) => pair.join('@'))),
  );
  const found = [];
  for (const [path, one] of Object.entries(installed)) {
    const locked = lock[path];
    if (!locked) {
      const isBinary = optional.has(`${nameOf(path)}@${one.version}`) && one.os !== undefined;
      if (!tools || !isBinary) found.push(`${path}@${one.version} is not in the lock`);
    } else if (one.version !== locked.version)
      found.push(`${path} is ${one.version}, and ${locked.version} in the lock`);
    else if (!one.inBundle && (!one.integrity || one.integrity !== locked.integrity))
      found.push(`${path}@${one.version} has another integrity than in the lock`);
  }
  for (const [path, one] of Object.entries(lock))
    if (path && !installed[path] && !one.optional && (tools || !(one.dev || one.devOptional)))
      found.push(`${path} is missing`);
  return found;
}

/** Throws where anything but the packages of the lock is installed. */
export function proveInstalled(folder, options) {
  const found = differences(folder, options);
  if (found.length)
    throw new SetupError(`The installed packages are not those of package-lock.json:\n  ${found.join('\n  ')}`);
}
