import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from './places.mjs';

/** How long each step of the set-up took last time on this machine, in ms, by its label. It is told before the step
 *  begins, and nothing else depends on it. */
const file = join(cache, 'durations.json');

function all() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return {};
    throw error;
  }
}

/** Undefined for a step that was never done here. */
export const lastTime = (label) => all()[label];

export function noteTime(label, ms) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify({ ...all(), [label]: ms }));
  renameSync(`${file}.${process.pid}`, file);
}
