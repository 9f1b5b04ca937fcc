/** Every refusal the service knows: its status, its envelope, whether trying again can help, and its words.
 *  as: the code that is told, where several rows share one.
 *  shape: 'A' and 'B' are fixed by the specification; 'route' takes the envelope of the route. */
export type Row = {
  status: number;
  final: boolean;
  shape: 'A' | 'B' | 'flat' | 'route';
  message: string;
  as?: string;
};
