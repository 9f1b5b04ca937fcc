'use strict';
/** Loaded before a process of ours by NODE_OPTIONS: its clock is CLOCK_SHIFT_MS off, as on a machine whose clock is
 *  wrong. */
const shift = Number(process.env.CLOCK_SHIFT_MS);
const Real = Date;
globalThis.Date = class Date extends Real {
  constructor(...args) {
    if (args.length) super(...args);
    else super(Real.now() + shift);
  }
  static now() {
    return Real.now() + shift;
  }
};
