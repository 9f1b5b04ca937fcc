/** What the database says of how the service does, for its metrics. Every statement is set-based and reads indexes or
 *  small tables; labels are names of this code (networks, kinds, currencies), never an id: their number is bounded. */

/** One value of a metric. Seconds, counts, ratios or amounts, as the metric's name says. */
export type Reading = Readonly<{ name: string; labels: Readonly<Record<string, string>>; value: number }>;
