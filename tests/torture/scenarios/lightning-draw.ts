import type { Random } from '../random';
import type { Stage } from '../stage';

/** Draws one thing that is done by Lightning; `says`: what of it, after its kind. */
export type Draw = (random: Random, name: string) => Readonly<{ says: string; live: (stage: Stage) => Promise<void> }>;
