/** What one source says one unit of `currency` costs in `fiat`; `value` is a decimal string, `takenAt` when the source
 *  took it. */
export type Tick = Readonly<{ source: string; currency: string; fiat: string; value: string; takenAt: Date }>;

/** Where prices come from. `read` throws when the source does not answer; single prices it does not have are left
 *  out. */
export interface RateSource {
  readonly name: string;
  read(): Promise<Tick[]>;
}
